//! The official A2A clients, which know nothing of us but the protocol: both generations, each binding
//! that they support.
//!
//! The clients are scripts in `tests/clients`. Each runs the same course against one agent and tells what
//! it saw; `course` says what that must have been.

mod client;
mod course;
mod server;

use client::Client;
use server::Subject;

use crate::support::{output_of, python};

/// Runs one client over one binding against the agent `review`.
async fn review(client: Client, binding: &str) {
    let subject = Subject::start();
    let told = client.run(&subject.review(), binding).await;
    course::judge(&told, client.generation());
}

/// Proves L8, L9.
#[tokio::test]
async fn python_1_0_over_json_rpc() {
    review(Client::Python1, "JSONRPC").await;
}

/// Proves L8, L9.
#[tokio::test]
async fn python_1_0_over_http_json() {
    review(Client::Python1, "HTTP+JSON").await;
}

/// Proves L8, L9: the agent is named by the tenant.
#[tokio::test]
async fn python_1_0_over_grpc() {
    review(Client::Python1, "GRPC").await;
}

/// Proves L8, L9.
#[tokio::test]
async fn javascript_1_0_over_json_rpc() {
    review(Client::JavaScript1, "JSONRPC").await;
}

/// Proves L8, L9.
#[tokio::test]
async fn javascript_1_0_over_http_json() {
    review(Client::JavaScript1, "HTTP+JSON").await;
}

/// Proves L8, L9: the agent is named by the tenant.
#[tokio::test]
async fn javascript_1_0_over_grpc() {
    review(Client::JavaScript1, "GRPC").await;
}

/// Proves L8, L9.
#[tokio::test]
async fn python_0_3_over_json_rpc() {
    review(Client::Python03, "JSONRPC").await;
}

/// Proves L8, L9.
#[tokio::test]
async fn python_0_3_over_http_json() {
    review(Client::Python03, "HTTP+JSON").await;
}

/// Proves L8, L9.
#[tokio::test]
async fn javascript_0_3_over_json_rpc() {
    review(Client::JavaScript03, "JSONRPC").await;
}

/// Proves L8, L9.
#[tokio::test]
async fn javascript_0_3_over_http_json() {
    review(Client::JavaScript03, "HTTP+JSON").await;
}

/// Sends an agent an input with integers, which this client makes floats of.
async fn integers(binding: &'static str) {
    let subject = Subject::start();
    let mut command = python("TRACKWAY_TEST_PYTHON_1_0", "integers_v1.py");
    command.args([&subject.agent("ledger"), binding, r#"{"entries": 2, "delayMs": 1}"#]);
    let (said, errors) = output_of(command).await;
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

/// Runs one client over one binding against the agent that is there where none is named.
async fn default_agent(client: Client, binding: &str) {
    let subject = Subject::start();
    let told = client.run(&subject.default_agent(), binding).await;
    course::judge(&told, client.generation());
}

/// Proves L8, L9: gRPC of 0.3 knows no tenants.
#[tokio::test]
async fn python_0_3_over_grpc() {
    default_agent(Client::Python03, "GRPC").await;
}

/// Proves L8, L9: gRPC of 0.3 knows no tenants.
#[tokio::test]
async fn javascript_0_3_over_grpc() {
    default_agent(Client::JavaScript03, "GRPC").await;
}
