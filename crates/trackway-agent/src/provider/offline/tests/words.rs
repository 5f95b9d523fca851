//! Free text: which tool it refers to, and its values for the tool's fields.

use insta::assert_snapshot;
use serde_json::json;

use super::{answer_to_message, check, render_answer, request, user};
use crate::{OpenQuestionNote, conversation::ToolSpec};

/// Arguments contain only the user's words.
#[test]
fn a_name_among_words_chooses_a_tool() {
    check(&[
        ("run echo with text=hi", r#"dispatch_workflow_echo {"text":"hi"}"#),
        (r#"echo this: {"text": "x", "other": 1}"#, r#"dispatch_workflow_echo {"text":"x"}"#),
        ("Invest from wallet 0x123", r#"dispatch_workflow_invest {"walletAddress":"0x123"}"#),
        (
            "Please invest, chain 42161, wallet 0x9!",
            r#"dispatch_workflow_invest {"chainId":42161,"walletAddress":"0x9"}"#,
        ),
        ("paint the wall, coats 3, colour=red", r#"dispatch_workflow_paint_wall {"coats":3,"colour":"red"}"#),
        ("What time is it?", "time {}"),
    ]);
    assert_snapshot!("which-of-several", answer_to_message("invest and paint the wall"));
}

/// Proves I5 and I6 as far as the rules go: a verb means the workflow, a proper name is a
/// name, and a file that is named or attached is the input.
#[test]
fn a_workflow_of_a_peer_gets_a_name_or_a_file() {
    let text = json!({ "type": "string" });
    let schema = json!({
        "type": "object",
        "properties": { "name": text, "plan": text, "rows": { "type": "array" }, "input_artifact": text },
    });
    let attached = "File \"people.csv\" (text/csv, 9 bytes):\n```\nname\nEve\n```";
    let attached = format!("Process this CSV file using the onboarding workflow.\n{attached}");
    let table = [
        ("Onboard user John Doe.", r#"workflow_onboarding {"name":"John Doe"}"#),
        ("please onboard Ann", r#"workflow_onboarding {"name":"Ann"}"#),
        ("onboarding name=\"ann b\"", r#"workflow_onboarding {"name":"ann b"}"#),
        (
            "Process data.csv using the onboarding workflow.",
            r#"workflow_onboarding {"input_artifact":"data.csv"}"#,
        ),
        (&attached, r#"workflow_onboarding {"input_artifact":"people.csv"}"#),
        ("Run onboarding", "workflow_onboarding {}"),
    ];
    for (said, expected) in table {
        let mut request = request(vec![user(said)]);
        let name = "workflow_onboarding".to_owned();
        request
            .tools
            .push(ToolSpec { name, description: "Onboards.".to_owned(), schema: schema.clone() }.into());
        assert_eq!(render_answer(&request), expected, "for {said:?}");
    }
}

/// A tool for answers is called only by its exact name, never because of a word in the text.
#[test]
fn answers_are_not_tools() {
    let mut request = request(vec![user("the answer is a task")]);
    let reply = ToolSpec { name: "answer_task".to_owned(), ..(*request.tools[0]).clone() };
    request.tools = vec![reply.into()];
    assert!(render_answer(&request).starts_with("offline-rules/1"));
    request.entries = vec![user("/run answer_task")];
    assert_eq!(render_answer(&request), "answer_task {}");
}

/// The rules ask for missing values; a plain word after a field's name is not a value.
#[test]
fn missing_fields_are_asked_for() {
    let asked = answer_to_message("Invest from my wallet please");
    assert!(asked.starts_with("To run invest I need walletAddress.\n/run invest wallet"), "{asked}");
}

/// A message that matches nothing while a task waits may be an answer to the task.
#[test]
fn an_open_question_is_told_again() {
    let schema = json!({
        "type": "object", "properties": { "amount": { "type": "number" } }, "required": ["amount"]
    });
    let mut request = request(vec![user("a whole lot")]);
    request.open.push(OpenQuestionNote {
        person_only: false,
        task_id: "run_1".to_owned(),
        workflow: "invest".to_owned(),
        asks: "How much?\nThere is a limit.".to_owned(),
        schema: Some(schema),
    });
    assert_snapshot!("open-question", render_answer(&request));
    request.entries = vec![user("what time is it?")];
    assert_eq!(render_answer(&request), "time {}");
    request.entries = vec![user("/help")];
    assert_eq!(render_answer(&request), answer_to_message("/help"));
}
