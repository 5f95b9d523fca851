//! Push notification configurations, and the notifications that follow from them.

use axum::{
    Router,
    body::{Body, Bytes},
    extract::State,
    http::{HeaderMap, Request, StatusCode},
    routing::post,
};
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::mpsc};
use trackway_a2a::{AddressPolicy, Options, PushSender, PushSenderOptions};

use super::bindings::{TestBinding, WAYS, data_answer, summarize, text_message};
use crate::test_server::{StreamEvent, TestServer};

/// Far longer than a local delivery takes: only a hang reaches it.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(30);

/// A front door that sends notifications, also to this machine if necessary.
pub(crate) fn server_with_push(allow_loopback: bool) -> TestServer {
    let options = PushSenderOptions {
        addresses: AddressPolicy { allow_loopback, ..AddressPolicy::default() },
        secret: None,
    };
    let outgoing = Some(PushSender::new(options));
    TestServer::with_options(Options { outgoing, ..Options::default() })
}

fn code_for(way: TestBinding, rpc: i64, rest: i64) -> i64 {
    if way == TestBinding::Rpc { rpc } else { rest }
}

/// Proves X6: a configuration is returned, listed, replaced and removed by its id.
#[tokio::test]
async fn configurations_are_set_shown_listed_and_removed() {
    for way in WAYS {
        let site = server_with_push(false);
        let task = site.start_v1_task(way, "m-1", "hello").await;
        let id = |id: &str| json!({"taskId": task["id"], "id": id});
        let whole = json!({"taskId": task["id"], "id": "own", "url": "https://a.example/x",
            "token": "t", "authentication": {"scheme": "Bearer", "credentials": "c"}});
        let set = |params: Value| {
            let site = &site;
            async move { site.call_v1(way, "CreateTaskPushNotificationConfig", &params).await }
        };
        assert_eq!(set(whole.clone()).await.unwrap(), whole, "{way:?}");
        let made = set(json!({"taskId": task["id"], "url": "https://b.example"})).await.unwrap();
        assert!(made["id"].as_str().is_some_and(|id| !id.is_empty()));
        let mut moved = whole;
        moved["url"] = json!("https://c.example/x");
        assert_eq!(set(moved.clone()).await.unwrap(), moved);
        let get = |params: Value| {
            let site = &site;
            async move { site.call_v1(way, "GetTaskPushNotificationConfig", &params).await }
        };
        assert_eq!(get(id("own")).await.unwrap(), moved);
        assert_eq!(get(id("none")).await.unwrap_err().code, code_for(way, -32001, 404));
        let all = json!({"taskId": task["id"]});
        let list = site.call_v1(way, "ListTaskPushNotificationConfigs", &all).await.unwrap();
        assert_eq!(list, json!({"configs": [moved, made], "nextPageToken": ""}), "{way:?}");
        let page = |token: &str| json!({"taskId": task["id"], "pageSize": 1, "pageToken": token});
        let first = site.call_v1(way, "ListTaskPushNotificationConfigs", &page("")).await.unwrap();
        assert_eq!(first, json!({"configs": [moved], "nextPageToken": "own"}), "{way:?}");
        let last = site.call_v1(way, "ListTaskPushNotificationConfigs", &page("own")).await.unwrap();
        assert_eq!(last, json!({"configs": [made], "nextPageToken": ""}), "{way:?}");
        let wrong = site.call_v1(way, "ListTaskPushNotificationConfigs", &page("none")).await;
        assert_eq!(wrong.unwrap_err().code, code_for(way, -32602, 400));
        for _ in 0..2 {
            // The second time there is nothing left to remove, which is not an error.
            let removed = site.call_v1(way, "DeleteTaskPushNotificationConfig", &id("own")).await;
            assert_eq!(removed.unwrap(), json!({}));
        }
        assert!(get(id("own")).await.is_err());
        let list = site.call_v1(way, "ListTaskPushNotificationConfigs", &all).await.unwrap();
        assert_eq!(list["configs"], json!([made]));
    }
}

