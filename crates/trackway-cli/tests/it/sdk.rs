//! The official A2A clients, which know only the protocol: both generations, each binding that they
//! support.
//!
//! The clients are scripts in `tests/clients`. Each runs the same script against one agent and reports its
//! results; `client_script` checks them.

mod client;
mod client_script;
mod server;

use std::process::Command;

use serde_json::{Value, json};

use client::OfficialClient;
use client_script::ProtocolGeneration;
use server::SdkServer;

use crate::support::{python_client, run_client_to_end};

/// Runs one client over one binding against the agent `review`.
async fn review(client: OfficialClient, binding: &str) {
    let subject = SdkServer::start();
    let told = client.run_script(&subject.review_agent_url(), binding).await;
    client_script::check_reports(&told, client.generation());
}

/// Proves L8, L9.
#[tokio::test]
async fn python_1_0_over_json_rpc() {
    review(OfficialClient::Python1, "JSONRPC").await;
}

/// Proves L8, L9.
#[tokio::test]
async fn python_1_0_over_http_json() {
    review(OfficialClient::Python1, "HTTP+JSON").await;
}

/// Proves L8, L9: the agent is named by the tenant.
#[tokio::test]
async fn python_1_0_over_grpc() {
    review(OfficialClient::Python1, "GRPC").await;
}

/// Proves L8, L9.
#[tokio::test]
async fn javascript_1_0_over_json_rpc() {
    review(OfficialClient::JavaScript1, "JSONRPC").await;
}

/// Proves L8, L9.
#[tokio::test]
async fn javascript_1_0_over_http_json() {
    review(OfficialClient::JavaScript1, "HTTP+JSON").await;
}

/// Proves L8, L9: the agent is named by the tenant.
#[tokio::test]
async fn javascript_1_0_over_grpc() {
    review(OfficialClient::JavaScript1, "GRPC").await;
}

/// Proves L8, L9.
#[tokio::test]
async fn python_0_3_over_json_rpc() {
    review(OfficialClient::Python03, "JSONRPC").await;
}

/// Proves L8, L9.
#[tokio::test]
async fn python_0_3_over_http_json() {
    review(OfficialClient::Python03, "HTTP+JSON").await;
}

/// Proves L8, L9.
#[tokio::test]
async fn javascript_0_3_over_json_rpc() {
    review(OfficialClient::JavaScript03, "JSONRPC").await;
}

/// Proves L8, L9.
#[tokio::test]
async fn javascript_0_3_over_http_json() {
    review(OfficialClient::JavaScript03, "HTTP+JSON").await;
}

