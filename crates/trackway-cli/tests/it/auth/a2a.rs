//! The same keys on the A2A door.

use serde_json::{Value, json};

use super::auth_workspace::{AuthWorkspace, HttpAnswer, REQUIRED, get, post};
use crate::support::ServerUnderTest;

/// One call of protocol 0.3 to an agent.
async fn call(
    server: &ServerUnderTest,
    bearer: impl Into<Option<&str>>,
    agent: &str,
    method: &str,
    params: Value,
) -> HttpAnswer {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    post(server, bearer, &format!("/a2a/agents/{agent}"), body).await
}

fn message(id: &str, part: &Value) -> Value {
    json!({
        "message": { "role": "user", "messageId": id, "parts": [part] },
        "configuration": { "blocking": true },
    })
}

/// Proves X6: no or a wrong key is 401, a missing scope 403; cards are public.
#[tokio::test]
async fn agents_ask_for_a_key_and_cards_do_not() {
    let site = AuthWorkspace::new(REQUIRED);
    let server = site.serve();
    let hello = message("m1", &json!({ "kind": "text", "text": "hello" }));
    for bearer in [None, Some("tw_wrong")] {
        let refused = call(&server, bearer, "echo", "message/send", hello.clone()).await;
        assert_eq!(refused.status, 401, "{refused:?}");
        assert!(refused.headers.contains_key("www-authenticate"), "{refused:?}");
    }
    let other = site.create_key("acme", &["agent:review:call"]);
    let refused = call(&server, &*other, "echo", "message/send", hello.clone()).await;
    assert_eq!(refused.status, 403, "{refused:?}");
    for scope in ["agent:ec*:call", "workflow:echo:run", "*"] {
        let key = site.create_key("acme", &[scope]);
        let sent = call(&server, &*key, "echo", "message/send", hello.clone()).await.expect_success();
        assert_eq!(sent["result"]["status"]["state"], "completed", "{sent}");
    }
    for path in ["/a2a/agents", "/a2a/agents/echo/.well-known/agent-card.json"] {
        assert_eq!(get(&server, None, path).await.status, 200, "{path}");
    }
}

/// Proves X6: a task of another tenant does not exist, and message ids of two tenants do not collide.
#[tokio::test]
async fn tasks_of_another_tenant_do_not_exist() {
    let site = AuthWorkspace::new(REQUIRED);
    let server = site.serve();
    let (acme, bolt) = (site.create_key("acme", &["*"]), site.create_key("bolt", &["*"]));
    let subject = message("m1", &json!({ "kind": "data", "data": { "subject": "x" } }));
    let task = call(&server, &*acme, "review", "message/send", subject.clone()).await.expect_success();
    let id = task["result"]["id"].clone();
    assert_eq!(task["result"]["status"]["state"], "input-required", "{task}");
    for method in ["tasks/get", "tasks/cancel", "GetTask", "CancelTask", "SubscribeToTask"] {
        let params = json!({ "id": id });
        let refused = call(&server, &*bolt, "review", method, params).await;
        // As JSON, or as the one event of a stream.
        let said = refused.body.as_str().map_or(refused.body.to_string(), str::to_owned);
        assert!(said.contains(r#""code":-32001"#), "{method}: {said}");
    }
    let mut answer = message("m2", &json!({ "kind": "data", "data": { "confirmed": true } }));
    answer["message"]["taskId"] = id.clone();
    let refused = call(&server, &*bolt, "review", "message/send", answer.clone()).await;
    assert_eq!(refused.body["error"]["code"], -32001, "{refused:?}");
    let own = call(&server, &*bolt, "review", "message/send", subject).await.expect_success();
    assert_ne!(own["result"]["id"], id, "{own}");
    let done = call(&server, &*acme, "review", "message/send", answer).await.expect_success();
    assert_eq!(done["result"]["status"]["state"], "completed", "{done}");
}