/// Proves X5, X6.
#[tokio::test]
async fn configurations_that_are_refused() {
    for way in WAYS {
        let site = server_with_push(false);
        let task = site.start_v1_task(way, "m-1", "ask").await;
        for (url, authentication) in [
            (json!("http://127.0.0.1:9/"), Value::Null),
            (json!("http://[::1]/"), Value::Null),
            (json!("http://169.254.169.254/latest"), Value::Null),
            (json!("http://10.0.0.1/"), Value::Null),
            (json!("file:///etc/passwd"), Value::Null),
            (json!("https://user:secret@a.example"), Value::Null),
            (json!("nonsense"), Value::Null),
            (Value::Null, Value::Null),
            (json!("https://a.example"), json!({"credentials": "without a scheme"})),
            (json!("https://a.example"), json!({"scheme": "Bearer", "credentials": "a\r\nb: c"})),
            (json!("https://a.example"), json!({"scheme": "Bearer", "token": "a\nb"})),
        ] {
            let mut config = json!({"url": url, "authentication": authentication});
            config["token"] = authentication["token"].clone();
            let mut set = config.clone();
            set["taskId"] = task["id"].clone();
            let refused = site.call_v1(way, "CreateTaskPushNotificationConfig", &set).await.unwrap_err();
            assert_eq!(refused.code, code_for(way, -32602, 400), "{way:?} {config}");
            assert!(!refused.error.to_string().contains("user:secret"), "no leak: {refused:?}");
            let params = json!({"message": text_message("m-2", "hello"),
                "configuration": {"taskPushNotificationConfig": config}});
            for method in ["SendMessage", "SendStreamingMessage"] {
                let refused = site.call_v1(way, method, &params).await.unwrap_err();
                assert_eq!(refused.code, code_for(way, -32602, 400), "{way:?} {config}");
            }
        }
        let config = json!({"url": "http://127.0.0.1:9/"});
        let mut set = config.clone();
        set["taskId"] = task["id"].clone();
        let sent = json!({"message": text_message("m-2", "hello"),
            "configuration": {"taskPushNotificationConfig": config}});
        for (method, params, field) in [
            ("CreateTaskPushNotificationConfig", set, "url"),
            ("SendMessage", sent, "configuration.taskPushNotificationConfig.url"),
        ] {
            assert_eq!(site.call_v1(way, method, &params).await.unwrap_err().field(), field);
        }
        let path =
            format!("/a2a/agents/script/rest/tasks/{}/pushNotificationConfigs", task["id"].as_str().unwrap());
        let other = json!({"taskId": "another", "url": "https://a.example"}).to_string();
        let request = Request::post(path).header("content-type", "application/json");
        let reply = site.send_for_json(request.body(Body::from(other)).unwrap()).await;
        assert_eq!(reply.status, StatusCode::BAD_REQUEST, "path and body name two tasks");
        let unknown = json!({"taskId": "nope", "url": "https://a.example"});
        let refused = site.call_v1(way, "CreateTaskPushNotificationConfig", &unknown).await;
        assert_eq!(refused.unwrap_err().reason(), "TASK_NOT_FOUND");
        assert_eq!(site.call_v1(way, "ListTasks", &json!({})).await.unwrap()["totalSize"], 1);
    }
}

/// Proves X5: at most twenty, however they are set; an existing one may still be replaced.
#[tokio::test]
async fn number_of_configurations_is_limited() {
    for way in WAYS {
        let site = server_with_push(false);
        let task = site.start_v1_task(way, "m-1", "ask").await;
        let set = |id: String| {
            let params = json!({"taskId": task["id"], "id": id, "url": "https://a.example"});
            let site = &site;
            async move { site.call_v1(way, "CreateTaskPushNotificationConfig", &params).await }
        };
        for number in 0..20 {
            set(format!("c-{number}")).await.unwrap();
        }
        let refused = set("one-more".into()).await.unwrap_err();
        let advice = refused.details().as_array().unwrap().last().unwrap();
        assert_eq!(advice["code"], "too-large", "{way:?}");
        assert!(set("c-7".into()).await.is_ok());
        // A message with one more configuration is refused as well, unless it replaces an existing one.
        let sent = |message: &str, config: Value| {
            let params = json!({"message": data_answer(message, &task, &json!({"amount": 0})),
                "configuration": {"taskPushNotificationConfig": config}});
            let site = &site;
            async move { site.call_v1(way, "SendMessage", &params).await }
        };
        let refused = sent("m-2", json!({"url": "https://a.example"})).await.unwrap_err();
        assert_eq!(refused.code, code_for(way, -32602, 400), "{way:?}");
        let known = json!({"id": "c-7", "url": "https://b.example"});
        for _ in 0..2 {
            let taken = sent("m-3", known.clone()).await.unwrap();
            assert_eq!(taken["task"]["metadata"]["requestOrder"], 1, "m-2 was not taken");
        }
    }
}

/// The requests at a local receiver.
pub(crate) struct RecordingReceiver {
    pub(crate) url: String,
    received: mpsc::UnboundedReceiver<(HeaderMap, Value)>,
}

impl RecordingReceiver {
    pub(crate) async fn start() -> Self {
        type Sender = mpsc::UnboundedSender<(HeaderMap, Value)>;
        async fn take(State(sender): State<Sender>, headers: HeaderMap, body: Bytes) -> StatusCode {
            let body = serde_json::from_slice(&body).unwrap();
            sender.send((headers, body)).map_or(StatusCode::GONE, |()| StatusCode::OK)
        }
        let (sender, received) = mpsc::unbounded_channel();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let router = Router::new().route("/hook", post(take)).with_state(sender);
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, received }
    }

    pub(crate) async fn next(&mut self) -> (HeaderMap, Value) {
        tokio::time::timeout(PATIENCE, self.received.recv()).await.expect("a delivery").unwrap()
    }
}

