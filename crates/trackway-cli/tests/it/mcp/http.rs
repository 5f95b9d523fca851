//! Workflows over Streamable HTTP: the Python client of both revisions, and the inspector.

use std::process::Command;

use serde_json::{Value, json};

use super::{
    client::{ConfirmationReply, McpTestClient, ProtocolRevision},
    mcp_workspace::{McpWorkspace, prompt_step, three_step_workflow, workflow_definition},
};
use crate::support::{ServerUnderTest, prepared_path, trackway_command};

fn serve(shop: &McpWorkspace) -> ServerUnderTest {
    ServerUnderTest::start_with_args(&shop.data(), &["--workflows", shop.workflows()])
}

/// Proves T1, T4, T6 over HTTP in both revisions: start, advance, replay, branch, look, checkpoint.
#[test]
fn the_contract_holds_over_http() {
    let shop = McpWorkspace::with_workflows(&[three_step_workflow()]);
    let server = ServerUnderTest::start_with_args(
        &shop.data(),
        &["--workflows", shop.workflows(), "--checkpoints", "on"],
    );
    let url = format!("{}/mcp", server.url);
    for (era, protocol) in
        [(ProtocolRevision::Newest, "2026-07-28"), (ProtocolRevision::Legacy, "2025-11-25")]
    {
        let mut agent = McpTestClient::http(era, ConfirmationReply::Unasked, &url);
        assert_eq!(agent.protocol, protocol);
        assert_eq!(agent.tools().len(), 6);
        let start = agent.start_run("three", json!({}));
        let second = agent.advance(&start, json!({ "notesMarkdown": "n" }));
        assert_eq!(
            agent.advance(&start, json!({ "notesMarkdown": "n" })).text_and_json(),
            second.text_and_json()
        );
        let other = agent.advance(&start, json!({ "notesMarkdown": "m" }));
        assert_eq!(other.json["branch"]["forked"], true);
        assert_eq!(agent.look(&start.state_token()).step_id(), "first");
        assert!(!agent.checkpoint(&second.state_token(), "notes").is_error);
        assert_eq!(agent.start_run("three", json!([1])).error_code(), "invalid-request");
        let third = agent.advance(&second, json!({}));
        assert!(agent.advance(&third, json!({})).is_complete());
        // A token from one transport is valid on the other.
        assert_eq!(
            shop.connect().advance(&start, json!({ "notesMarkdown": "n" })).text_and_json(),
            second.text_and_json()
        );
    }
}

/// Proves T9, X6 over HTTP in both revisions: declining or cancelling blocks the step, accepting advances.
#[test]
fn a_person_is_asked_over_http() {
    let mut first = prompt_step("first");
    first["requireConfirmation"] = true.into();
    let shop = McpWorkspace::with_workflows(&[workflow_definition(
        "careful",
        json!([first, prompt_step("second")]),
    )]);
    let server = serve(&shop);
    let url = format!("{}/mcp", server.url);
    for era in [ProtocolRevision::Newest, ProtocolRevision::Legacy] {
        for unwilling in [ConfirmationReply::Declines, ConfirmationReply::Cancels] {
            let mut agent = McpTestClient::http(era, unwilling, &url);
            let start = agent.start_run("careful", json!({}));
            let blocked = agent.advance(&start, json!({}));
            assert_eq!(blocked.blocked_code(), "confirmation-declined", "{era:?} {unwilling:?}");
            let mut agent = McpTestClient::http(era, ConfirmationReply::Accepts, &url);
            let second = agent.advance(&blocked, json!({}));
            assert_eq!((second.step_id(), second.asked.len()), ("second", 1));
        }
    }
}

/// The inspector's command line on a server, which prints the answer.
fn inspector(url: &str, args: &[&str]) -> Value {
    let folder = prepared_path("TRACKWAY_TEST_MCP_JS");
    let packages = format!("{folder}/node_modules");
    let script = format!("{packages}/@modelcontextprotocol/inspector/clients/launcher/build/index.js");
    let output = Command::new(format!("{packages}/node/bin/node"))
        .args([&*script, "--cli", url, "--transport", "http"])
        .args(args)
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    serde_json::from_str(&said).unwrap_or_else(|_| panic!("{args:?} told\n{said}\n{errors}"))
}

