//! What a message may mean.

use serde_json::json;

use super::*;

fn first(schema: &Value, text: &str) -> Vec<Value> {
    candidates(schema, &[Part::text(text)])
}

#[test]
fn a_yes_answers_the_one_question_that_takes_a_yes() {
    let schema = json!({
        "type": "object",
        "properties": { "approved": { "type": "boolean" } },
        "required": ["approved"],
    });
    for (text, approved) in [("yes", true), ("OK!", true), ("no.", false), ("Denied", false)] {
        assert!(first(&schema, text).contains(&json!({ "approved": approved })), "{text}");
    }
    let unclear = first(&schema, "what is this about?");
    assert!(!unclear.iter().any(Value::is_object), "{unclear:?}");
}

#[test]
fn fields_can_be_written_one_by_one() {
    let schema = json!({
        "type": "object",
        "properties": { "amount": { "type": "number" }, "fund": { "type": "string" } },
        "required": ["amount", "fund"],
    });
    assert!(first(&schema, "amount=5 fund=x").contains(&json!({ "amount": 5, "fund": "x" })));
    let spaced = first(&schema, r#"amount=5 fund="two words""#);
    assert!(spaced.contains(&json!({ "amount": 5, "fund": "two words" })), "{spaced:?}");
    assert!(first(&schema, r#"{"amount": 5}"#).contains(&json!({ "amount": 5 })));
    assert_eq!(first(&schema, "/run echo text=x"), Vec::<Value>::new());
}

#[test]
fn data_is_taken_as_it_is() {
    let data = json!({ "approved": true });
    assert_eq!(candidates(&json!({}), &[Part::data(data.clone())]), [data]);
}