/// Proves X6: the updates of a task, one request each, with the token and the credentials.
#[tokio::test]
async fn notifications_of_1_0_are_the_items_of_a_stream() {
    for way in WAYS {
        let site = server_with_push(true);
        let mut receiver = RecordingReceiver::start().await;
        let config = json!({"id": "own", "url": receiver.url, "token": "tok",
            "authentication": {"scheme": "Bearer", "credentials": "secret"}});
        let params = json!({"message": text_message("m-1", "ask"),
            "configuration": {"taskPushNotificationConfig": config}});
        let task = site.call_v1(way, "SendMessage", &params).await.unwrap()["task"].take();
        let answers = json!({"message": data_answer("m-2", &task, &json!({"amount": 1}))});
        site.call_v1(way, "SendMessage", &answers).await.unwrap();
        site.call_v1(way, "CancelTask", &json!({"id": task["id"]})).await.unwrap();
        let mut told: Vec<StreamEvent> = Vec::new();
        while told
            .last()
            .is_none_or(|last| last.result["statusUpdate"]["status"]["state"] != "TASK_STATE_CANCELED")
        {
            let (headers, result) = receiver.next().await;
            assert_eq!(headers["content-type"], "application/a2a+json");
            assert_eq!(headers["authorization"], "Bearer secret");
            assert_eq!(headers["x-a2a-notification-token"], "tok");
            told.push(StreamEvent { pos: 0, result });
        }
        let from_the_beginning = [("last-event-id", "0")];
        let id = json!({"id": task["id"]});
        let mut stream = site.open_v1_stream(way, "SubscribeToTask", &id, &from_the_beginning).await;
        let shown = super::bindings::read_to_end(&mut stream).await;
        assert_eq!(
            summarize(&shown),
            [
                "task:SUBMITTED",
                "WORKING",
                "+form.json",
                "INPUT_REQUIRED",
                "WORKING",
                "AUTH_REQUIRED",
                "CANCELED"
            ]
        );
        let of_stream: Vec<_> = shown.iter().map(|event| &event.result).collect();
        let told: Vec<_> = told.iter().map(|event| &event.result).collect();
        assert_eq!(told, of_stream, "{way:?}");
    }
}

/// Proves X6: in 0.3 a notification is the task after the update.
#[tokio::test]
async fn notifications_of_0_3_are_tasks() {
    let site = server_with_push(true);
    let mut receiver = RecordingReceiver::start().await;
    let config = json!({"url": receiver.url, "token": "tok",
        "authentication": {"schemes": ["Bearer"], "credentials": "secret"}});
    let params = json!({"message": crate::test_server::text_message("m-1", "hello"),
        "configuration": {"blocking": true, "pushNotificationConfig": config}});
    let task = site.call_rpc("message/send", params).await.unwrap();
    let mut last = json!({});
    while last["status"]["state"] != "completed" {
        let (headers, body) = receiver.next().await;
        assert_eq!(headers["content-type"], "application/json");
        assert_eq!(headers["authorization"], "Bearer secret");
        assert_eq!(headers["x-a2a-notification-token"], "tok");
        assert_eq!((&body["kind"], &body["id"]), (&json!("task"), &task["id"]));
        last = body;
    }
    assert_eq!(last, task);
}

/// Proves X6.
#[tokio::test]
async fn configurations_of_0_3_on_json_rpc() {
    let site = server_with_push(false);
    let task = site.start_task("m-1", "ask").await;
    let call = |method: &str, params: Value| {
        let method = format!("tasks/pushNotificationConfig/{method}");
        let site = &site;
        async move { site.call_rpc(&method, params).await }
    };
    let config = json!({"url": "https://a.example/x", "token": "t",
        "authentication": {"schemes": ["Bearer", "Basic"], "credentials": "c"}});
    let set = json!({"taskId": task["id"], "pushNotificationConfig": config});
    let shown = json!({"taskId": task["id"], "pushNotificationConfig": {
        "id": "default", "url": "https://a.example/x", "token": "t",
        "authentication": {"schemes": ["Bearer"], "credentials": "c"}}});
    assert_eq!(call("set", set).await.unwrap(), shown);
    let named = json!({"id": task["id"], "pushNotificationConfigId": "default"});
    assert_eq!(call("get", json!({"id": task["id"]})).await.unwrap(), shown);
    assert_eq!(call("get", named.clone()).await.unwrap(), shown);
    assert_eq!(call("list", json!({"id": task["id"]})).await.unwrap(), json!([shown]));
    assert_eq!(call("delete", named.clone()).await.unwrap(), Value::Null);
    assert_eq!(call("get", named).await.unwrap_err().0, -32001);
    let local = json!({"taskId": task["id"], "pushNotificationConfig": {"url": "http://127.0.0.1/"}});
    let (code, data) = call("set", local).await.unwrap_err();
    assert_eq!((code, &data["path"]), (-32602, &json!("/params/pushNotificationConfig/url")));
}
