//! Prompt steps of workflow files that name an agent.

use serde_json::json;

use super::agent_workspace::{AgentWorkspace, joined_text_response, last_state, status_text};
use crate::a2a::support::{data_message, text_message};

const RATES: &str = r#"
id: rates
name: Rates
description: Has something rated.
version: "1"
input:
  type: object
  required: [subject]
  properties: { subject: { type: string } }
steps:
  - id: rate
    agent: helper
    prompt: Rate {{ subject }}.
    outputContract:
      schema: { type: object, required: [risk], properties: { risk: { type: string, enum: [low, high] } } }
      example: { risk: low }
    set: { risk: result.risk }
  - id: told
    emit: { artifact: rating.txt, text: "{{ subject }}: {{ risk }}" }
"#;
const AGENT: &str = "---\nname: helper\n---\nYou help.\n";

/// Proves D1: an agent works on the step; an answer that does not fit is sent back with its errors.
#[tokio::test]
async fn a_prompt_step_is_done_by_its_agent() {
    let files = [("workflows/rates.yaml", RATES), ("agents/helper.md", AGENT)];
    let desk = AgentWorkspace::open(&files).await;
    desk.queue_text(r#"{"risk": "unknown"}"#);
    desk.queue_text(r#"{"risk": "low"}"#);
    let rates = desk.server.agent("rates");
    let events = rates.stream_message(&data_message(json!({ "subject": "tea" }))).await;
    assert_eq!(last_state(&events), "completed", "{events:#?}");
    let task = rates.get_task(&events[0].result).await;
    assert_eq!(task["artifacts"][0]["parts"][0]["text"], "tea: low", "{task}");
    assert_eq!(desk.model.requests().len(), 2);
    let asked = desk.model_messages(0);
    assert!(asked.last().unwrap()["content"].to_string().contains("Rate tea."), "{asked:#?}");
    let repair = desk.model_messages(1);
    let wrong = repair.last().unwrap()["content"].to_string();
    assert!(wrong.contains("risk"), "{repair:#?}");
}

/// Proves D1: after two repairs the step has failed, and the run says why.
#[tokio::test]
async fn a_prompt_step_fails_after_two_repairs() {
    let files = [("workflows/rates.yaml", RATES), ("agents/helper.md", AGENT)];
    let desk = AgentWorkspace::open(&files).await;
    for _ in 0..4 {
        desk.queue_text(r#"{"risk": "unknown"}"#);
    }
    let events = desk.server.agent("rates").stream_message(&data_message(json!({ "subject": "tea" }))).await;
    assert_eq!(last_state(&events), "failed");
    let why = status_text(&events.last().unwrap().result["status"]);
    assert!(why.contains("helper"), "{why}");
    assert_eq!(desk.model.requests().len(), 3);
}

/// Proves D1, D2: such a workflow is dispatched like any other, also by the agent that it names.
#[tokio::test]
async fn an_agent_dispatches_a_workflow_that_asks_an_agent() {
    let files = [("workflows/rates.yaml", RATES), ("agents/helper.md", AGENT)];
    let desk = AgentWorkspace::open(&files).await;
    desk.queue_tool_calls(&[("c1", "dispatch_workflow_rates", json!({ "subject": "tea" }))]);
    desk.queue_text(r#"{"risk": "high"}"#);
    desk.queue_text("It is risky.");
    let events = desk.run_turn(&text_message("Rate tea.")).await;
    assert_eq!(
        (last_state(&events).as_str(), joined_text_response(&events).as_str()),
        ("completed", "It is risky.")
    );
    let told = desk.tool_result(2, "c1");
    assert_eq!(told["outcome"], "answered", "{told}");
    assert_eq!(told["result"][0]["text"], "tea: high", "{told}");
}
