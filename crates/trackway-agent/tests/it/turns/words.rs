//! Plain words as answers: what clearly belongs to the one open question resumes it, and what may as well
//! be said to the agent goes to the model.

use std::sync::Arc;

use serde_json::{Value, json};
use trackway_domain::{Part, Reason, RunId, StateName};
use trackway_runtime::Program;
use trackway_testkit::{ChatReply, Process};

use super::kit::{Desk, children, ended, log, rested, send, turn, workflow};

/// Asks for the schema's values and gives them back.
fn asks(reason: Reason, schema: Value) -> Arc<dyn Program> {
    workflow("asks", move |stage, _| {
        let schema = schema.clone();
        async move {
            let (_, answer) = stage.ask(reason, vec![Part::text("Well?")], schema, None).await;
            Ok(answer.input)
        }
    })
}

fn one(name: &str, of: &Value) -> Value {
    json!({ "type": "object", "properties": { name: of }, "required": [name] })
}

/// What the question takes from a message; nothing where it is still open and the model was asked.
fn taken(reason: Reason, schema: &Value, part: &Part, named: bool) -> Option<Value> {
    let desk = Desk::new().workflow(asks(reason, schema.clone()));
    desk.calls(&[("c1", "dispatch_workflow_asks", json!({ "text": "x" }))]);
    desk.says("It has a question.");
    desk.server.respond(|_| ChatReply::default().says("I see.").into());
    let outcome = |process: Process| {
        let desk = &desk;
        async move {
            let view = turn(&process, "m1", "Go.").await;
            let child = children(&log(&process, view.submission.run).await)[0];
            let references: Vec<String> = named.then(|| child.to_string()).into_iter().collect();
            let run = send(&process, "m2", vec![part.clone()], &references).await;
            ended(&process, run).await;
            let system = desk.told(2)[0]["content"].as_str().unwrap().to_owned();
            let taken = answer_of(&process, child).await;
            let told = system.contains(&child.to_string()) && system.contains("Well?");
            assert_eq!(told, taken.is_none(), "the model is told of what is open: {system}");
            taken
        }
    };
    desk.run(async |process| outcome(process).await)
}

async fn answer_of(process: &Process, child: RunId) -> Option<Value> {
    let view = rested(process, child).await;
    (view.state == StateName::Completed).then(|| view.output.clone())
}

fn text_taken(reason: Reason, schema: &Value, text: &str) -> Option<Value> {
    taken(reason, schema, &Part::text(text), false)
}

/// Issue 5, point 3: values that nothing else can mean, and words where words were asked for. What is
/// itself a question, a command, or is addressed to somebody is none.
#[test]
fn plain_words_answer_a_question_for_words() {
    let name = one("name", &json!({ "type": "string" }));
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
    let amount = one("amount", &json!({ "type": "number" }));
    assert_eq!(text_taken(Reason::InputRequired, &amount, "500"), Some(json!({ "amount": 500 })));
    assert_eq!(text_taken(Reason::InputRequired, &amount, "how much is usual?"), None);
    let plain = json!({ "type": "string" });
    assert_eq!(text_taken(Reason::InputRequired, &plain, "Ada"), Some(json!("Ada")));
    assert_eq!(text_taken(Reason::InputRequired, &plain, "Ada?"), None);
}

/// A signature is given, not said by the way: with its name, as data, or in a message that names the task.
#[test]
fn a_signature_is_not_taken_from_what_is_said() {
    let signature = one("signature", &json!({ "type": "string" }));
    let signed = Some(json!({ "signature": "Ada" }));
    let auth = Reason::AuthRequired;
    assert_eq!(text_taken(auth, &signature, "wait, how much is that in euros"), None);
    assert_eq!(text_taken(auth, &signature, "Ada"), None);
    assert_eq!(text_taken(auth, &signature, "signature=Ada"), signed);
    assert_eq!(text_taken(auth, &signature, r#"{"signature": "Ada"}"#), signed);
    let data = Part::data(json!({ "signature": "Ada" }));
    assert_eq!(taken(auth, &signature, &data, false), signed);
    assert_eq!(taken(auth, &signature, &Part::text("Ada"), true), signed);
    let agreed = one("approved", &json!({ "type": "boolean" }));
    assert_eq!(text_taken(auth, &agreed, "yes"), Some(json!({ "approved": true })));
}
