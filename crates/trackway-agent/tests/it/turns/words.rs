//! Free text as answers: text that clearly belongs to the one open question resumes it, and text that
//! may be meant for the agent goes to the model.

use serde_json::{Value, json};
use trackway_domain::{InterruptReason, Part, StateName};
use trackway_testkit::ScriptedChatReply;

use super::harness::{
    AgentHarness, approval_schema, asking_workflow, dispatch_and_find_child, object_schema, send_parts,
    wait_until_ended, wait_until_idle,
};

/// The answer that the question takes from a message; none if it is still open and the model was
/// called.
fn accepted_answer(reason: InterruptReason, schema: &Value, part: &Part, named: bool) -> Option<Value> {
    let desk = AgentHarness::new().with_workflow(asking_workflow("asks", reason, schema.clone()));
    desk.run_process(async |process| {
        let child = dispatch_and_find_child(&process, &desk, "m1", "asks").await;
        desk.server.set_responder(|_| ScriptedChatReply::default().with_text("I see.").into());
        let references: Vec<String> = named.then(|| child.to_string()).into_iter().collect();
        let run = send_parts(&process, "m2", vec![part.clone()], &references).await;
        wait_until_ended(&process, run).await;
        let system = desk.request_messages(2)[0]["content"].as_str().unwrap().to_owned();
        let view = wait_until_idle(&process, child).await;
        let taken = (view.state == StateName::Completed).then(|| view.output.clone());
        let told = system.contains(&child.to_string()) && system.contains("What is it?");
        assert_eq!(told, taken.is_none(), "the model is told of what is open: {system}");
        taken
    })
}

fn accepted_text_answer(reason: InterruptReason, schema: &Value, text: &str) -> Option<Value> {
    accepted_answer(reason, schema, &Part::text(text), false)
}

/// Issue 5, point 3: values with only one meaning, and free text for a question that accepts it. A
/// question, a command, or a message addressed to another agent is not an answer.
#[test]
fn plain_words_answer_a_question_for_words() {
    let name = object_schema([("name", "string")]);
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
        assert_eq!(accepted_text_answer(InterruptReason::InputRequired, &name, text), expected, "{text}");
    }
    let amount = object_schema([("amount", "number")]);
    assert_eq!(
        accepted_text_answer(InterruptReason::InputRequired, &amount, "500"),
        Some(json!({ "amount": 500 }))
    );
    assert_eq!(accepted_text_answer(InterruptReason::InputRequired, &amount, "how much is usual?"), None);
    let plain = json!({ "type": "string" });
    assert_eq!(accepted_text_answer(InterruptReason::InputRequired, &plain, "Ada"), Some(json!("Ada")));
    assert_eq!(accepted_text_answer(InterruptReason::InputRequired, &plain, "Ada?"), None);
}

/// A signature is never inferred: it needs its name, data, or a message that names the task.
#[test]
fn a_signature_is_not_taken_from_what_is_said() {
    let signature = object_schema([("signature", "string")]);
    let signed = Some(json!({ "signature": "Ada" }));
    let auth = InterruptReason::AuthRequired;
    assert_eq!(accepted_text_answer(auth, &signature, "wait, how much is that in euros"), None);
    assert_eq!(accepted_text_answer(auth, &signature, "Ada"), None);
    assert_eq!(accepted_text_answer(auth, &signature, "signature=Ada"), signed);
    assert_eq!(accepted_text_answer(auth, &signature, r#"{"signature": "Ada"}"#), signed);
    let data = Part::data(json!({ "signature": "Ada" }));
    assert_eq!(accepted_answer(auth, &signature, &data, false), signed);
    assert_eq!(accepted_answer(auth, &signature, &Part::text("Ada"), true), signed);
    assert_eq!(accepted_text_answer(auth, &approval_schema(), "yes"), Some(json!({ "approved": true })));
}
