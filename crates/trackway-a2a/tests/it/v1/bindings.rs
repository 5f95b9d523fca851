//! One request interface for both bindings of 1.0: operations by their JSON-RPC names and parameters.

use axum::{
    body::Body,
    http::{HeaderMap, Method, Request, StatusCode},
};
use serde_json::{Map, Value, json};

use crate::test_server::{EventStream, StreamEvent, TestServer};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TestBinding {
    Rpc,
    Rest,
}

pub(crate) const WAYS: [TestBinding; 2] = [TestBinding::Rpc, TestBinding::Rest];
pub(crate) const V1: (&str, &str) = ("a2a-version", "1.0");
const AGENT: &str = "/a2a/agents/script";

/// A refusal, with the content of either binding.
#[derive(Debug)]
pub(crate) struct RefusedCall {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    /// The code of JSON-RPC; on HTTP+JSON the status again.
    pub(crate) code: i64,
    pub(crate) error: Value,
}

impl RefusedCall {
    /// The list of typed details, which is the same on both.
    pub(crate) fn details(&self) -> &Value {
        self.error.get("data").unwrap_or(&self.error["details"])
    }

    /// The name in its `ErrorInfo`; empty if there is none.
    pub(crate) fn reason(&self) -> &str {
        self.details()[0]["reason"].as_str().unwrap_or_default()
    }

    /// The first invalid location.
    pub(crate) fn field(&self) -> &str {
        let details = self.details().as_array().unwrap();
        let bad = details.iter().find(|detail| detail.get("fieldViolations").is_some());
        bad.and_then(|bad| bad["fieldViolations"][0]["field"].as_str()).unwrap_or_default()
    }
}

impl TestBinding {
    /// The request for an operation at the address of an agent, such as `/a2a`.
    pub(crate) fn request(
        self,
        address: &str,
        method: &str,
        params: &Value,
        headers: &[(&str, &str)],
    ) -> Request<Body> {
        let (verb, path, body) = match self {
            Self::Rpc => {
                let body = json!({"jsonrpc": "2.0", "id": "req-1", "method": method, "params": params});
                (Method::POST, address.to_owned(), body.to_string())
            }
            Self::Rest => {
                let (verb, path, body) = rest_request(method, params);
                (verb, format!("{address}/rest/{path}"), body)
            }
        };
        let mut request = Request::builder().method(verb).uri(path).header("host", "door.example:1");
        if !headers.iter().any(|(name, _)| *name == "content-type") {
            request = request.header("content-type", "application/json");
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(Body::from(body)).unwrap()
    }
}

fn rest_request(method: &str, params: &Value) -> (Method, String, String) {
    let mut params = params.as_object().cloned().unwrap_or_default();
    let mut taken = |name: &str| match params.remove(name) {
        Some(Value::String(text)) => text,
        other => panic!("{method} has {other:?} for its {name}"),
    };
    let configs = |task: String| format!("tasks/{task}/pushNotificationConfigs");
    let (verb, path) = match method {
        "SendMessage" => (Method::POST, "message:send".to_owned()),
        "SendStreamingMessage" => (Method::POST, "message:stream".to_owned()),
        "GetTask" => (Method::GET, format!("tasks/{}", taken("id"))),
        "ListTasks" => (Method::GET, "tasks".to_owned()),
        "CancelTask" => (Method::POST, format!("tasks/{}:cancel", taken("id"))),
        "SubscribeToTask" => (Method::POST, format!("tasks/{}:subscribe", taken("id"))),
        "CreateTaskPushNotificationConfig" => (Method::POST, configs(taken("taskId"))),
        "ListTaskPushNotificationConfigs" => (Method::GET, configs(taken("taskId"))),
        "GetTaskPushNotificationConfig" => {
            (Method::GET, format!("{}/{}", configs(taken("taskId")), taken("id")))
        }
        "DeleteTaskPushNotificationConfig" => {
            (Method::DELETE, format!("{}/{}", configs(taken("taskId")), taken("id")))
        }
        "GetExtendedAgentCard" => (Method::GET, "extendedAgentCard".to_owned()),
        other => panic!("{other} has no address"),
    };
    if verb == Method::POST {
        // As the suites send it: no body at all if there are no parameters.
        let body = if params.is_empty() && path.starts_with("tasks/") {
            String::new()
        } else {
            Value::Object(params).to_string()
        };
        return (verb, path, body);
    }
    (verb, with_query(path, &params), String::new())
}

fn with_query(path: String, params: &Map<String, Value>) -> String {
    let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let pairs: Vec<_> = params.iter().map(|(name, value)| format!("{name}={}", plain(value))).collect();
    if pairs.is_empty() { path } else { format!("{path}?{}", pairs.join("&")) }
}

impl TestServer {
    /// Asks the workflow `script`.
    pub(crate) async fn call_v1(
        &self,
        way: TestBinding,
        method: &str,
        params: &Value,
    ) -> Result<Value, RefusedCall> {
        self.call_v1_at(way, AGENT, method, params, &[V1]).await.map(|(result, _)| result)
    }

