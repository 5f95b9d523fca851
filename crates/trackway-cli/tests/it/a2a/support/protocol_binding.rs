//! The four ways in which a client speaks HTTP to an agent: two generations, two bindings.

use serde_json::{Value, json};

use super::{CrashableServer, EventStream, with_test_timeout};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProtocolBinding {
    Rpc03,
    Rest03,
    Rpc1,
    Rest1,
}

/// One request, independent of the client.
#[derive(Debug)]
pub(crate) struct AgentRequest {
    pub(crate) url: String,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Value,
}

impl ProtocolBinding {
    pub(crate) const ALL: [Self; 4] = [Self::Rpc03, Self::Rest03, Self::Rpc1, Self::Rest1];

    /// The dialect of the client with this number: all four equally often.
    pub(crate) fn for_client_number(number: usize) -> Self {
        Self::ALL[number % Self::ALL.len()]
    }

    /// A subscription to a task, from now on or after a position.
    pub(crate) fn subscribe_request(self, agent: &str, task: &Value, after: Option<u64>) -> AgentRequest {
        let id = task["id"].as_str().expect("a task has an id");
        let call =
            |method: &str| json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": { "id": id } });
        let (url, body) = match self {
            Self::Rpc03 => (agent.to_owned(), call("tasks/resubscribe")),
            Self::Rest03 => (format!("{agent}/rest/v1/tasks/{id}:subscribe"), json!({})),
            Self::Rpc1 => (agent.to_owned(), call("SubscribeToTask")),
            Self::Rest1 => (format!("{agent}/rest/tasks/{id}:subscribe"), json!({})),
        };
        let mut headers = Vec::new();
        if matches!(self, Self::Rpc1 | Self::Rest1) {
            headers.push(("a2a-version", "1.0".to_owned()));
        }
        headers.extend(after.map(|after| ("last-event-id", after.to_string())));
        AgentRequest { url, headers, body }
    }

    /// Opens a subscription.
    pub(crate) async fn subscribe(
        self,
        server: &CrashableServer,
        agent: &str,
        task: &Value,
        after: Option<u64>,
    ) -> EventStream {
        let agent = server.url(&format!("/a2a/agents/{agent}"));
        let AgentRequest { url, headers, body } = self.subscribe_request(&agent, task, after);
        let mut request = server.http().post(url).json(&body);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let response =
            with_test_timeout("a subscription", request.send()).await.expect("the connection holds");
        assert_eq!(response.status(), 200, "{self:?}");
        match self {
            Self::Rpc03 | Self::Rpc1 => EventStream::from_json_rpc(response, body["id"].clone()),
            Self::Rest03 | Self::Rest1 => EventStream::from_http_json(response),
        }
    }
}

/// The content of an event in words that all dialects share: the task, and its state or the artifact.
pub(crate) fn event_summary(event: &Value) -> (String, String) {
    let bare = event.get("kind").is_some();
    let body =
        if bare { event } else { event.as_object().and_then(|it| it.values().next()).expect("one member") };
    let text = |value: &Value| value.as_str().unwrap_or_else(|| panic!("{event}")).to_owned();
    let task = text(body.get("taskId").unwrap_or(&body["id"]));
    let said = match body.get("artifact") {
        Some(artifact) => text(&artifact["artifactId"]),
        None => {
            let state = text(&body["status"]["state"]).to_lowercase().replace('_', "-");
            state.trim_start_matches("task-state-").to_owned()
        }
    };
    (task, said)
}
