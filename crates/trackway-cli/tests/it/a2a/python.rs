//! The official Python client, which knows nothing of us but the protocol.

use std::process::Command;

use serde_json::{Value, json};

use super::support::Server;
use crate::support::prepared;

/// Kind, state and whether it was the last, of every event.
fn shape(stream: &Value) -> Vec<String> {
    let short = |event: &Value| match event["kind"].as_str().unwrap() {
        "task" => "task".to_owned(),
        "artifact-update" => format!("+{}", event["artifact"].as_str().unwrap()),
        _ if event["final"] == true => format!("{}!", event["state"].as_str().unwrap()),
        _ => event["state"].as_str().unwrap().to_owned(),
    };
    stream.as_array().unwrap().iter().map(short).collect()
}

/// Proves L2, L3, L5, L6, L9, L10.
#[tokio::test]
async fn the_official_client_invests_from_start_to_receipt() {
    let server = Server::start();
    let url = server.url("/a2a/agents/invest");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/a2a/invest_client.py");
    let mut client = Command::new(prepared("TRACKWAY_TEST_PYTHON"));
    client.args([script, &url]);
    let output = tokio::task::spawn_blocking(move || client.output().unwrap()).await.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();

    assert_eq!(told["card"], json!({ "name": "invest", "url": url, "streaming": true }));
    let [start, form, signature] = [0, 1, 2].map(|index| &told["streams"][index]);
    assert_eq!(
        shape(start),
        ["task", "working", "working", "+investment-form-preview.json", "input-required"]
    );
    assert_eq!(start[2]["text"], "Found 3 yield opportunities:");
    assert_eq!(start[2]["data"]["opportunities"][2], json!({ "protocol": "Yearn", "apy": 6.1 }));
    assert_eq!(start[4]["schema"]["required"], json!(["walletAddress", "amount"]));
    assert_eq!(shape(form), ["task", "working", "auth-required"]);
    let lone = json!({ "concurrentRequest": false, "requestOrder": 1, "primaryResume": true });
    assert_eq!(form[1]["metadata"], lone);
    assert_eq!(form[2]["text"], "Please sign the investment of 7.5");
    assert_eq!(form[2]["schema"]["required"], json!(["signature"]));
    assert_eq!(shape(signature), ["task", "working", "+receipt.json", "completed!"]);
    assert_eq!(told["state"], "completed");

    let artifacts = told["artifacts"].as_array().unwrap();
    let ids: Vec<_> = artifacts.iter().map(|artifact| artifact["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["investment-form-preview.json", "receipt.json"]);
    let receipt = &artifacts[1]["data"];
    assert_eq!(
        *receipt,
        json!({ "walletAddress": "0x123", "amount": 7.5, "signature": "signed in Python",
            "transaction": receipt["transaction"] })
    );
    assert!(receipt["transaction"].is_string());
}
