//! The official A2A clients, which know nothing of us but the protocol: both generations, each binding
//! that they support.
//!
//! The clients are scripts in `tests/clients`. Each runs the same course against one agent and tells what
//! it saw; `course` says what that must have been.

mod client;
mod course;
mod server;

use client::Client;
use course::{Course, Generation};
use server::Subject;

/// Runs one client over one binding against `review`, which is told everything as data.
async fn review(client: Client, binding: &str) {
    let subject = Subject::start();
    let told = client.run(&subject.agent("review"), binding, course::REVIEW).await;
    course::judge(&told, course::REVIEW, client.generation());
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

/// Runs one client of 0.3 over gRPC, which has no tenants: it reaches the default agent.
async fn subject(client: Client) {
    let subject = Subject::start();
    let told = client.run(&subject.agent("tck"), "GRPC", course::SCRIPTED).await;
    course::judge(&told, course::SCRIPTED, client.generation());
}

/// Proves L2, L8, L9.
#[tokio::test]
async fn python_0_3_over_grpc() {
    subject(Client::Python03).await;
}

/// Proves L2, L8, L9.
#[tokio::test]
async fn javascript_0_3_over_grpc() {
    subject(Client::JavaScript03).await;
}
