//! The generation of the answer to a request.

use axum::{body::Body, http::Request};
use serde_json::{Value, json};

use super::bindings::{TestBinding, WAYS, text_message};
use crate::test_server::TestServer;

const AT: &str = "/a2a/agents/script";

fn query(way: TestBinding) -> &'static str {
    match way {
        TestBinding::Rpc => "/a2a/agents/script?A2A-Version=1.0",
        TestBinding::Rest => "/a2a/agents/script/rest/tasks?A2A-Version=1.0",
    }
}

/// Proves X5: a header or the query names the version; patch numbers are ignored.
#[tokio::test]
async fn the_version_is_taken_from_header_or_query() {
    let site = TestServer::new();
    for way in WAYS {
        for headers in
            [&[("a2a-version", "1.0")][..], &[("a2a-version", "1.0.1")], &[("a2a-version", "")], &[]]
        {
            let answered = site.call_v1_at(way, AT, "ListTasks", &json!({}), headers).await;
            assert_eq!(answered.unwrap().0["totalSize"], 0, "{way:?} {headers:?}");
        }
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "ListTasks"}).to_string();
        let request = match way {
            TestBinding::Rpc => Request::post(query(way)).body(Body::from(body)),
            TestBinding::Rest => Request::get(query(way)).body(Body::empty()),
        };
        let mut request = request.unwrap();
        request.headers_mut().insert("content-type", "application/json".parse().unwrap());
        let answer = site.send_for_json(request).await.body;
        assert_eq!(answer.get("result").unwrap_or(&answer)["totalSize"], 0, "{way:?}");
    }
}

/// Proves X5.
#[tokio::test]
async fn versions_that_are_not_spoken_are_refused() {
    let site = TestServer::new();
    for way in WAYS {
        for version in ["99.0", "0.2", "1.1", "one"] {
            let headers = [("a2a-version", version)];
            let refused = site.call_v1_at(way, AT, "ListTasks", &json!({}), &headers).await.unwrap_err();
            assert_eq!(refused.reason(), "VERSION_NOT_SUPPORTED");
            assert_eq!(refused.code, if way == TestBinding::Rpc { -32009 } else { 400 });
            let advice = &refused.details()[1];
            assert_eq!(advice["known"], json!(["1.0", "0.3"]));
        }
    }
}

/// The names of the methods determine the generation if there is no header.
#[tokio::test]
async fn methods_lead_to_their_generation() {
    let site = TestServer::new();
    let old = json!({"message": {"messageId": "m-1", "role": "user",
        "parts": [{"kind": "text", "text": "hello"}]}, "configuration": {"blocking": true}});
    let new = json!({"message": text_message("m-2", "hello")});
    let rpc = |method: &'static str, params: Value, headers: &'static [(&str, &str)]| {
        let site = &site;
        async move {
            site.call_v1_at(TestBinding::Rpc, AT, method, &params, headers).await.map(|(result, _)| result)
        }
    };
    assert_eq!(rpc("message/send", old.clone(), &[]).await.unwrap()["kind"], "task");
    let task = rpc("SendMessage", new.clone(), &[]).await.unwrap();
    assert_eq!(task["task"]["status"]["state"], "TASK_STATE_COMPLETED");
    // A header decides, whatever the method's name is.
    let refused = rpc("SendMessage", new, &[("a2a-version", "0.3")]).await.unwrap_err();
    assert_eq!((refused.code, &refused.error["data"]["code"]), (-32601, &json!("invalid-request")));
    // A name that neither generation has, without a header: the error lists the names of both.
    let refused = rpc("sendMessage", json!({}), &[]).await.unwrap_err();
    let next = refused.error["data"]["next"].as_str().unwrap();
    assert!(next.contains("message/send") && next.contains("SendMessage"), "{next}");
    let refused = rpc("message/send", old, &[("a2a-version", "1.0")]).await.unwrap_err();
    assert_eq!(refused.code, -32601);
    assert_eq!(refused.details()[0]["@type"], "urn:trackway:advice");
    // One task, visible in both.
    let id = json!({"id": task["task"]["id"]});
    assert_eq!(rpc("tasks/get", id, &[]).await.unwrap()["status"]["state"], "completed");
}

/// Proves X5: an address of HTTP+JSON belongs to one generation.
#[tokio::test]
async fn addresses_of_one_generation_refuse_the_other() {
    let site = TestServer::new();
    for (path, version, spoken) in
        [("tasks/x", "0.3", "1.0"), ("v1/tasks/x", "1.0", "0.3"), ("v1/tasks/x", "1.0.1", "0.3")]
    {
        let request = Request::get(format!("{AT}/rest/{path}")).header("a2a-version", version);
        let reply = site.send_for_json(request.body(Body::empty()).unwrap()).await;
        let error = &reply.body["error"];
        assert_eq!((&error["code"], &error["status"]), (&json!(400), &json!("FAILED_PRECONDITION")));
        assert_eq!(error["details"][0]["reason"], "VERSION_NOT_SUPPORTED");
        assert_eq!(error["message"], format!("protocol {spoken} is spoken at this address"));
    }
}