/// Proves T1 over HTTP with the inspector: list, start, advance.
#[test]
fn the_inspector_lists_starts_and_advances() {
    let shop = McpWorkspace::with_workflows(&[three_step_workflow()]);
    let server = serve(&shop);
    let url = format!("{}/mcp", server.url);
    let tools = inspector(&url, &["--method", "tools/list"]);
    assert_eq!(tools["tools"].as_array().unwrap().len(), 5, "{tools}");
    let call = |tool: &str, args: &[String]| {
        let mut words = vec!["--method", "tools/call", "--tool-name", tool];
        for arg in args {
            words.extend(["--tool-arg", arg]);
        }
        let told = inspector(&url, &words);
        told["structuredContent"].clone()
    };
    let list = call("workflow_list", &[]);
    assert_eq!(list["workflows"][0]["workflowId"], "three", "{list}");
    let start = call("workflow_start", &["workflowId=three".to_owned()]);
    assert_eq!(start["pending"]["stepId"], "first", "{start}");
    let token = |name: &str| format!("{name}={}", start[name].as_str().unwrap());
    let pair = [token("stateToken"), token("ackToken")];
    let second = call("workflow_advance", &pair);
    assert_eq!(second["pending"]["stepId"], "second", "{second}");
    assert_eq!(call("workflow_advance", &pair), second, "a replay");
    let unknown = call("workflow_start", &["workflowId=thre".to_owned()]);
    assert_eq!(unknown["error"]["code"], "unknown-workflow", "{unknown}");
}

/// A first message to the door, with these headers.
async fn post(url: &str, headers: &[(&str, &str)]) -> u16 {
    let params = json!({
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    });
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
    let accept = "application/json, text/event-stream";
    let mut request = crate::support::http_client().post(url).header("accept", accept).json(&hello);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.send().await.unwrap().status().as_u16()
}

/// Proves X6: a page of another site is refused, one of this machine is not.
#[tokio::test]
async fn a_foreign_origin_is_refused() {
    let shop = McpWorkspace::with_workflows(&[three_step_workflow()]);
    let server = serve(&shop);
    let url = format!("{}/mcp", server.url);
    assert_eq!(post(&url, &[]).await, 200);
    assert_eq!(post(&url, &[("origin", &server.url)]).await, 200);
    assert_eq!(post(&url, &[("origin", "http://localhost:6274")]).await, 200);
    for origin in ["https://evil.example", "null", "http://localhost.evil.example", ""] {
        let status = post(&url, &[("origin", origin)]).await;
        assert!((400..500).contains(&status), "{origin:?}: {status}");
    }
    let status = post(&url, &[("host", "evil.example")]).await;
    assert!((400..500).contains(&status), "another host: {status}");
}

/// Proves X6 for this door: if keys are required, nothing is answered without one, and runs belong to the
/// caller that started them.
#[tokio::test]
async fn a_key_is_needed_where_keys_are_required() {
    let shop = McpWorkspace::with_workflows(&[three_step_workflow()]);
    let workspace = shop.path().to_str().unwrap();
    std::fs::write(shop.path().join("trackway.toml"), "[auth]\nrequired = true\n").unwrap();
    let key = |tenant: &str| {
        let args = ["keys", "create", "--tenant", tenant, "--user", "u", "--scope", "*"];
        let created = trackway_command(&args).env("TRACKWAY_DATA", shop.data()).run_to_end("").expect(0);
        created.stdout.trim_end().to_owned()
    };
    let (ann, bob) = (key("ann"), key("bob"));
    let server = ServerUnderTest::start_with_env(&shop.data(), &[("TRACKWAY_WORKSPACE", workspace)]);
    let url = format!("{}/mcp", server.url);
    assert_eq!(post(&url, &[]).await, 401);
    assert_eq!(post(&url, &[("authorization", "Bearer wrong")]).await, 401);
    assert_eq!(post(&url, &[("authorization", &format!("Bearer {ann}"))]).await, 200);
    let call = async |key: &str, name: &str, arguments: Value| {
        let call = json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {
                "name": name, "arguments": arguments,
                "_meta": {
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
                    "io.modelcontextprotocol/clientCapabilities": {},
                },
            },
        });
        let request = crate::support::http_client()
            .post(&url)
            .bearer_auth(key)
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", "tools/call")
            .header("mcp-name", name)
            .json(&call);
        let body: Value = request.send().await.unwrap().json().await.unwrap();
        assert!(body["result"].is_object(), "{body}");
        body["result"]["structuredContent"].clone()
    };
    let start = call(&ann, "workflow_start", json!({ "workflowId": "three" })).await;
    assert_eq!(start["pending"]["stepId"], "first", "{start}");
    let pair = json!({ "stateToken": start["stateToken"], "ackToken": start["ackToken"] });
    let stolen = call(&bob, "workflow_advance", pair.clone()).await;
    assert_eq!(stolen["error"]["code"], "unknown-run", "{stolen}");
    let second = call(&ann, "workflow_advance", pair).await;
    assert_eq!(second["pending"]["stepId"], "second", "{second}");
}
