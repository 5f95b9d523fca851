//! How much an agent may bring. Everything it brings is recorded, and a node holds its whole context.

use std::io;

use serde::Serialize;
use serde_json::Value;
use trackway_domain::{Inputs, JSON_DEPTH_MAX, Object, is_too_deep};

use super::GuideError;

/// Facts, not documents: every node holds all of them again, so that a run of a thousand steps with a
/// full context is still a quarter of a gigabyte.
/// Limit (Sessions): context of an answer.
pub(super) const CONTEXT_BYTES_MAX: usize = 256 * 1_024;

/// The result of one step: a long report with room to spare.
/// Limit (Sessions): output of one step.
pub(super) const OUTPUT_BYTES_MAX: usize = 1_024 * 1_024;

/// Notes for people: more than anybody reads at once.
/// Limit (Sessions): notes of one step.
pub(super) const NOTES_BYTES_MAX: usize = 256 * 1_024;

/// What a call brings, and what an answer makes of the context: values can be kept under new names, so
/// it may grow where the call itself is small.
pub(super) fn context(context: &Object) -> Result<(), GuideError> {
    within("context", context, CONTEXT_BYTES_MAX)?;
    not_too_deep("context", context.values())
}

pub(super) fn inputs(inputs: &Inputs) -> Result<(), GuideError> {
    context(&inputs.context)?;
    if let Some(output) = &inputs.output {
        within("output", output, OUTPUT_BYTES_MAX)?;
        not_too_deep("output", [output])?;
    }
    inputs.notes.as_deref().map_or(Ok(()), notes)
}

pub(super) fn notes(notes: &str) -> Result<(), GuideError> {
    match notes.len() <= NOTES_BYTES_MAX {
        true => Ok(()),
        false => Err(GuideError::TooLarge { what: "notesMarkdown", max: NOTES_BYTES_MAX }),
    }
}

fn within(what: &'static str, value: &impl Serialize, max: usize) -> Result<(), GuideError> {
    // It fails only where the room does not suffice: JSON values can always be written.
    match serde_json::to_writer(Room(max), value) {
        Ok(()) => Ok(()),
        Err(_) => Err(GuideError::TooLarge { what, max }),
    }
}

fn not_too_deep<'a>(
    what: &'static str,
    values: impl IntoIterator<Item = &'a Value>,
) -> Result<(), GuideError> {
    match values.into_iter().any(is_too_deep) {
        false => Ok(()),
        true => Err(GuideError::TooDeep { what, levels: JSON_DEPTH_MAX }),
    }
}

/// Counts what is written and keeps nothing of it.
struct Room(usize);

impl io::Write for Room {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
