//! Where a question goes, and what an answer means.

use super::*;

fn session(name: &str) -> SessionId {
    SessionId::new(name).unwrap()
}

/// A question that may belong to another user is not asked.
#[test]
fn a_question_goes_to_the_one_conversation_that_calls() {
    let desk = Arc::new(ActiveServerCalls::default());
    assert!(desk.elicitation_sender_of_newest_call().is_err());
    let (first, _questions) = desk.register_active_call(Caller::local_without_auth(), session("a"));
    assert!(desk.elicitation_sender_of_newest_call().is_ok());
    let (second, _questions) = desk.register_active_call(Caller::local_without_auth(), session("b"));
    assert!(desk.elicitation_sender_of_newest_call().is_err());
    drop(first);
    assert!(desk.elicitation_sender_of_newest_call().is_ok());
    let (third, _questions) = desk.register_active_call(Caller::local_without_auth(), session("b"));
    assert!(desk.elicitation_sender_of_newest_call().is_ok());
    drop((second, third));
    assert!(desk.elicitation_sender_of_newest_call().is_err());
}

#[test]
fn no_can_be_said_without_the_rest() {
    let asked = json!({"type": "object", "properties": {"city": {"type": "string"}},
                       "required": ["city"]});
    let schema = schema_with_decline_option(asked);
    assert_eq!(schema["properties"]["decline"]["type"], "boolean");
    assert_eq!(schema["then"]["required"], json!(["city"]));
    assert_eq!(schema.get("required"), None);
    assert_eq!(parse_elicitation_reply(json!({"decline": true})), ElicitationReply::Declined);
    let told = json!({"city": "Bonn"});
    assert_eq!(
        parse_elicitation_reply(json!({"city": "Bonn", "decline": false})),
        ElicitationReply::Accepted(told)
    );
}
