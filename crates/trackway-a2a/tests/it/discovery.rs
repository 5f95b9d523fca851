//! Agent discovery, and unknown addresses.

use axum::{
    body::Body,
    http::{Request, StatusCode},
};
use serde_json::json;

use crate::test_server::{TestServer, text_message};

#[tokio::test]
async fn the_list_names_every_workflow_with_its_addresses() {
    let site = TestServer::new();
    for path in ["/a2a/agents", "/a2a/agents/"] {
        let reply = site.get(path).await;
        assert_eq!(reply.status, StatusCode::OK);
        let agents = reply.body["agents"].as_array().unwrap();
        assert_eq!(agents.len(), 2);
        assert_eq!(
            agents[1],
            json!({
                "name": "script", "kind": "workflow", "description": "Does what its text says.",
                "url": "http://door.example:1/a2a/agents/script",
                "cardUrl": "http://door.example:1/a2a/agents/script/.well-known/agent-card.json",
            })
        );
    }
}

#[tokio::test]
async fn a_card_leads_to_an_address_that_answers() {
    let site = TestServer::new();
    let card = site.get("/a2a/agents/script/.well-known/agent-card.json").await;
    assert_eq!(card.status, StatusCode::OK);
    assert_eq!(card.body["protocolVersion"], "0.3.0");
    let same = site.get("/a2a/agents/script/.well-known/agent-card.json/").await;
    assert_eq!((same.status, &same.body), (StatusCode::OK, &card.body));
    let url = card.body["url"].as_str().unwrap();
    for url in [url.to_owned(), format!("{url}/")] {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "message/send",
            "params": {"message": text_message(&url, "hello")}});
        let request = Request::post(&url).header("content-type", "application/json");
        let reply = site.send_for_json(request.body(Body::from(body.to_string())).unwrap()).await;
        assert_eq!(reply.body["result"]["kind"], "task", "{url}");
    }
}

/// Proves X5.
#[tokio::test]
async fn unknown_agents_are_json_errors() {
    let site = TestServer::new();
    for name in ["nobody", "Script", "script%20", "..%2f..", "%FF", "%00", "%C3%A9cho"] {
        let reply = site.get(&format!("/a2a/agents/{name}/.well-known/agent-card.json")).await;
        assert_eq!(reply.status, StatusCode::NOT_FOUND, "{name}");
        assert_eq!(reply.body["error"]["code"], "unknown-workflow", "{name}");
        assert_eq!(reply.body["error"]["known"], json!(["other", "script"]));
        let request = crate::test_server::rpc_request(name, "tasks/get", &json!({"id": "x"}), &[]);
        let reply = site.send_for_json(request).await;
        assert_eq!(reply.status, StatusCode::NOT_FOUND, "{name}");
        assert_eq!(reply.body["id"], "req-1");
        let error = &reply.body["error"];
        assert_eq!(
            (&error["code"], &error["data"]["code"]),
            (&json!(-32601), &json!("unknown-workflow")),
            "{name}"
        );
    }
}

/// Proves X5.
#[tokio::test]
async fn other_methods_get_an_allow_header() {
    let site = TestServer::new();
    for (method, path, allow) in [
        ("GET", "/a2a/agents/script", "POST"),
        ("DELETE", "/a2a/agents/script/", "POST"),
        ("POST", "/a2a/agents", "GET,HEAD"),
        ("PUT", "/a2a/agents/script/.well-known/agent-card.json", "GET,HEAD"),
    ] {
        let request = Request::builder().method(method).uri(path).body(Body::empty()).unwrap();
        let reply = site.send_for_json(request).await;
        assert_eq!(reply.status, StatusCode::METHOD_NOT_ALLOWED, "{method} {path}");
        assert_eq!(reply.headers["allow"], allow);
        assert!(reply.body["error"]["next"].is_string());
    }
}
