//! Which callers are allowed, on both bindings.

use std::sync::Arc;

use axum::http::StatusCode;
use serde_json::{Value, json};
use trackway_a2a::Options;
use trackway_domain::{Caller, Scopes};
use trackway_ports::{Authenticator, Credentials, Identity, PortFuture, Unauthenticated};

use super::bindings::{TestBinding, V1, WAYS, text_message};
use crate::test_server::TestServer;

const AT: &str = "/a2a/agents/script";

/// Knows two tenants, and a caller of the first tenant that may use only another workflow.
#[derive(Debug)]
struct Keys {
    /// Callers without a key are admitted as well.
    optional: bool,
}

impl Authenticator for Keys {
    fn authenticate<'a>(
        &'a self,
        credentials: Credentials<'a>,
    ) -> PortFuture<'a, Result<Identity, Unauthenticated>> {
        let known = |tenant: &str, scopes: Scopes| Ok(Identity::new(Caller::new(tenant, "somebody"), scopes));
        let identified = match credentials.bearer {
            None if self.optional => Ok(Identity::local_user()),
            None => Err(Unauthenticated::Missing),
            Some("alice") => known("a", Scopes::all_workflows_and_agents()),
            Some("bob") => known("b", Scopes::all_workflows_and_agents()),
            Some("weak") => known("a", Scopes::new(["workflow:other:run"]).unwrap()),
            Some("run") => known("a", Scopes::new(["workflow:script:run"]).unwrap()),
            Some("call") => known("a", Scopes::new(["agent:script:call"]).unwrap()),
            Some("later") => Err(Unauthenticated::Unavailable { reason: "secret detail".into() }),
            Some(_) => Err(Unauthenticated::Wrong { reason: "the key is not known".into() }),
        };
        Box::pin(std::future::ready(identified))
    }
}

fn secured_server() -> TestServer {
    server_with_keys(Keys { optional: false })
}

fn server_with_keys(keys: Keys) -> TestServer {
    TestServer::with_options(Options {
        default_agent: Some("script".to_owned()),
        secured: !keys.optional,
        gatekeeper: Some(Arc::new(keys)),
        extended_card: true,
        ..Options::default()
    })
}

async fn call_with_key(
    site: &TestServer,
    way: TestBinding,
    key: &str,
    method: &str,
    params: Value,
) -> Result<Value, super::bindings::RefusedCall> {
    let bearer = format!("Bearer {key}");
    let mut headers = vec![V1];
    if !key.is_empty() {
        headers.push(("authorization", &bearer));
    }
    site.call_v1_at(way, AT, method, &params, &headers).await.map(|(result, _)| result)
}

/// Proves X6: unknown callers are refused before anything else is checked.
#[tokio::test]
async fn calls_without_a_valid_key_are_refused() {
    for way in WAYS {
        let site = secured_server();
        for key in ["", "mallory"] {
            for (method, params) in [
                ("SendMessage", json!({"message": text_message("m-1", "hello")})),
                ("SendMessage", json!({"message": "nonsense"})),
                ("SendStreamingMessage", json!({"message": text_message("m-1", "hello")})),
                ("GetTask", json!({"id": "nope"})),
                ("ListTasks", json!({})),
                ("CancelTask", json!({"id": "nope"})),
                ("SubscribeToTask", json!({"id": "nope"})),
                ("ListTaskPushNotificationConfigs", json!({"taskId": "nope"})),
                ("GetExtendedAgentCard", json!({})),
            ] {
                let refused = call_with_key(&site, way, key, method, params).await.unwrap_err();
                assert_eq!(refused.status, StatusCode::UNAUTHORIZED, "{way:?} {key} {method}");
                assert_eq!(refused.headers["www-authenticate"], "Bearer");
                assert_eq!(refused.code, if way == TestBinding::Rpc { -32600 } else { 401 });
                assert_eq!(refused.details()[0]["code"], "unauthenticated");
            }
        }
        assert_eq!(call_with_key(&site, way, "alice", "ListTasks", json!({})).await.unwrap()["totalSize"], 0);
    }
}

/// Proves X6.
#[tokio::test]
async fn a_key_needs_the_scope_of_the_workflow() {
    for way in WAYS {
        let site = secured_server();
        let refused = call_with_key(&site, way, "weak", "ListTasks", json!({})).await.unwrap_err();
        assert_eq!(refused.status, StatusCode::FORBIDDEN);
        assert_eq!(refused.code, if way == TestBinding::Rpc { -32600 } else { 403 });
        assert_eq!(refused.details()[0]["code"], "forbidden");
        assert_eq!(refused.headers.get("www-authenticate"), None);
        for key in ["run", "call"] {
            assert!(call_with_key(&site, way, key, "ListTasks", json!({})).await.is_ok(), "{way:?} {key}");
        }
        let refused = call_with_key(&site, way, "later", "ListTasks", json!({})).await.unwrap_err();
        assert_eq!(refused.code, if way == TestBinding::Rpc { -32603 } else { 500 });
        assert!(!refused.error.to_string().contains("secret detail"), "no leak of internals");
    }
}