/// Sends an agent an input with integers, which this client turns into floats.
async fn integers(binding: &'static str) {
    let subject = SdkServer::start();
    let mut command = python_client("TRACKWAY_TEST_PYTHON_1_0", "integers_v1.py");
    command.args([&subject.agent_url("ledger"), binding, r#"{"entries": 2, "delayMs": 1}"#]);
    let (said, errors) = run_client_to_end(command).await;
    assert_eq!(said.trim(), "TASK_STATE_COMPLETED", "over {binding}: {errors}");
}

/// Proves L8, L14.
#[tokio::test]
async fn python_1_0_sends_integers_over_json_rpc() {
    integers("JSONRPC").await;
}

/// Proves L8, L14.
#[tokio::test]
async fn python_1_0_sends_integers_over_http_json() {
    integers("HTTP+JSON").await;
}

/// Proves L8, L14.
#[tokio::test]
async fn python_1_0_sends_integers_over_grpc() {
    integers("GRPC").await;
}

/// Runs one client over one binding against the default agent.
async fn default_agent(client: OfficialClient, binding: &str) {
    let subject = SdkServer::start();
    let told = client.run_script(&subject.default_agent_url(), binding).await;
    client_script::check_reports(&told, client.generation());
}

/// Proves L8, L9: gRPC of 0.3 knows no tenants.
#[tokio::test]
async fn python_0_3_over_grpc() {
    default_agent(OfficialClient::Python03, "GRPC").await;
}

/// Proves L8, L9: gRPC of 0.3 knows no tenants.
#[tokio::test]
async fn javascript_0_3_over_grpc() {
    default_agent(OfficialClient::JavaScript03, "GRPC").await;
}

/// Calls `onboarding` with a CSV file, once among the user's artifacts and once in the message, which
/// is written in the form of one generation.
///
/// The 0.3 clients cannot send a file in a message over HTTP+JSON: the JavaScript one drops its name, the
/// Python one encodes its content a second time. There the artifact alone is used.
async fn onboarding(command: impl Fn() -> Command, generation: ProtocolGeneration, binding: &'static str) {
    let subject = SdkServer::start();
    subject.save_artifact("saved.csv", "text/csv", "name,plan\nAnn,pro\n\"Bob, B\",\n").await;
    let content = "bmFtZQpBbm4KQm9iCg==";
    let (role, completed, text, sent) = match generation {
        ProtocolGeneration::V1 => (
            "ROLE_USER",
            "TASK_STATE_COMPLETED",
            json!({ "text": "Onboard these." }),
            json!({ "raw": content, "filename": "sent.csv", "mediaType": "text/csv" }),
        ),
        ProtocolGeneration::V03 => {
            let file = json!({ "bytes": content, "name": "sent.csv", "mimeType": "text/csv" });
            let text = json!({ "kind": "text", "text": "Onboard these." });
            ("user", "completed", text, json!({ "kind": "file", "file": file }))
        }
    };
    let mut calls = vec![("saved.csv", text, json!(["Ann", "Bob, B"]))];
    if (generation, binding) != (ProtocolGeneration::V03, "HTTP+JSON") {
        calls.push(("sent.csv", sent, json!(["Ann", "Bob"])));
    }
    for (filename, part, names) in calls {
        let mut message = json!({ "role": role, "contextId": "talk", "parts": [part],
            "metadata": { "sessionBehavior": "RUN_BASED",
                "invoked_with_artifacts": [{ "filename": filename, "version": 0 }] } });
        if generation == ProtocolGeneration::V03 {
            message["kind"] = "message".into();
        }
        let mut command = command();
        command.args([&subject.agent_url("onboarding"), binding, &message.to_string()]);
        let (said, errors) = run_client_to_end(command).await;
        let task: Value =
            serde_json::from_str(&said).unwrap_or_else(|_| panic!("{binding}: {said} {errors}"));
        assert_eq!(task["status"]["state"], completed, "{binding} {filename}: {task}");
        assert_eq!(task["metadata"]["output"]["names"], names, "{binding} {filename}");
        assert_eq!(task["metadata"]["linkedContextId"], "talk");
        assert_ne!(task["contextId"], "talk");
    }
}

/// Proves I5, I7: on every binding of the official client.
#[tokio::test]
async fn python_1_0_calls_a_workflow_with_an_artifact() {
    for binding in ["JSONRPC", "HTTP+JSON", "GRPC"] {
        let client = || python_client("TRACKWAY_TEST_PYTHON_1_0", "message_v1.py");
        onboarding(client, ProtocolGeneration::V1, binding).await;
    }
}

/// Proves I5, I7.
#[tokio::test]
async fn javascript_1_0_calls_a_workflow_with_an_artifact() {
    for binding in ["JSONRPC", "HTTP+JSON"] {
        let client = || client::node_client("TRACKWAY_TEST_JS_1_0", "message_v1.cjs");
        onboarding(client, ProtocolGeneration::V1, binding).await;
    }
}

/// Proves I5, I7: the older generation refers to artifacts in the same way.
#[tokio::test]
async fn python_0_3_calls_a_workflow_with_an_artifact() {
    for binding in ["JSONRPC", "HTTP+JSON"] {
        let client = || python_client("TRACKWAY_TEST_PYTHON", "message_v03.py");
        onboarding(client, ProtocolGeneration::V03, binding).await;
    }
}

/// Proves I5, I7.
#[tokio::test]
async fn javascript_0_3_calls_a_workflow_with_an_artifact() {
    for binding in ["JSONRPC", "HTTP+JSON"] {
        let client = || client::node_client("TRACKWAY_TEST_JS_0_3", "message_v03.cjs");
        onboarding(client, ProtocolGeneration::V03, binding).await;
    }
}
