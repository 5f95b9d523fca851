//! Runs that an agent drives: continued at a node, and moved to another definition.

use std::fs;

use serde_json::{Value, json};

use super::DefinitionWorkspace;
use crate::support::trackway_command;

const STEPS: &str = r#"
id: steps
name: Steps
description: Two steps.
version: "1"
steps:
  - { id: one, prompt: Do one. }
  - { id: two, prompt: Do two. }
"#;

/// Calls tools of `trackway mcp`, one process for all of them, and returns the answers.
fn calls(desk: &DefinitionWorkspace, calls: &[(&str, Value)]) -> Vec<Value> {
    let workflows = desk.workflows();
    let mut mcp = trackway_command(&["mcp", "--workflows", workflows.to_str().unwrap()])
        .env("TRACKWAY_DATA", desk.folder.data_path())
        .start();
    let hello = json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" }
        }
    });
    mcp.write(&format!("{hello}\n"));
    mcp.read_line();
    mcp.write("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
    let call = |(name, arguments): &(&str, Value)| {
        let params = json!({ "name": name, "arguments": arguments });
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        mcp.write(&format!("{call}\n"));
        let told: Value = serde_json::from_str(&mcp.read_line()).unwrap();
        told["result"]["structuredContent"].clone()
    };
    calls.iter().map(call).collect()
}

fn call(desk: &DefinitionWorkspace, name: &str, arguments: Value) -> Value {
    calls(desk, &[(name, arguments)]).remove(0)
}

/// The call that answers this position.
fn advance(desk: &DefinitionWorkspace, told: &Value, context: &Value) -> Value {
    let arguments = json!({
        "stateToken": told["stateToken"], "ackToken": told["ackToken"], "context": context
    });
    call(desk, "workflow_advance", arguments)
}

/// Proves T16, T4: a user who has lost the tokens gets fresh ones for any node, and an agent continues.
#[test]
fn a_guided_run_is_handed_over_at_a_node() {
    let desk = DefinitionWorkspace::new();
    desk.write_workflow("steps.yaml", STEPS);
    let first = call(&desk, "workflow_start", json!({ "workflowId": "steps" }));
    let run = first["session"]["runId"].as_str().unwrap();
    let second = advance(&desk, &first, &json!({}));
    let newest = desk.folder.run_command(&["runs", "fork", run, "--json"]).expect(0).json();
    assert_eq!(newest["pending"]["stepId"], "two");
    assert_eq!(newest["stateToken"], second["stateToken"]);
    assert_ne!(newest["ackToken"], second["ackToken"]);
    // The folder of workflows is known only if an argument names it.
    assert_eq!(newest["warnings"], json!([]));
    let codes = |folder: &str| {
        let args = ["runs", "fork", run, "--json", "--workflows", folder];
        let told = desk.folder.run_command(&args).expect(0).json();
        let warnings = told["warnings"].as_array().unwrap().iter();
        warnings.map(|warning| warning["code"].clone()).collect::<Vec<_>>()
    };
    let empty = desk.folder.path().join("empty");
    fs::create_dir(&empty).unwrap();
    assert_eq!(codes(desk.workflows().to_str().unwrap()), Vec::<Value>::new());
    assert_eq!(codes(empty.to_str().unwrap()), ["definition-missing"]);
    assert_eq!(advance(&desk, &newest, &json!({}))["isComplete"], true);
    // A finished run is continued before its end, in another branch.
    let again = desk.folder.run_command(&["runs", "fork", run, "--json"]).expect(0).json();
    assert_eq!(again["pending"]["stepId"], "two");
    assert_eq!(advance(&desk, &again, &json!({ "other": true }))["branch"]["forked"], true);
    // For people, the same as text.
    let text = desk.folder.run_command(&["runs", "fork", run]).expect(0);
    assert!(text.stdout.contains("ack.v1.") && text.stdout.contains("Do two."), "{text:?}");
    let refused = desk.folder.run_command(&["runs", "fork", run, "--at", "2"]).expect(2);
    assert!(refused.stderr.contains("--node"), "{refused:?}");
    let nowhere = format!("nod_{}", "0".repeat(32));
    let refused = desk.folder.run_command(&["runs", "fork", run, "--node", &nowhere]);
    assert_ne!(refused.code, 0, "{refused:?}");
}

/// Proves T10: a run continues with the new definition when a user requests it, and its tokens stay valid.
#[test]
fn a_guided_run_is_migrated() {
    let desk = DefinitionWorkspace::new();
    desk.write_workflow("steps.yaml", STEPS);
    let first = call(&desk, "workflow_start", json!({ "workflowId": "steps" }));
    let run = first["session"]["runId"].as_str().unwrap();
    let same = desk.run(&["runs", "migrate", run, "--json"], "").expect(0).json();
    assert_eq!(same["nodes"], json!([]));
    desk.write_workflow("steps.yaml", &STEPS.replace("Do two.", "Do two with care."));
    let moved = desk.run(&["runs", "migrate", run, "--json"], "").expect(0).json();
    assert_eq!(moved["nodes"].as_array().unwrap().len(), 1);
    assert_ne!(moved["from"], moved["to"]);
    let second = advance(&desk, &first, &json!({}));
    assert_eq!(second["pending"]["prompt"], "Do two with care.");
    fs::remove_file(desk.workflows().join("steps.yaml")).unwrap();
    let gone = desk.run(&["runs", "migrate", run], "");
    assert!(gone.code != 0 && gone.stderr.contains("--workflows"), "{gone:?}");
}

/// Commands for agents' runs are refused for other runs.
#[test]
fn a_run_of_the_engine_has_no_nodes() {
    let desk = DefinitionWorkspace::new();
    let run = desk.folder.start_waiting_review();
    let node = format!("nod_{}", "0".repeat(32));
    let refused = desk.folder.run_command(&["runs", "fork", &run, "--node", &node]).expect(2);
    assert!(refused.stderr.contains("--at"), "{refused:?}");
    let refused = desk.run(&["runs", "migrate", &run], "");
    assert!(refused.stderr.contains("no outside agent drives it"), "{refused:?}");
}
