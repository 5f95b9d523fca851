//! A small JSON-RPC client that checks everything.

use std::sync::atomic::{AtomicU64, Ordering};

use reqwest::{Response, StatusCode, header::CONTENT_TYPE};
use serde_json::{Value, json};

use super::{EventStream, Message, StreamEvent, with_test_timeout};

/// One agent's address.
#[derive(Debug, Clone)]
pub(crate) struct A2aClient {
    http: reqwest::Client,
    url: String,
}

/// A JSON-RPC error.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct JsonRpcError {
    pub(crate) code: i64,
    pub(crate) message: String,
    pub(crate) data: Value,
}

impl A2aClient {
    pub(super) fn new(http: reqwest::Client, url: String) -> Self {
        Self { http, url }
    }

    pub(crate) async fn call(&self, method: &str, params: Value) -> Result<Value, JsonRpcError> {
        self.try_call(method, params).await.expect("the connection holds")
    }

    /// The same for a server that may be killed meanwhile.
    pub(crate) async fn try_call(
        &self,
        method: &str,
        params: Value,
    ) -> Result<Result<Value, JsonRpcError>, reqwest::Error> {
        let (response, id) = self.post(method, params, None).await?;
        assert_eq!(response.status(), StatusCode::OK);
        let mut body = with_test_timeout(method, read_json_body(response)).await?;
        assert_eq!((&body["jsonrpc"], &body["id"]), (&json!("2.0"), &id));
        Ok(match (body.get("result").is_some(), body.get("error").is_some()) {
            (true, false) => Ok(body["result"].take()),
            (false, true) => Err(parse_error(body["error"].take())),
            _ => panic!("a result or an error: {body}"),
        })
    }

    /// `message/send` without waiting.
    pub(crate) async fn send(&self, message: &Message) -> Result<Value, JsonRpcError> {
        self.call("message/send", json!({ "message": message.json() })).await
    }

    /// `message/send` until the task is idle.
    pub(crate) async fn send_and_wait(&self, message: &Message) -> Result<Value, JsonRpcError> {
        let configuration = json!({ "blocking": true });
        self.call("message/send", json!({ "message": message.json(), "configuration": configuration })).await
    }

    pub(crate) async fn get_task(&self, task: &Value) -> Value {
        self.call("tasks/get", json!({ "id": task["id"] })).await.expect("the task is known")
    }

    pub(crate) async fn cancel_task(&self, task: &Value) -> Result<Value, JsonRpcError> {
        self.call("tasks/cancel", json!({ "id": task["id"] })).await
    }

    /// `message/stream`, read until the server closes it.
    pub(crate) async fn stream_message(&self, message: &Message) -> Vec<StreamEvent> {
        self.open_stream("message/stream", json!({ "message": message.json() }), None)
            .await
            .read_to_end()
            .await
    }

    /// `tasks/resubscribe`.
    pub(crate) async fn subscribe(&self, task: &Value, after: Option<u64>) -> EventStream {
        self.open_stream("tasks/resubscribe", json!({ "id": task["id"] }), after).await
    }

    /// The same after a position, for a server that may be killed meanwhile.
    pub(crate) async fn try_subscribe(
        &self,
        task: &Value,
        after: u64,
    ) -> Result<EventStream, reqwest::Error> {
        let (response, id) = self.post("tasks/resubscribe", json!({ "id": task["id"] }), Some(after)).await?;
        Ok(EventStream::from_json_rpc(response, id))
    }

    /// Everything that ever happened to a finished task.
    pub(crate) async fn replay(&self, task: &Value) -> Vec<StreamEvent> {
        self.subscribe(task, Some(0)).await.read_to_end().await
    }

    pub(crate) async fn open_stream(&self, method: &str, params: Value, after: Option<u64>) -> EventStream {
        let (response, id) = self.post(method, params, after).await.expect("the connection holds");
        assert_eq!(response.status(), StatusCode::OK);
        EventStream::from_json_rpc(response, id)
    }

    async fn post(
        &self,
        method: &str,
        params: Value,
        after: Option<u64>,
    ) -> Result<(Response, Value), reqwest::Error> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let id = json!(NEXT.fetch_add(1, Ordering::Relaxed));
        let body = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let mut request = self.http.post(&self.url).json(&body);
        if let Some(after) = after {
            request = request.header("last-event-id", after.to_string());
        }
        Ok((with_test_timeout(method, request.send()).await?, id))
    }
}

/// A JSON body; anything else is a failure.
pub(crate) async fn read_json_body(response: Response) -> Result<Value, reqwest::Error> {
    let kind = response.headers().get(CONTENT_TYPE).cloned();
    let bytes = response.bytes().await?;
    let body = String::from_utf8_lossy(&bytes);
    let kind = kind.unwrap_or_else(|| panic!("an answer without a type: {body}"));
    let kind = kind.to_str().expect("the type is ASCII");
    assert!(["application/json", "application/problem+json"].contains(&kind), "{kind}: {body}");
    Ok(serde_json::from_slice(&bytes).unwrap_or_else(|_| panic!("every answer is JSON: {body}")))
}

fn parse_error(mut error: Value) -> JsonRpcError {
    JsonRpcError {
        code: error["code"].as_i64().expect("an error has a number"),
        message: error["message"].as_str().expect("an error has a message").to_owned(),
        data: error["data"].take(),
    }
}