    pub(crate) async fn call_v1_at(
        &self,
        way: TestBinding,
        address: &str,
        method: &str,
        params: &Value,
        headers: &[(&str, &str)],
    ) -> Result<(Value, HeaderMap), RefusedCall> {
        let reply = self.send_for_json(way.request(address, method, params, headers)).await;
        let mut body = reply.body;
        if let Some(error) = body.get_mut("error") {
            let error = error.take();
            let code = error["code"].as_i64().unwrap();
            return Err(RefusedCall { status: reply.status, headers: reply.headers, code, error });
        }
        assert_eq!(reply.status, StatusCode::OK);
        let result = if way == TestBinding::Rpc { body["result"].take() } else { body };
        Ok((result, reply.headers))
    }

    pub(crate) async fn open_v1_stream(
        &self,
        way: TestBinding,
        method: &str,
        params: &Value,
        headers: &[(&str, &str)],
    ) -> EventStream {
        let headers: Vec<_> = headers.iter().copied().chain([V1]).collect();
        self.open_request(way.request(AGENT, method, params, &headers)).await
    }

    /// A stream, read until the door closes it.
    pub(crate) async fn read_v1_stream(
        &self,
        way: TestBinding,
        method: &str,
        params: &Value,
    ) -> Vec<StreamEvent> {
        read_to_end(&mut self.open_v1_stream(way, method, params, &[]).await).await
    }

    /// Sends a text and waits: the task.
    pub(crate) async fn start_v1_task(&self, way: TestBinding, id: &str, text: &str) -> Value {
        let sent = self.call_v1(way, "SendMessage", &json!({"message": text_message(id, text)})).await;
        sent.unwrap()["task"].take()
    }
}

pub(crate) async fn read_to_end(stream: &mut EventStream) -> Vec<StreamEvent> {
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        events.push(event);
    }
    events
}

pub(crate) fn text_message(id: &str, text: &str) -> Value {
    json!({"messageId": id, "role": "ROLE_USER", "parts": [{"text": text}]})
}

/// A message with a data part to a task.
pub(crate) fn data_answer(id: &str, task: &Value, data: &Value) -> Value {
    json!({"messageId": id, "role": "ROLE_USER", "taskId": task["id"], "parts": [{"data": data}]})
}

pub(crate) fn short_state(status: &Value) -> &str {
    let name = status["state"].as_str().unwrap();
    name.strip_prefix("TASK_STATE_").expect("a name of protobuf")
}

/// The items of a stream in short form: `task:STATE`, `STATE`, `+ARTIFACT`, `message`.
pub(crate) fn summarize(events: &[StreamEvent]) -> Vec<String> {
    let short = |event: &StreamEvent| {
        let members = event.result.as_object().unwrap();
        assert_eq!(members.len(), 1, "one member says what it is: {members:?}");
        let (kind, item) = members.iter().next().unwrap();
        match kind.as_str() {
            "task" => format!("task:{}", short_state(&item["status"])),
            "statusUpdate" => short_state(&item["status"]).to_owned(),
            "artifactUpdate" => format!("+{}", item["artifact"]["artifactId"].as_str().unwrap()),
            "message" => kind.clone(),
            other => panic!("{other} is not of this protocol"),
        }
    };
    events.iter().map(short).collect()
}
