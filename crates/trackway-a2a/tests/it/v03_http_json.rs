//! Protocol 0.3 over HTTP+JSON, below `/rest/v1`.

use axum::{
    body::Body,
    http::{Method, Request, StatusCode},
};
use serde_json::{Value, json};
use trackway_a2a::{AddressPolicy, Options, PushSender, PushSenderOptions};

use crate::test_server::{StreamEvent, TestServer};

const AT: &str = "/a2a/agents/script/rest/v1";

fn request(method: &Method, path: &str, body: &Value) -> Request<Body> {
    let request = Request::builder().method(method).uri(format!("{AT}/{path}"));
    let request = request.header("content-type", "application/json");
    let body = if body.is_null() { Body::empty() } else { Body::from(body.to_string()) };
    request.body(body).unwrap()
}

async fn call_rest(site: &TestServer, method: Method, path: &str, body: Value) -> (StatusCode, Value) {
    let reply = site.send_for_json(request(&method, path, &body)).await;
    (reply.status, reply.body)
}

async fn read_stream(site: &TestServer, path: &str, body: Value) -> Vec<StreamEvent> {
    let mut stream = site.open_request(request(&Method::POST, path, &body)).await;
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        events.push(event);
    }
    events
}

fn message(id: &str, text: &str) -> Value {
    json!({"messageId": id, "role": "ROLE_USER", "content": [{"text": text}]})
}

async fn start_task(site: &TestServer, id: &str, text: &str) -> Value {
    let body = json!({"message": message(id, text), "configuration": {"blocking": true}});
    let (status, mut sent) = call_rest(site, Method::POST, "message:send", body).await;
    assert_eq!(status, StatusCode::OK);
    sent["task"].take()
}

fn task_path(task: &Value, rest: &str) -> String {
    format!("tasks/{}{rest}", task["id"].as_str().unwrap())
}

/// Proves L8, L9.
#[tokio::test]
async fn a_conversation_from_the_first_message_to_the_end() {
    let site = TestServer::new();
    let at_once = json!({"message": message("m-0", "ask")});
    let (_, sent) = call_rest(&site, Method::POST, "message:send", at_once).await;
    assert_eq!(sent["task"]["status"]["state"], "TASK_STATE_SUBMITTED", "0.3 waits when told to");
    let task = start_task(&site, "m-1", "ask").await;
    assert_eq!(task["status"]["state"], "TASK_STATE_INPUT_REQUIRED");
    assert_eq!(task["artifacts"][0]["artifactId"], "form.json");
    let answer = json!({"messageId": "m-2", "role": "ROLE_USER", "taskId": task["id"],
        "content": [{"data": {"data": {"amount": 5}}}]});
    let body = json!({"message": answer, "configuration": {"blocking": true}});
    let (_, sent) = call_rest(&site, Method::POST, "message:send", body).await;
    assert_eq!(sent["task"]["status"]["state"], "TASK_STATE_AUTH_REQUIRED");
    let (_, got) = call_rest(&site, Method::GET, &task_path(&task, "?historyLength=1"), Value::Null).await;
    assert_eq!(got["history"].as_array().unwrap().len(), 1);
    assert_eq!(got["history"][0]["messageId"], "m-2");
    let (_, canceled) = call_rest(&site, Method::POST, &task_path(&task, ":cancel"), Value::Null).await;
    assert_eq!(canceled["status"]["state"], "TASK_STATE_CANCELLED");
    let (status, again) = call_rest(&site, Method::POST, &task_path(&task, ":cancel"), Value::Null).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert_eq!(again["error"]["details"][0]["reason"], "TASK_NOT_CANCELABLE");
}

/// Proves L2.
#[tokio::test]
async fn a_direct_answer_is_a_message() {
    let site = TestServer::new();
    let body = json!({"message": message("m-1", "direct")});
    let (_, sent) = call_rest(&site, Method::POST, "message:send", body.clone()).await;
    let said = json!([{"text": "no task is needed for that"}]);
    assert_eq!((&sent["message"]["role"], &sent["message"]["content"]), (&json!("ROLE_AGENT"), &said));
    let events = read_stream(&site, "message:stream", body).await;
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].result["message"]["content"], said);
}

