//! A step's note: what a step that has no outcome yet knows about its effect elsewhere.

use serde_json::Value;

use crate::is_json_too_deep;

/// Room for the address and the ids of a task elsewhere. Results belong into the step's outcome.
///
/// Limit (Runtime): size of a step's note as JSON.
pub const STEP_NOTE_BYTES_MAX: usize = 16 * 1024;

/// More than a run has effects elsewhere at once. Each becomes an errand when the run ends.
///
/// Limit (Runtime): steps of one run that have a note and no outcome.
pub const STEP_NOTES_MAX: usize = 256;

/// Why a note was not recorded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StepNoteRefusal {
    #[error("the note has {bytes} bytes; the limit is {max}")]
    TooLarge { bytes: usize, max: usize },
    #[error("the note is nested too deeply")]
    TooDeep,
    #[error("{max} steps of this run have a note and no outcome; no more can be recorded")]
    TooMany { max: usize },
    #[error("the step is over, or has not begun")]
    StepNotRunning,
    #[error("there is no run to record it in")]
    NoRun,
}

/// Checks what does not depend on the run.
pub fn check_step_note(note: &Value) -> Result<(), StepNoteRefusal> {
    if is_json_too_deep(note) {
        return Err(StepNoteRefusal::TooDeep);
    }
    let (bytes, max) = (note.to_string().len(), STEP_NOTE_BYTES_MAX);
    if bytes > max { Err(StepNoteRefusal::TooLarge { bytes, max }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_note_is_bounded_in_size_and_depth() {
        assert_eq!(check_step_note(&json!({"task": "t-1"})), Ok(()));
        assert_eq!(check_step_note(&Value::Null), Ok(()));
        let text = |bytes: usize| Value::from("x".repeat(bytes));
        assert_eq!(check_step_note(&text(STEP_NOTE_BYTES_MAX - 2)), Ok(()));
        let refused = check_step_note(&text(STEP_NOTE_BYTES_MAX - 1)).unwrap_err();
        assert_eq!(refused, StepNoteRefusal::TooLarge { bytes: 16_385, max: 16_384 });
        let deep = (0..1_000).fold(Value::Null, |inner, _| json!([inner]));
        assert_eq!(check_step_note(&deep), Err(StepNoteRefusal::TooDeep));
    }
}
