//! How much an agent may send. Everything it sends is recorded, and a node holds its whole context.

use std::io;

use serde::Serialize;
use serde_json::Value;
use trackway_domain::{AttemptInputs, JSON_DEPTH_MAX, Object, is_json_too_deep};

use super::GuidedRunError;

/// Limit (MCP): bytes of the context of a run. Facts, not documents: the agent reads all of them.
pub(super) const CONTEXT_BYTES_MAX: usize = 256 * 1_024;

/// Limit (MCP): bytes of the output of one step: a long report with room to spare.
pub(super) const OUTPUT_BYTES_MAX: usize = 1_024 * 1_024;

/// Limit (MCP): bytes of one note or checkpoint. Notes for people: more than a person reads at once.
pub(super) const NOTES_BYTES_MAX: usize = 256 * 1_024;

/// The context of a call, or after an answer: values can be kept under new names, so it may grow even if the
/// call itself is small.
pub(super) fn check_context_size(context: &Object) -> Result<(), GuidedRunError> {
    check_json_size("context", context, CONTEXT_BYTES_MAX)?;
    check_json_depth("context", context.values())
}

pub(super) fn check_attempt_input_sizes(inputs: &AttemptInputs) -> Result<(), GuidedRunError> {
    check_context_size(&inputs.context)?;
    if let Some(output) = &inputs.output {
        check_json_size("output", output, OUTPUT_BYTES_MAX)?;
        check_json_depth("output", [output])?;
    }
    inputs.notes.as_deref().map_or(Ok(()), check_notes_size)
}

pub(super) fn check_notes_size(notes: &str) -> Result<(), GuidedRunError> {
    match notes.len() <= NOTES_BYTES_MAX {
        true => Ok(()),
        false => Err(GuidedRunError::TooLarge { what: "notesMarkdown", max: NOTES_BYTES_MAX }),
    }
}

fn check_json_size(what: &'static str, value: &impl Serialize, max: usize) -> Result<(), GuidedRunError> {
    // It fails only if the limit is exceeded: JSON values can always be written.
    match serde_json::to_writer(ByteBudgetWriter(max), value) {
        Ok(()) => Ok(()),
        Err(_) => Err(GuidedRunError::TooLarge { what, max }),
    }
}

fn check_json_depth<'a>(
    what: &'static str,
    values: impl IntoIterator<Item = &'a Value>,
) -> Result<(), GuidedRunError> {
    match values.into_iter().any(is_json_too_deep) {
        false => Ok(()),
        true => Err(GuidedRunError::TooDeep { what, levels: JSON_DEPTH_MAX }),
    }
}

/// Counts the written bytes and keeps none of them.
struct ByteBudgetWriter(usize);

impl io::Write for ByteBudgetWriter {
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