/// Proves X6: a task of another tenant does not exist for the caller.
#[tokio::test]
async fn tasks_of_another_tenant_are_not_found() {
    for way in WAYS {
        let site = secured_server();
        let sent =
            call_with_key(&site, way, "alice", "SendMessage", json!({"message": text_message("m-1", "ask")}));
        let task = sent.await.unwrap()["task"].clone();
        let id = json!({"id": task["id"]});
        let answer = json!({"message": super::bindings::data_answer("m-2", &task, &json!({"amount": 1}))});
        for (method, params) in [
            ("GetTask", id.clone()),
            ("CancelTask", id.clone()),
            ("SubscribeToTask", id.clone()),
            ("SendMessage", answer),
        ] {
            let refused = call_with_key(&site, way, "bob", method, params).await.unwrap_err();
            assert_eq!(refused.reason(), "TASK_NOT_FOUND", "{way:?} {method}");
        }
        assert_eq!(call_with_key(&site, way, "bob", "ListTasks", json!({})).await.unwrap()["totalSize"], 0);
        assert_eq!(call_with_key(&site, way, "alice", "GetTask", id).await.unwrap(), task);
        // The same context id is a different context for another tenant.
        let mut same = text_message("m-3", "5");
        same["contextId"] = task["contextId"].clone();
        let own = call_with_key(&site, way, "bob", "SendMessage", json!({"message": same})).await.unwrap();
        assert_ne!(own["task"]["id"], task["id"]);
    }
}

/// Proves X6: the card requires a key, and only the extended card lists the scope.
#[tokio::test]
async fn cards_say_that_a_key_is_needed() {
    for way in WAYS {
        let site = secured_server();
        let card = site.get("/a2a/agents/script/.well-known/agent-card.json").await.body;
        assert_eq!(card["securityRequirements"], json!([{"schemes": {"bearer": {}}}]));
        assert_eq!(card["security"], json!([{"bearer": []}]));
        let extended = call_with_key(&site, way, "alice", "GetExtendedAgentCard", json!({})).await.unwrap();
        let scope = json!({"list": ["workflow:script:run"]});
        assert_eq!(extended["securityRequirements"], json!([{"schemes": {"bearer": scope}}]));
    }
}

/// Proves X6: the extended card needs a key even if nothing else does, in both generations.
#[tokio::test]
async fn extended_card_needs_a_key() {
    for way in WAYS {
        let site = server_with_keys(Keys { optional: true });
        assert!(call_with_key(&site, way, "", "ListTasks", json!({})).await.is_ok(), "{way:?}");
        let refused = call_with_key(&site, way, "", "GetExtendedAgentCard", json!({})).await.unwrap_err();
        assert_eq!(refused.status, StatusCode::UNAUTHORIZED, "{way:?}");
        assert_eq!(refused.details()[0]["code"], "unauthenticated");
        assert!(call_with_key(&site, way, "alice", "GetExtendedAgentCard", json!({})).await.is_ok());
    }
    let site = server_with_keys(Keys { optional: true });
    let method = "agent/getAuthenticatedExtendedCard";
    let key = ("authorization", "Bearer alice");
    let headers = [("a2a-version", "0.3"), key];
    let (card, _) = site.call_v1_at(TestBinding::Rpc, AT, method, &json!({}), &headers).await.unwrap();
    assert_eq!(card["supportsAuthenticatedExtendedCard"], true);
    let refused = site.call_v1_at(TestBinding::Rpc, AT, method, &json!({}), &headers[..1]).await.unwrap_err();
    assert_eq!(refused.status, StatusCode::UNAUTHORIZED);
}

/// Proves X6: permissions are checked for the addressed agent, even if the rest of the request is
/// invalid.
#[tokio::test]
async fn authorization_is_checked_before_parameters() {
    let headers = [V1, ("authorization", "Bearer weak")];
    for way in WAYS {
        let site = secured_server();
        for (method, mut params) in
            [("SendMessage", json!({"message": "nonsense"})), ("ListTasks", json!({"pageSize": "many"}))]
        {
            let refused = site.call_v1_at(way, "/a2a", method, &params, &headers).await.unwrap_err();
            assert_eq!(refused.status, StatusCode::FORBIDDEN, "{way:?} {method}");
            params["tenant"] = json!("other");
            let refused = site.call_v1_at(way, "/a2a", method, &params, &headers).await.unwrap_err();
            assert_eq!(refused.code, if way == TestBinding::Rpc { -32602 } else { 400 }, "{method}");
        }
    }
}
