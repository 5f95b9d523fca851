//! A value exactly at a limit is accepted, and one byte or level more is not.

use serde_json::json;

use super::*;

fn object(value: &Value) -> Object {
    value.as_object().cloned().unwrap_or_default()
}

/// Proves T8: a call that is too large gets an error that says so.
#[test]
fn sizes_are_bounded_to_the_byte() {
    let frame = r#"{"a":""}"#.len();
    let filled = |bytes: usize| object(&json!({ "a": "x".repeat(bytes - frame) }));
    assert_eq!(check_context_size(&filled(CONTEXT_BYTES_MAX)), Ok(()));
    let too_large = |what, max| Err(GuidedRunError::TooLarge { what, max });
    assert_eq!(check_context_size(&filled(CONTEXT_BYTES_MAX + 1)), too_large("context", CONTEXT_BYTES_MAX));
    let output = |bytes: usize| AttemptInputs {
        output: Some(Value::String("x".repeat(bytes - 2))),
        ..AttemptInputs::default()
    };
    assert_eq!(check_attempt_input_sizes(&output(OUTPUT_BYTES_MAX)), Ok(()));
    assert_eq!(
        check_attempt_input_sizes(&output(OUTPUT_BYTES_MAX + 1)),
        too_large("output", OUTPUT_BYTES_MAX)
    );
    let noted = |bytes: usize| AttemptInputs { notes: Some("x".repeat(bytes)), ..AttemptInputs::default() };
    assert_eq!(check_attempt_input_sizes(&noted(NOTES_BYTES_MAX)), Ok(()));
    assert_eq!(
        check_attempt_input_sizes(&noted(NOTES_BYTES_MAX + 1)),
        too_large("notesMarkdown", NOTES_BYTES_MAX)
    );
}

/// Proves T8.
#[test]
fn nesting_is_bounded() {
    let nested = |levels: usize| (1..levels).fold(json!(1), |inner, _| json!([inner]));
    let too_deep = |what| Err(GuidedRunError::TooDeep { what, levels: JSON_DEPTH_MAX });
    assert_eq!(check_context_size(&object(&json!({ "a": nested(JSON_DEPTH_MAX) }))), Ok(()));
    assert_eq!(check_context_size(&object(&json!({ "a": nested(JSON_DEPTH_MAX + 1) }))), too_deep("context"));
    let deep = AttemptInputs { output: Some(nested(JSON_DEPTH_MAX + 1)), ..AttemptInputs::default() };
    assert_eq!(check_attempt_input_sizes(&deep), too_deep("output"));
}
