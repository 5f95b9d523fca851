//! Agents as the official clients use them: both generations, each binding, and keys.

use serde_json::{Value, json};
use trackway_testkit::{ScriptLatch, ScriptedModelServer};

use super::{
    agent_workspace::{
        AgentWorkspace, artifact_chunks, artifact_ids, dispatched_task, joined_text_response, last_state,
        statuses_with_references,
    },
    official_client::{OfficialClient, ProtocolGeneration},
};

const HELPER: &str = "---\nname: helper\ndescription: Helps.\n---\nYou help.\n";
const DEFAULTS: &str = "[defaults]\nagent = \"helper\"\n";
const GRPC: [(&str, &str); 1] = [("TRACKWAY_GRPC_LISTEN", "127.0.0.1:0")];

/// A workspace with gRPC and the agent `helper`, which is also the default agent.
async fn desk(config: &str) -> AgentWorkspace {
    let config = format!("{DEFAULTS}{config}");
    let files = [("agents/helper.md", HELPER), ("trackway.toml", &config)];
    AgentWorkspace::open_with(&files, &GRPC).await
}

/// Where a client finds the agent. gRPC of 0.3 knows only one agent, whose card is at the root.
fn address(desk: &AgentWorkspace, generation: ProtocolGeneration, binding: &str) -> String {
    match (generation, binding) {
        (ProtocolGeneration::V03, "GRPC") => desk.server.url(""),
        _ => desk.server.url("/a2a/agents/helper"),
    }
}

/// Everything that an agent does, over one binding.
async fn course(generation: ProtocolGeneration, binding: &str) {
    let desk = desk("").await;
    let helper = address(&desk, generation, binding);
    let mut client = OfficialClient::start(generation, binding, None);
    let card = client.run_operation("card", &helper, json!({}));
    assert_eq!((&card["name"], &card["description"]), (&json!("helper"), &json!("Helps.")));
    let told = a_turn_is_streamed(&desk, &mut client, &helper);
    its_child_is_a_task(&desk, &mut client, generation, binding, &told);
    a_turn_is_sent(&desk, &mut client, &helper);
    a_turn_is_canceled(&desk, &mut client, &helper).await;
}