/// Proves L7, L10.
#[tokio::test]
async fn streams_and_subscriptions() {
    let site = TestServer::new();
    let events = read_stream(&site, "message:stream", json!({"message": message("m-1", "hello")})).await;
    let kinds: Vec<_> = events.iter().flat_map(|event| event.result.as_object().unwrap().keys()).collect();
    assert_eq!(kinds, ["task", "statusUpdate", "statusUpdate", "artifactUpdate", "statusUpdate"]);
    let last = &events[4].result["statusUpdate"];
    assert_eq!((&last["final"], &last["status"]["state"]), (&json!(true), &json!("TASK_STATE_COMPLETED")));
    // In 0.3 a subscription to an ended task returns the task once more.
    let task = &events[0].result["task"];
    let ended = read_stream(&site, &task_path(task, ":subscribe"), Value::Null).await;
    assert_eq!(ended.len(), 1);
    assert_eq!(ended[0].result["task"]["status"]["state"], "TASK_STATE_COMPLETED");
}

/// Proves X6.
#[tokio::test]
async fn push_configurations() {
    let options = PushSenderOptions { addresses: AddressPolicy::default(), secret: None };
    let outgoing = Some(PushSender::new(options));
    let site = TestServer::with_options(Options { outgoing, ..Options::default() });
    let task = start_task(&site, "m-1", "ask").await;
    let (all, one) =
        (task_path(&task, "/pushNotificationConfigs"), task_path(&task, "/pushNotificationConfigs/own"));
    let body = |url: &str| {
        json!({"parent": task_path(&task, ""), "configId": "own",
        "config": {"pushNotificationConfig": {"url": url, "token": "t"}}})
    };
    let shown = json!({"name": one,
        "pushNotificationConfig": {"id": "own", "url": "https://a.example", "token": "t"}});
    let (status, set) = call_rest(&site, Method::POST, &all, body("https://a.example")).await;
    assert_eq!((status, &set), (StatusCode::OK, &shown));
    assert_eq!(call_rest(&site, Method::GET, &one, Value::Null).await.1, shown);
    assert_eq!(call_rest(&site, Method::GET, &all, Value::Null).await.1, json!({"configs": [shown]}));
    assert_eq!(call_rest(&site, Method::DELETE, &one, Value::Null).await, (StatusCode::OK, json!({})));
    assert_eq!(call_rest(&site, Method::GET, &one, Value::Null).await.0, StatusCode::NOT_FOUND);
    let (status, refused) = call_rest(&site, Method::POST, &all, body("http://127.0.0.1/")).await;
    assert_eq!((status, &refused["error"]["status"]), (StatusCode::BAD_REQUEST, &json!("INVALID_ARGUMENT")));
}

/// Proves X5.
#[tokio::test]
async fn what_is_refused() {
    let site = TestServer::with_options(Options { extended_card: true, ..Options::default() });
    let unknown = "tasks/run_00000000000000000000000000000000";
    for (method, path, body, status, reason) in [
        (Method::GET, unknown.to_owned(), Value::Null, 404, "TASK_NOT_FOUND"),
        (Method::POST, format!("{unknown}:cancel"), Value::Null, 404, "TASK_NOT_FOUND"),
        (Method::POST, format!("{unknown}:subscribe"), Value::Null, 404, "TASK_NOT_FOUND"),
        (Method::GET, "card".to_owned(), Value::Null, 400, "EXTENDED_AGENT_CARD_NOT_CONFIGURED"),
        (Method::GET, "tasks".to_owned(), Value::Null, 404, ""),
        (Method::POST, "message:send".to_owned(), json!({}), 400, ""),
        (
            Method::POST,
            "message:send".to_owned(),
            json!({"message": {"messageId": "m", "role": "ROLE_AGENT", "content": [{"text": "x"}]}}),
            400,
            "",
        ),
    ] {
        let (answered, body) = call_rest(&site, method, &path, body).await;
        let found = body["error"]["details"][0]["reason"].as_str().unwrap_or_default();
        assert_eq!((answered.as_u16(), found), (status, reason), "{path}: {body}");
    }
}

/// Some clients request the extended card of 0.3 at the server's root.
#[tokio::test]
async fn the_root_has_the_address_of_the_extended_card() {
    let site =
        TestServer::with_options(Options { default_agent: Some("script".into()), ..Options::default() });
    let reply = site.get("/v1/card").await;
    assert_eq!(reply.status, StatusCode::BAD_REQUEST);
    let reason = &reply.body["error"]["details"][0]["reason"];
    assert_eq!(reason, "EXTENDED_AGENT_CARD_NOT_CONFIGURED");
}
