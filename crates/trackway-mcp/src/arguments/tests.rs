//! Wrong arguments that agents send, and the refusals that they get.

use super::*;

fn check(raw: Value) -> Result<CheckedToolArguments, ToolRefusal> {
    let parameters = json!([
        { "name": "stateToken", "type": "string", "required": true, "description": "where the run stands", "example": "st.v1.…" },
        { "name": "context", "type": "object", "description": "facts", "example": {} },
    ]);
    let parameters: Vec<ToolParameter> = serde_json::from_value(parameters).unwrap();
    CheckedToolArguments::parse_checked_arguments("tool", &parameters, Some(raw))
}

fn needs(raw: Value) -> Vec<(String, String)> {
    let refusal = check(raw).unwrap_err();
    assert_eq!(refusal.code.as_str(), "invalid-request");
    refusal.needs.into_iter().map(|need| (need.pointer, need.message)).collect()
}

/// Proves T8: names in another style or with a typing error are recognised, and one refusal lists every
/// mistake.
#[test]
fn wrong_arguments_suggest_the_right_name() {
    for name in ["state_token", "StateToken", "state-token", "stateTokn", "statetoken"] {
        let told = needs(json!({ name: "x" }));
        assert_eq!(told[0].0, format!("/{name}"));
        assert!(told[0].1.contains("did you mean \"stateToken\"?"), "{told:?}");
        assert_eq!(told[1], ("/stateToken".to_owned(), "stateToken is missing".to_owned()));
    }
    let told = needs(json!({ "stateToken": 5, "context": "{\"a\": 1}", "entirely/other": 1 }));
    let pointers: Vec<_> = told.iter().map(|(pointer, _)| pointer.as_str()).collect();
    assert_eq!(pointers, ["/context", "/entirely~1other", "/stateToken"]);
    assert!(told[0].1.contains("not its text in quotes"), "{told:?}");
    assert!(told[1].1.contains("leave it out"), "{told:?}");
    for raw in [json!([]), json!("x"), json!(1)] {
        assert_eq!(needs(raw)[0].0, "");
    }
    assert_eq!(needs(Value::Null)[0].0, "/stateToken");
}

/// Proves T8: a refusal starts with the name that was probably meant, even if there are more mistakes.
#[test]
fn the_message_says_what_was_meant() {
    let raw = json!({ "stateTokn": "x", "extra": 1 });
    let refusal = check(raw).unwrap_err();
    assert!(refusal.message.contains("did you mean \"stateToken\"?"), "{}", refusal.message);
    assert!(refusal.message.contains("\"extra\""), "{}", refusal.message);
    let many: Object = (0..9).map(|number| (format!("none-{number}"), json!(1))).collect();
    let refusal = check(many.into()).unwrap_err();
    assert!(refusal.message.contains("and 7 more"), "{}", refusal.message);
}

#[test]
fn part_of_a_name_suggests_it() {
    let names = ["stateToken", "ackToken", "context", "notesMarkdown"];
    for (written, name) in [
        ("notes", Some("notesMarkdown")),
        ("markdown", Some("notesMarkdown")),
        ("state", Some("stateToken")),
        ("contextValues", Some("context")),
        ("token", None),
        ("t", None),
        ("", None),
        ("-", None),
        ("else", None),
    ] {
        assert_eq!(suggest_similar_name(written, names), name, "{written}");
    }
}

/// Proves T8: an absent argument and a null are the same.
#[test]
fn null_arguments_count_as_absent() {
    let raw = json!({ "stateToken": "st", "context": null });
    let mut arguments = check(raw).unwrap();
    assert_eq!(arguments.take_string_argument("stateToken").as_deref(), Some("st"));
    assert_eq!(arguments.take_object_argument("context"), None);
}

/// Proves L14: a client whose numbers are all floats means the same integers.
#[test]
fn integral_numbers_are_integers() {
    let raw = json!({ "stateToken": "x", "context": { "count": 40.0, "share": 2.5 } });
    let mut arguments = check(raw).unwrap();
    let context = Value::Object(arguments.take_object_argument("context").unwrap());
    assert_eq!(context.to_string(), r#"{"count":40,"share":2.5}"#);
}
