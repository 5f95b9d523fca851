//! Where a question goes, and what an answer means.

use super::*;

fn session(name: &str) -> SessionId {
    SessionId::new(name).unwrap()
}

/// A question that may belong to another user is not asked.
#[test]
fn a_question_goes_to_the_one_conversation_that_calls() {
    let desk = Arc::new(Desk::default());
    assert!(desk.addressee().is_err());
    let (first, _questions) = desk.sit(Caller::local(), session("a"));
    assert!(desk.addressee().is_ok());
    let (second, _questions) = desk.sit(Caller::local(), session("b"));
    assert!(desk.addressee().is_err());
    drop(first);
    assert!(desk.addressee().is_ok());
    let (third, _questions) = desk.sit(Caller::local(), session("b"));
    assert!(desk.addressee().is_ok());
    drop((second, third));
    assert!(desk.addressee().is_err());
}

#[test]
fn no_can_be_said_without_the_rest() {
    let asked = json!({"type": "object", "properties": {"city": {"type": "string"}},
                       "required": ["city"]});
    let schema = with_decline(asked);
    assert_eq!(schema["properties"]["decline"]["type"], "boolean");
    assert_eq!(schema["then"]["required"], json!(["city"]));
    assert_eq!(schema.get("required"), None);
    assert_eq!(read_reply(json!({"decline": true})), Reply::Declined);
    let told = json!({"city": "Bonn"});
    assert_eq!(read_reply(json!({"city": "Bonn", "decline": false})), Reply::Accepted(told));
}