/// Text is streamed in pieces before and after a call, which is shown with its result and its child.
/// Returns the child, and the conversation.
fn a_turn_is_streamed(desk: &AgentWorkspace, client: &mut OfficialClient, helper: &str) -> (Value, Value) {
    let call = [("call-1", "dispatch_workflow_echo", r#"{"text":"hi"}"#)];
    desk.model
        .queue_reply(ScriptedModelServer::openai_reply().with_text("One moment.").with_tool_calls(&call));
    let latch = ScriptLatch::new();
    let begun =
        ScriptedModelServer::openai_reply().with_text("All is ").to_unfinished_reply().wait_for_latch(&latch);
    let rest = json!({ "choices": [{ "index": 0, "delta": { "content": "done." } }] });
    desk.model.queue_reply(
        ScriptedModelServer::openai_reply()
            .with_text("All is done.")
            .append_finish(begun.send_data_event(rest)),
    );
    client.open_stream(helper, "Echo hi.");
    // The rest is withheld until the client has the beginning.
    let mut events = client.events_until(|event| event["artifact"].to_string().contains("All"));
    latch.release();
    events.extend(client.remaining_events());
    assert_eq!(
        (last_state(&events).as_str(), joined_text_response(&events).as_str()),
        ("completed", "One moment.\n\nAll is done.")
    );
    let artifacts = ["tool-call-dispatch_workflow_echo", "tool-result-dispatch_workflow_echo"].map(|id| {
        assert!(artifact_ids(&events).contains(&id.to_owned()), "{:?}", artifact_ids(&events));
        artifact_chunks(&events, id).remove(0).2
    });
    assert_eq!(artifact_ids(&events).len(), 3, "{:?}", artifact_ids(&events));
    for artifact in &artifacts {
        assert_eq!(artifact["metadata"]["toolCallId"], "call-1", "{artifact}");
    }
    assert_eq!(artifacts[0]["parts"][0]["data"], json!({ "text": "hi" }));
    let pieces = artifact_chunks(&events, "text-response");
    let between = &pieces[1..pieces.len() - 1];
    assert!(!pieces[0].0 && between.iter().all(|(append, _, _)| *append), "{pieces:#?}");
    let last: Vec<bool> = pieces.iter().map(|(_, last, _)| *last).collect();
    assert_eq!(last.iter().position(|last| *last), Some(last.len() - 1), "{pieces:#?}");

    let told = statuses_with_references(&events);
    assert_eq!(told.len(), 1, "{told:#?}");
    assert_eq!(told[0]["message"]["metadata"]["referencedWorkflow"]["workflowName"], "echo");
    let child = dispatched_task(&events, 0);
    assert_eq!(artifacts[1]["metadata"]["taskId"], child["id"]);
    (child, events[0].result["contextId"].clone())
}

fn its_child_is_a_task(
    desk: &AgentWorkspace,
    client: &mut OfficialClient,
    generation: ProtocolGeneration,
    binding: &str,
    (child, context): &(Value, Value),
) {
    // If only one agent is known, the task is found with its parent.
    let echo = match (generation, binding) {
        (ProtocolGeneration::V03, "GRPC") => desk.server.url(""),
        _ => desk.server.url("/a2a/agents/echo"),
    };
    let task = client.run_operation("get", &echo, child.clone());
    assert_eq!((&task["status"]["state"], &task["contextId"]), (&json!("completed"), context));
    assert_eq!(task["artifacts"].as_array().map(Vec::len), Some(1), "its own: {task}");
}

fn a_turn_is_sent(desk: &AgentWorkspace, client: &mut OfficialClient, helper: &str) {
    desk.queue_text("Well.");
    let sent = client.send_text(helper, "Speak.");
    assert_eq!(sent["status"]["state"], "completed", "{sent}");
    let text = &sent["artifacts"][0];
    assert_eq!((&text["artifactId"], &text["parts"][0]["text"]), (&json!("text-response"), &json!("Well.")));
    let got = client.run_operation("get", helper, json!({ "id": sent["id"] }));
    assert_eq!((&got["id"], &got["artifacts"]), (&sent["id"], &sent["artifacts"]));
}

async fn a_turn_is_canceled(desk: &AgentWorkspace, client: &mut OfficialClient, helper: &str) {
    desk.model.queue_reply(
        ScriptedModelServer::openai_reply().with_text("For ever ").to_unfinished_reply().keep_open_silently(),
    );
    let asked = desk.model.requests().len();
    let message = client.text_message("Go on for ever.");
    let sent = client.run_operation("send", helper, json!({ "message": message, "wait": false }));
    assert_ne!(sent["status"]["state"], "completed", "{sent}");
    desk.model.wait_for_requests(asked + 1).await;
    let canceled = client.run_operation("cancel", helper, json!({ "id": sent["id"] }));
    assert_eq!(canceled["status"]["state"], "canceled", "{canceled}");
    desk.model.wait_for_dropped_connection().await;
}

/// Proves D2, D4, D5, D8, L10.
#[tokio::test]
async fn an_agent_over_grpc_1_0() {
    course(ProtocolGeneration::V1, "GRPC").await;
}

/// Proves D2, D4, D5, D8, L10.
#[tokio::test]
async fn an_agent_over_http_json_1_0() {
    course(ProtocolGeneration::V1, "HTTP+JSON").await;
}

/// Proves D2, D4, D5, D8, L10.
#[tokio::test]
async fn an_agent_over_json_rpc_1_0() {
    course(ProtocolGeneration::V1, "JSONRPC").await;
}

/// Proves D2, D4, D5, D8, L10: this protocol has no field for the tasks that a message refers to, so they
/// are in its metadata.
#[tokio::test]
async fn an_agent_over_grpc_0_3() {
    course(ProtocolGeneration::V03, "GRPC").await;
}

/// Proves D2, D4, D5, D8, L10.
#[tokio::test]
async fn an_agent_over_http_json_0_3() {
    course(ProtocolGeneration::V03, "HTTP+JSON").await;
}

/// Proves D2, D4, D5, D8, L10.
#[tokio::test]
async fn an_agent_over_json_rpc_0_3() {
    course(ProtocolGeneration::V03, "JSONRPC").await;
}

/// What a key, another tenant's key and no key permit, over each binding.
async fn keys(generation: ProtocolGeneration) {
    let desk = desk("[auth]\nrequired = true\n").await;
    let (acme, bolt) = (desk.create_key("acme", "ann"), desk.create_key("bolt", "ann"));
    for binding in ["GRPC", "HTTP+JSON", "JSONRPC"] {
        let helper = address(&desk, generation, binding);
        let mut known = OfficialClient::start(generation, binding, Some(&acme));
        let card = known.run_operation("extended", &helper, json!({}));
        assert_eq!(card["name"], "helper", "{binding}: {card}");
        let needs = card["security"].to_string() + &card["securityRequirements"].to_string();
        assert!(needs.contains("workflow:helper:run"), "{binding}: {card}");
        desk.queue_text("Welcome.");
        let sent = known.send_text(&helper, "Hello.");
        assert_eq!(sent["status"]["state"], "completed", "{binding}: {sent}");

        let mut other = OfficialClient::start(generation, binding, Some(&bolt));
        let refused = other.try_operation("get", &helper, json!({ "id": sent["id"] }));
        let refused = refused.expect_err("it is a task of another tenant");
        assert!(!refused.contains("Welcome"), "{binding}: {refused}");

        let mut stranger = OfficialClient::start(generation, binding, None);
        let message = stranger.text_message("Hello.");
        for (op, more) in [("extended", json!({})), ("send", json!({ "message": message }))] {
            let refused = stranger.try_operation(op, &helper, more);
            let refused = refused.expect_err("a stranger gets nothing");
            let says = |word: &&str| refused.contains(word);
            assert!(["401", "UNAUTHENTICATED"].iter().any(says), "{binding}: {refused}");
        }
    }
}

/// Proves X6: the extended card, and everything else, needs a key, and tasks belong to their tenant.
#[tokio::test]
async fn an_agent_of_1_0_needs_a_key() {
    keys(ProtocolGeneration::V1).await;
}

/// Proves X6.
#[tokio::test]
async fn an_agent_of_0_3_needs_a_key() {
    keys(ProtocolGeneration::V03).await;
}

/// Proves L14: every number of this client is a float on the wire; a whole number is an integer here.
#[tokio::test]
async fn whole_numbers_of_the_python_client_are_integers() {
    let desk = desk("").await;
    let ledger = desk.server.url("/a2a/agents/ledger");
    for binding in ["GRPC", "HTTP+JSON", "JSONRPC"] {
        let mut client = OfficialClient::start(ProtocolGeneration::V1, binding, None);
        let message = json!({ "parts": [{ "data": { "entries": 2, "delayMs": 1 } }] });
        let sent = client.run_operation("send", &ledger, json!({ "message": message }));
        assert_eq!(sent["status"]["state"], "completed", "{binding}: {sent}");
    }
}
