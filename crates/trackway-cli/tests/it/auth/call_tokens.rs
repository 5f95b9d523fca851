//! Calls between nodes: whose runs they are.

use std::{path::Path, sync::Arc};

use serde_json::json;
use trackway_domain::{CallChain, Caller};
use trackway_mesh::CallTokenSigner;
use trackway_runtime::SystemClock;
use trackway_sqlite::FolderKeys;

use super::auth_workspace::{AuthWorkspace, HttpAnswer, REQUIRED, get};
use crate::support::{ServerUnderTest, TestFolder};

/// A call of a node to the agent `echo`, for this caller.
async fn call_for(server: &ServerUnderTest, key: &str, node: &Path, url: &str, caller: Caller) -> HttpAnswer {
    let signer = CallTokenSigner::in_store(Arc::new(FolderKeys::in_folder(node)), Arc::new(SystemClock));
    let chain = CallChain { depth: 1, ancestors: vec!["http://127.0.0.1:1/a2a/agents/orders".to_owned()] };
    let token = signer.sign_call(url, &caller, &chain).await.unwrap();
    // The signature is another one for every call.
    let message = &token[token.len() - 32..];
    let params = json!({
        "message": { "role": "user", "messageId": message, "parts": [{ "kind": "text", "text": "hi" }] },
        "configuration": { "blocking": true },
    });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "message/send", "params": params });
    let request = server.http.post(format!("{}/a2a/agents/echo", server.url)).bearer_auth(key);
    let response = request.header("Trackway-Call", token).json(&body).send().await.unwrap();
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    HttpAnswer { status, headers, body: response.json().await.unwrap() }
}

/// Proves X6: the caller of a trusted node is believed within the tenant of the node's key, at the node that
/// the call is for, and the key's scopes hold.
#[tokio::test]
async fn a_trusted_node_calls_for_the_users_of_its_tenant() {
    let (node, other) = (TestFolder::new(), TestFolder::new());
    let public_key = node.run_command(&["peers", "key"]).expect(0).stdout.trim().to_owned();
    assert!(public_key.starts_with("ed25519:"), "{public_key}");
    let json = node.run_command(&["peers", "key", "--json"]).expect(0).json();
    assert_eq!(json["publicKey"], public_key, "the key stays the same");
    let site = AuthWorkspace::new(&format!("{REQUIRED}[mesh]\ntrust = [{public_key:?}]\n"));
    let server = site.serve();
    let node_key = site.create_key_for_user("acme", "orders-node", &["workflow:echo:run"]);
    let ann = site.create_key_for_user("acme", "ann", &["*"]);
    let eve = site.create_key_for_user("bolt", "eve", &["*"]);
    let here = format!("{}/a2a/agents/echo", server.url);
    let elsewhere = "http://127.0.0.1:9/a2a/agents/echo";
    let table = [
        ("trusted", node.data_path(), &*here, Caller::new("acme", "ann"), &ann),
        ("another tenant", node.data_path(), &*here, Caller::new("bolt", "eve"), &node_key),
        ("another node's token", node.data_path(), elsewhere, Caller::new("acme", "ann"), &node_key),
        ("untrusted", other.data_path(), &*here, Caller::new("acme", "ann"), &node_key),
    ];
    for (what, folder, url, caller, owner) in table {
        let sent = call_for(&server, &node_key, &folder, url, caller).await.expect_success();
        let run = sent["result"]["id"].as_str().unwrap_or_else(|| panic!("{what}: {sent}")).to_owned();
        for key in [&node_key, &ann, &eve] {
            let status = get(&server, &**key, &format!("/api/runs/{run}")).await.status;
            assert_eq!(status, if key == owner { 200 } else { 404 }, "{what}");
        }
    }
    let limited = site.create_key_for_user("acme", "orders-node", &["workflow:review:run"]);
    let refused = call_for(&server, &limited, &node.data_path(), &here, Caller::new("acme", "ann")).await;
    assert_eq!(refused.status, 403, "{refused:?}");
    let audit = get(&server, &*ann, "/api/audit").await.expect_success();
    assert_eq!(audit["items"][0]["user"], "ann", "{audit}");
}
