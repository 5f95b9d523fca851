//! The question shows the call; only a plain yes is a yes.

use super::*;

#[test]
fn the_question_shows_tool_and_arguments() {
    let long = "ü".repeat(2_000);
    for (value, sentence) in [
        (json!({"path": "a"}), r#"May I call files__write with {"path":"a"}?"#.to_owned()),
        (
            json!(long),
            format!(
                "May I call files__write with \"{} … (the rest is in the attached data)?",
                "ü".repeat(1_023)
            ),
        ),
    ] {
        let parts = call_approval_prompt(&ToolUse::new("c", "files__write", value.clone()));
        assert_eq!(parts[0].as_text(), Some(&*sentence));
        let data = json!({"tool": "files__write", "arguments": value, "toolCallId": "c"});
        assert_eq!(parts[1].as_data(), Some(&data));
    }
}

#[test]
fn only_a_plain_yes_is_a_yes() {
    assert!(is_approved(&json!({"approved": true})));
    for answer in [json!({"approved": false}), json!({"approved": "true"}), json!(true), json!({})] {
        assert!(!is_approved(&answer), "{answer}");
    }
    assert_eq!(approval_answer_schema()["required"], json!(["approved"]));
}
