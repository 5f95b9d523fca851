//! Facts from outside: missing facts are named, and a fact that identifies a session selects it.

use serde_json::{Value, json};

use super::{
    mcp_workspace::{McpWorkspace, prompt_step, three_step_workflow, workflow_definition},
    obedient_agent::apply_needs,
};

/// Steps of which the second needs a name.
fn greeting(first: &str) -> Value {
    let mut steps = [prompt_step("first"), prompt_step("second")];
    steps[0]["prompt"] = first.into();
    steps[1]["prompt"] = "Greet {{who}}.".into();
    workflow_definition("greeting", json!(steps))
}

/// Proves T8, T10: context that is missing at a start is an error with needs.
#[test]
fn missing_context_at_a_start_is_an_error() {
    let shop = McpWorkspace::with_workflows(&[greeting("Ask {{someone}}.")]);
    let mut agent = shop.connect();
    let mut arguments = json!({ "workflowId": "greeting" });
    let error = agent.call("workflow_start", &arguments);
    assert_eq!(error.error_code(), "missing-context");
    let need = error.need_at("/context/someone");
    assert!(need.get("example").is_some() || need.get("schema").is_some(), "{error:#?}");
    apply_needs(&mut arguments, &error);
    assert_eq!(agent.call("workflow_start", &arguments).step_id(), "first");
    assert_eq!(agent.start_run("greeting", json!({ "someone": "Ann" })).prompt(), "Ask Ann.");
}

/// Proves T10: missing context blocks an advance, and the advance succeeds once it is there.
#[test]
fn missing_context_at_an_advance_blocks() {
    let shop = McpWorkspace::with_workflows(&[greeting("Begin.")]);
    let mut agent = shop.connect();
    let start = agent.start_run("greeting", json!({}));
    let blocked = agent.advance(&start, json!({ "notesMarkdown": "n" }));
    assert_eq!(blocked.blocked_code(), "context-missing");
    assert_eq!(blocked.step_id(), "first", "nothing advanced");
    let mut mended = json!({ "notesMarkdown": "n" });
    apply_needs(&mut mended, &blocked);
    assert_eq!(agent.advance(&blocked, mended).step_id(), "second");
    let told = json!({ "context": { "who": "Bob" } });
    assert_eq!(agent.advance(&start, told).prompt(), "Greet Bob.");
}

/// Proves T10: progress is never read from the context, whatever it is called.
#[test]
fn progress_is_not_read_from_the_context() {
    let shop = McpWorkspace::with_workflows(&[three_step_workflow()]);
    let mut agent = shop.connect();
    let start = agent.start_run("three", json!({ "completedSteps": ["first", "second"] }));
    assert_eq!(start.step_id(), "first");
    let context = json!({ "state": "complete", "isComplete": true, "pending": null });
    assert_eq!(agent.advance(&start, json!({ "context": context })).step_id(), "second");
}

/// Proves T11: an id in the context finds the session or creates one; a session has several runs.
#[test]
fn sessions_are_found_by_an_id_in_the_context() {
    let shop = McpWorkspace::with_workflows(&[three_step_workflow()]);
    let mut agent = shop.connect();
    let context = json!({ "taskId": "T", "ticketId": "AUTH-1234", "complexity": "Standard" });
    let one = agent.start_run("three", context);
    assert_eq!(one.session_id(), "AUTH-1234");
    let two = agent.start_run("three", json!({ "sessionId": "AUTH-1234" }));
    assert_eq!(two.session_id(), "AUTH-1234");
    assert_ne!(one.run_id(), two.run_id());
    let number = agent.start_run("three", json!({ "prId": 17 }));
    assert_eq!(number.session_id(), "17");
    let fresh = [agent.start_run("three", json!({})), agent.start_run("three", json!({}))];
    assert_ne!(fresh[0].session_id(), fresh[1].session_id());
    let told = shop.run_json_command(&["sessions", "show", "AUTH-1234"]);
    assert_eq!(told["runs"].as_array().unwrap().len(), 2, "{told}");
}
