//! Free text as answers: text that clearly belongs to the one open question resumes it, and text that
//! may be meant for the agent goes to the model.

use serde_json::{Value, json};
use trackway_domain::{Part, Reason, StateName};
use trackway_testkit::ChatReply;

use super::kit::{Desk, asks, dispatched, ended, required, rested, send, yes_or_no};

/// The answer that the question takes from a message; none if it is still open and the model was
/// called.
fn taken(reason: Reason, schema: &Value, part: &Part, named: bool) -> Option<Value> {
    let desk = Desk::new().workflow(asks("asks", reason, schema.clone()));
    desk.run(async |process| {
        let child = dispatched(&process, &desk, "m1", "asks").await;
        desk.server.respond(|_| ChatReply::default().says("I see.").into());
        let references: Vec<String> = named.then(|| child.to_string()).into_iter().collect();
        let run = send(&process, "m2", vec![part.clone()], &references).await;
        ended(&process, run).await;
        let system = desk.told(2)[0]["content"].as_str().unwrap().to_owned();
        let view = rested(&process, child).await;
        let taken = (view.state == StateName::Completed).then(|| view.output.clone());
        let told = system.contains(&child.to_string()) && system.contains("What is it?");
        assert_eq!(told, taken.is_none(), "the model is told of what is open: {system}");
        taken
    })
}

fn text_taken(reason: Reason, schema: &Value, text: &str) -> Option<Value> {
    taken(reason, schema, &Part::text(text), false)
}

/// Issue 5, point 3: values with only one meaning, and free text for a question that accepts it. A
/// question, a command, or a message addressed to another agent is not an answer.
#[test]
fn plain_words_answer_a_question_for_words() {
    let name = required([("name", "string")]);
    for (text, answer) in [
        ("Ada Lovelace", Some("Ada Lovelace")),
        ("yes", Some("yes")),
        ("name=Ada", Some("Ada")),
        ("name=\"Ada?\"", Some("Ada?")),
        ("wait, who will read that?", None),
        ("Who? And why ?  ", None),
        ("@helper what did I say before", None),
        ("/help", None),
    ] {
        let expected = answer.map(|answer| json!({ "name": answer }));
        assert_eq!(text_taken(Reason::InputRequired, &name, text), expected, "{text}");
    }
    let amount = required([("amount", "number")]);
    assert_eq!(text_taken(Reason::InputRequired, &amount, "500"), Some(json!({ "amount": 500 })));
    assert_eq!(text_taken(Reason::InputRequired, &amount, "how much is usual?"), None);
    let plain = json!({ "type": "string" });
    assert_eq!(text_taken(Reason::InputRequired, &plain, "Ada"), Some(json!("Ada")));
    assert_eq!(text_taken(Reason::InputRequired, &plain, "Ada?"), None);
}

/// A signature is never inferred: it needs its name, data, or a message that names the task.
#[test]
fn a_signature_is_not_taken_from_what_is_said() {
    let signature = required([("signature", "string")]);
    let signed = Some(json!({ "signature": "Ada" }));
    let auth = Reason::AuthRequired;
    assert_eq!(text_taken(auth, &signature, "wait, how much is that in euros"), None);
    assert_eq!(text_taken(auth, &signature, "Ada"), None);
    assert_eq!(text_taken(auth, &signature, "signature=Ada"), signed);
    assert_eq!(text_taken(auth, &signature, r#"{"signature": "Ada"}"#), signed);
    let data = Part::data(json!({ "signature": "Ada" }));
    assert_eq!(taken(auth, &signature, &data, false), signed);
    assert_eq!(taken(auth, &signature, &Part::text("Ada"), true), signed);
    assert_eq!(text_taken(auth, &yes_or_no(), "yes"), Some(json!({ "approved": true })));
}
