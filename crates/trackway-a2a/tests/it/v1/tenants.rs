//! One address for several agents: a tenant names the agent.

use axum::{
    body::Body,
    http::{Request, StatusCode},
};
use serde_json::{Value, json};
use trackway_a2a::Options;

use super::bindings::{TestBinding, V1, WAYS, text_message};
use crate::test_server::TestServer;

fn site() -> TestServer {
    TestServer::with_options(Options { default_agent: Some("script".to_owned()), ..Options::default() })
}

async fn is_of(site: &TestServer, agent: &str, task: &Value) -> bool {
    let address = format!("/a2a/agents/{agent}");
    let id = json!({"id": task["id"]});
    site.call_v1_at(TestBinding::Rpc, &address, "GetTask", &id, &[V1]).await.is_ok()
}

/// Proves X6: without a tenant the default agent answers, with one the agent of that name.
#[tokio::test]
async fn a_tenant_in_the_parameters_names_the_agent() {
    for way in WAYS {
        let site = site();
        for (tenant, agent) in
            [(None, "script"), (Some(""), "script"), (Some("script"), "script"), (Some("other"), "other")]
        {
            let mut params = json!({"message": text_message(&format!("m-{tenant:?}"), "hello")});
            let mut by_id = json!({});
            if let Some(tenant) = tenant {
                params["tenant"] = json!(tenant);
                by_id["tenant"] = json!(tenant);
            }
            let (sent, _) = site.call_v1_at(way, "/a2a", "SendMessage", &params, &[V1]).await.unwrap();
            let task = &sent["task"];
            for known in ["script", "other"] {
                assert_eq!(is_of(&site, known, task).await, known == agent, "{way:?} {tenant:?}");
            }
            by_id["id"] = task["id"].clone();
            let (got, _) = site.call_v1_at(way, "/a2a", "GetTask", &by_id, &[V1]).await.unwrap();
            assert_eq!(got["id"], task["id"], "{way:?} {tenant:?}");
            by_id.as_object_mut().unwrap().remove("id");
            let (page, _) = site.call_v1_at(way, "/a2a", "ListTasks", &by_id, &[V1]).await.unwrap();
            let newest = page["tasks"][0]["id"].as_str();
            assert_eq!(newest, task["id"].as_str(), "{way:?} {tenant:?}");
        }
        let waiting = json!({"tenant": "other", "message": text_message("m-9", "ask")});
        let (sent, _) = site.call_v1_at(way, "/a2a", "SendMessage", &waiting, &[V1]).await.unwrap();
        let cancel = json!({"tenant": "other", "id": sent["task"]["id"]});
        assert!(site.call_v1_at(way, "/a2a", "CancelTask", &cancel, &[V1]).await.is_ok(), "{way:?}");
    }
}

/// Proves X5.
#[tokio::test]
async fn a_tenant_that_is_not_there_or_elsewhere_is_refused() {
    for way in WAYS {
        let site = site();
        let params = json!({"tenant": "nobody", "message": text_message("m-1", "hello")});
        let refused = site.call_v1_at(way, "/a2a", "SendMessage", &params, &[V1]).await.unwrap_err();
        assert_eq!(refused.status, StatusCode::NOT_FOUND, "{way:?}");
        let advice = refused.details().as_array().unwrap().last().unwrap().clone();
        assert_eq!(
            (&advice["code"], &advice["known"]),
            (&json!("unknown-workflow"), &json!(["other", "script"]))
        );
        let params = json!({"tenant": "other", "message": text_message("m-1", "hello")});
        let refused = site.call_v1_at(way, "/a2a/agents/script", "SendMessage", &params, &[V1]).await;
        assert_eq!(refused.unwrap_err().field(), "tenant", "{way:?}");
        let page = site.call_v1(way, "ListTasks", &json!({})).await.unwrap();
        assert_eq!(page["totalSize"], 0);
    }
}

async fn post(site: &TestServer, path: &str, body: &Value) -> (StatusCode, Value) {
    let request = Request::post(path).header("content-type", "application/json");
    let reply = site.send_for_json(request.body(Body::from(body.to_string())).unwrap()).await;
    (reply.status, reply.body)
}

/// Proves X5: a path of HTTP+JSON may start with the tenant, and must agree with the body.
#[tokio::test]
async fn a_tenant_in_the_path_names_the_agent() {
    let site = site();
    let sent = json!({"message": text_message("m-1", "hello")});
    let (_, body) = post(&site, "/a2a/rest/other/message:send", &sent).await;
    assert!(is_of(&site, "other", &body["task"]).await);
    let path = format!("/a2a/rest/other/tasks/{}", body["task"]["id"].as_str().unwrap());
    assert_eq!(site.get(&path).await.body["id"], body["task"]["id"]);
    assert_eq!(site.get(&path.replace("/other", "")).await.status, StatusCode::NOT_FOUND);
    for (path, tenant) in [
        ("/a2a/rest/other/message:send", "script"),
        ("/a2a/agents/script/rest/other/message:send", ""),
        ("/a2a/agents/script/rest/other/message:send", "other"),
    ] {
        let sent = json!({"tenant": tenant, "message": text_message("m-2", "hello")});
        let (status, body) = post(&site, path, &sent).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{path} {tenant}: {body}");
        assert_eq!(body["error"]["details"][0]["fieldViolations"][0]["field"], "tenant");
    }
    let sent = json!({"tenant": "other", "message": text_message("m-3", "hello")});
    let (status, _) = post(&site, "/a2a/rest/other/message:send", &sent).await;
    assert_eq!(status, StatusCode::OK);
}

/// Without a default agent there is no agent at `/a2a`.
#[tokio::test]
async fn without_a_default_agent_only_tenants_are_there() {
    for way in WAYS {
        let site = TestServer::new();
        let list = |params: Value| {
            let site = &site;
            async move { site.call_v1_at(way, "/a2a", "ListTasks", &params, &[V1]).await }
        };
        assert_eq!(list(json!({})).await.unwrap_err().status, StatusCode::NOT_FOUND);
        assert!(list(json!({"tenant": "script"})).await.is_ok());
    }
}

/// Proves X5: the extended card of another agent names that agent's addresses.
#[tokio::test]
async fn the_extended_card_of_a_tenant_leads_to_that_agent() {
    for way in WAYS {
        let site = TestServer::with_options(Options {
            default_agent: Some("script".to_owned()),
            extended_card: true,
            ..Options::default()
        });
        for (tenant, address) in [("", "/a2a"), ("script", "/a2a"), ("other", "/a2a/agents/other")] {
            let params = json!({"tenant": tenant});
            let asked = site.call_v1_at(way, "/a2a", "GetExtendedAgentCard", &params, &[V1]).await;
            let card = asked.unwrap().0;
            let url = format!("http://door.example:1{address}");
            assert_eq!(card["supportedInterfaces"][0]["url"], url, "{way:?} {tenant}");
        }
    }
}
