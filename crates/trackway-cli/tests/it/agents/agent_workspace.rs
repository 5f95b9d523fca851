//! A workspace, the server on it, and the model that its agents call.

use std::fs;

use serde_json::{Value, json};
use trackway_testkit::{ScriptedModelServer, ScriptedReply};

use crate::{
    a2a::support::{A2aClient, CrashableServer, Message, StreamEvent, text_message},
    support::trackway_command,
};

/// The environment of every workspace.
pub(super) const KEY: &str = "a-key-of-the-test";

pub(super) struct AgentWorkspace {
    pub(super) model: ScriptedModelServer,
    pub(super) server: CrashableServer,
}

impl AgentWorkspace {
    /// With these files in its workspace; the model comes from the environment.
    pub(super) async fn open(files: &[(&str, &str)]) -> Self {
        Self::open_with(files, &[]).await
    }

    /// The same with these further variables.
    pub(super) async fn open_with(files: &[(&str, &str)], more: &[(&str, &str)]) -> Self {
        let model = ScriptedModelServer::start().await;
        let url = model.base_url();
        let env =
            [("OPENAI_BASE_URL", url.as_str()), ("OPENAI_API_KEY", KEY), ("TRACKWAY_MODEL", "openai/small")];
        let server = serve_workspace(files, &[&env, more].concat());
        Self { model, server }
    }

    /// A key for everything, of this tenant.
    pub(super) fn create_key(&self, tenant: &str, user: &str) -> String {
        let args = ["keys", "create", "--tenant", tenant, "--user", user, "--scope", "*"];
        let made =
            trackway_command(&args).env("TRACKWAY_DATA", self.server.data_path()).run_to_end("").expect(0);
        made.stdout.trim_end().to_owned()
    }

    /// The model's next answers call these tools: id, tool, arguments.
    pub(super) fn queue_tool_calls(&self, calls: &[(&str, &str, Value)]) {
        self.model.queue_reply(tool_call_reply(calls));
    }

    pub(super) fn queue_text(&self, text: &str) {
        self.model.queue_reply(ScriptedModelServer::openai_reply().with_text(text));
    }

    /// The agent at `/a2a`.
    pub(super) fn default_agent(&self) -> A2aClient {
        self.server.default_agent()
    }

    /// One message to that agent, and everything that it streams.
    pub(super) async fn run_turn(&self, message: &Message) -> Vec<StreamEvent> {
        self.default_agent().stream_message(message).await
    }

    /// The model's request of that number, from 0.
    pub(super) fn model_messages(&self, request: usize) -> Vec<Value> {
        self.model.requests()[request].body["messages"].as_array().unwrap().clone()
    }

    /// The result of a call in the request, as JSON if it is JSON.
    pub(super) fn tool_result(&self, request: usize, call: &str) -> Value {
        let told = self.model_messages(request);
        let found = told.iter().rev().find(|message| message["tool_call_id"] == *call);
        let found = found.unwrap_or_else(|| panic!("no result of {call}: {told:#?}"));
        let text = found["content"].as_str().unwrap();
        serde_json::from_str(text).unwrap_or_else(|_| text.into())
    }
}

/// A server on a workspace with these files.
pub(super) fn serve_workspace(files: &[(&str, &str)], env: &[(&str, &str)]) -> CrashableServer {
    let home = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let file = home.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    CrashableServer::start_in(home, env)
}

/// An answer that calls tools.
pub(super) fn tool_call_reply(calls: &[(&str, &str, Value)]) -> ScriptedReply {
    let texts: Vec<String> = calls.iter().map(|(_, _, value)| value.to_string()).collect();
    let calls: Vec<(&str, &str, &str)> =
        calls.iter().zip(&texts).map(|((id, tool, _), text)| (*id, *tool, &**text)).collect();
    ScriptedModelServer::openai_reply().with_tool_calls(&calls).into()
}

/// A message in the conversation of a task.
pub(super) fn message_in_context_of(task: &Value, said: &str) -> Message {
    text_message(said).in_context(&task["contextId"])
}

pub(super) fn last_state(events: &[StreamEvent]) -> String {
    let last = &events.last().unwrap().result;
    last["status"]["state"].as_str().unwrap_or_else(|| panic!("{last}")).to_owned()
}

/// The updates of one artifact: `append`, `lastChunk` and the artifact itself.
pub(super) fn artifact_chunks(events: &[StreamEvent], id: &str) -> Vec<(bool, bool, Value)> {
    let one = |event: &StreamEvent| {
        let update = &event.result;
        (update["artifact"]["artifactId"] == *id).then(|| {
            let flag = |name: &str| update[name].as_bool().unwrap_or_default();
            (flag("append"), flag("lastChunk"), update["artifact"].clone())
        })
    };
    events.iter().filter_map(one).collect()
}

/// The ids of all artifacts in the stream, in order, each once.
pub(super) fn artifact_ids(events: &[StreamEvent]) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    for event in events {
        if let Some(id) = event.result["artifact"]["artifactId"].as_str()
            && !ids.iter().any(|known| known == id)
        {
            ids.push(id.to_owned());
        }
    }
    ids
}

/// The final text of the agent: its chunks as a client joins them.
pub(super) fn joined_text_response(events: &[StreamEvent]) -> String {
    let mut whole = String::new();
    for (append, _, artifact) in artifact_chunks(events, "text-response") {
        if !append {
            whole.clear();
        }
        for part in artifact["parts"].as_array().unwrap() {
            whole.push_str(part["text"].as_str().unwrap());
        }
    }
    whole
}

/// The statuses that name other tasks.
pub(super) fn statuses_with_references(events: &[StreamEvent]) -> Vec<Value> {
    let statuses = events.iter().map(|event| &event.result["status"]);
    let named = |status: &&Value| status["message"].get("referenceTaskIds").is_some();
    statuses.filter(named).cloned().collect()
}

/// The task that the dispatch of that number started.
pub(super) fn dispatched_task(events: &[StreamEvent], number: usize) -> Value {
    let references = statuses_with_references(events);
    json!({ "id": references[number]["message"]["referenceTaskIds"][0] })
}

/// The text of a status.
pub(super) fn status_text(status: &Value) -> String {
    let parts = status["message"]["parts"].as_array().unwrap_or_else(|| panic!("{status}"));
    let texts = parts.iter().filter_map(|part| part["text"].as_str());
    texts.collect::<Vec<_>>().join("\n")
}
