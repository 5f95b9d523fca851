//! Possible meanings of a message.

use serde_json::json;

use super::*;

fn read(schema: &Value, text: &str) -> Vec<ReplyInterpretation> {
    interpret_user_reply(schema, &[Part::text(text)])
}

/// The answer that a question takes from a message that does not name it.
fn accepted_answer(reason: InterruptReason, schema: &Value, text: &str) -> Option<Value> {
    let parts = [Part::text(text)];
    let mut readings = interpret_user_reply(schema, &parts).into_iter();
    readings
        .find(|reading| reading.answers_unnamed_question(reason, &parts))
        .map(ReplyInterpretation::into_answer_value)
}

fn single_property_schema(name: &str, of: &Value) -> Value {
    json!({ "type": "object", "properties": { name: of }, "required": [name] })
}

#[test]
fn a_yes_answers_the_one_question_that_takes_a_yes() {
    let schema = single_property_schema("approved", &json!({ "type": "boolean" }));
    for (text, approved) in [("yes", true), ("OK!", true), ("no.", false), ("Denied", false)] {
        let given = ReplyInterpretation::Explicit(json!({ "approved": approved }));
        assert_eq!(read(&schema, text), [given], "{text}");
    }
    assert_eq!(read(&schema, "what is this about?"), []);
}

#[test]
fn fields_can_be_written_one_by_one() {
    let schema = json!({
        "type": "object",
        "properties": { "amount": { "type": "number" }, "fund": { "type": "string" } },
        "required": ["amount", "fund"],
    });
    let first = |text: &str| read(&schema, text).into_iter().next();
    let given = |value: Value| Some(ReplyInterpretation::Explicit(value));
    assert_eq!(first("amount=5 fund=x"), given(json!({ "amount": 5, "fund": "x" })));
    let spaced = first(r#"amount=5 fund="two words""#);
    assert_eq!(spaced, given(json!({ "amount": 5, "fund": "two words" })));
    assert_eq!(first(r#"{"amount": 5}"#), given(json!({ "amount": 5 })));
    assert_eq!(first("/run echo text=x"), None);
}

#[test]
fn data_is_taken_as_it_is() {
    let data = json!({ "approved": true });
    let parts = [Part::text("There:"), Part::data(data.clone())];
    assert_eq!(interpret_user_reply(&json!({}), &parts), [ReplyInterpretation::Explicit(data)]);
}

/// Values of other types are answers; free text is one only in some forms.
#[test]
fn free_text_answers_unless_it_addresses_someone() {
    let name = single_property_schema("name", &json!({ "type": "string" }));
    let colour = single_property_schema("colour", &json!({ "type": "string", "enum": ["red", "blue"] }));
    let amount = single_property_schema("amount", &json!({ "type": "number" }));
    let plain = json!({ "type": "string" });
    let table = [
        (&name, "Ada", Some(json!({ "name": "Ada" }))),
        (&name, "500", Some(json!({ "name": "500" }))),
        (&name, "name=Ada", Some(json!({ "name": "Ada" }))),
        (&name, "/srv/data", Some(json!({ "name": "/srv/data" }))),
        (&name, "@ada", Some(json!({ "name": "@ada" }))),
        (&name, "/run echo", None),
        (&name, "who is that?", None),
        (&name, "@helper tell me more", None),
        (&colour, "Red", Some(json!({ "colour": "red" }))),
        (&amount, "500", Some(json!({ "amount": 500 }))),
        (&plain, "Ada", Some(json!("Ada"))),
        (&plain, "Ada?", None),
        (&json!({}), "Ada", Some(json!("Ada"))),
    ];
    for (schema, text, expected) in table {
        assert_eq!(
            accepted_answer(InterruptReason::InputRequired, schema, text),
            expected,
            "{text} for {schema}"
        );
    }
}

/// A signature needs its name or data; a plain yes is only a yes.
#[test]
fn authorization_needs_an_explicit_answer() {
    let signature = single_property_schema("signature", &json!({ "type": "string" }));
    let signed = Some(json!({ "signature": "Ada" }));
    assert_eq!(accepted_answer(InterruptReason::AuthRequired, &signature, "Ada"), None);
    assert_eq!(accepted_answer(InterruptReason::AuthRequired, &signature, "signature=Ada"), signed);
    assert_eq!(accepted_answer(InterruptReason::AuthRequired, &signature, r#"{"signature":"Ada"}"#), signed);
    let agreed = single_property_schema("approved", &json!({ "type": "boolean" }));
    let yes = Some(json!({ "approved": true }));
    assert_eq!(accepted_answer(InterruptReason::AuthRequired, &agreed, "yes"), yes);
}
