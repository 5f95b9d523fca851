//! A desk: a workspace, the server on it, and the model that its agents ask.

use std::fs;

use serde_json::{Value, json};
use trackway_testkit::{ModelServer, Reply};

use crate::{
    a2a::support::{Agent, Event, Message, Server, text},
    support::trackway,
};

/// What the environment of every desk says.
pub(super) const KEY: &str = "a-key-of-the-test";

pub(super) struct Desk {
    pub(super) model: ModelServer,
    pub(super) server: Server,
}

impl Desk {
    /// With these files in its workspace; the model comes from the environment.
    pub(super) async fn open(files: &[(&str, &str)]) -> Self {
        Self::open_with(files, &[]).await
    }

    /// The same with these further variables.
    pub(super) async fn open_with(files: &[(&str, &str)], more: &[(&str, &str)]) -> Self {
        let model = ModelServer::start().await;
        let url = model.base_url();
        let env = [
            ("OPENAI_BASE_URL", url.as_str()),
            ("OPENAI_API_KEY", KEY),
            ("TRACKWAY_MODEL", "openai/small"),
        ];
        let server = serve(files, &[&env, more].concat());
        Self { model, server }
    }

    /// A key for everything, of this tenant.
    pub(super) fn key(&self, tenant: &str, user: &str) -> String {
        let args = ["keys", "create", "--tenant", tenant, "--user", user, "--scope", "*"];
        let made = trackway(&args).env("TRACKWAY_DATA", self.server.data()).finish("").expect(0);
        made.stdout.trim_end().to_owned()
    }

    /// The model's next answers call these tools: id, tool, arguments.
    pub(super) fn calls(&self, calls: &[(&str, &str, Value)]) {
        self.model.queue(calling(calls));
    }

    pub(super) fn says(&self, text: &str) {
        self.model.queue(ModelServer::openai().says(text));
    }

    /// The agent at `/a2a`.
    pub(super) fn front(&self) -> Agent {
        self.server.front()
    }

    /// One message to that agent, and everything that it streams.
    pub(super) async fn turn(&self, message: &Message) -> Vec<Event> {
        self.front().stream(message).await
    }

    /// What the model was told in its request of that number, from 0.
    pub(super) fn told(&self, request: usize) -> Vec<Value> {
        self.model.asked()[request].body["messages"].as_array().unwrap().clone()
    }

    /// The result that the request has for a call, as JSON where it is that.
    pub(super) fn result(&self, request: usize, call: &str) -> Value {
        let told = self.told(request);
        let found = told.iter().rev().find(|message| message["tool_call_id"] == *call);
        let found = found.unwrap_or_else(|| panic!("no result of {call}: {told:#?}"));
        let text = found["content"].as_str().unwrap();
        serde_json::from_str(text).unwrap_or_else(|_| text.into())
    }
}

/// A server on a workspace with these files.
pub(super) fn serve(files: &[(&str, &str)], env: &[(&str, &str)]) -> Server {
    let home = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let file = home.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    Server::start_in(home, env)
}

/// An answer that calls tools.
pub(super) fn calling(calls: &[(&str, &str, Value)]) -> Reply {
    let texts: Vec<String> = calls.iter().map(|(_, _, value)| value.to_string()).collect();
    let calls: Vec<(&str, &str, &str)> =
        calls.iter().zip(&texts).map(|((id, tool, _), text)| (*id, *tool, &**text)).collect();
    ModelServer::openai().calls(&calls).into()
}

/// A message in the conversation of a task.
pub(super) fn after(task: &Value, said: &str) -> Message {
    text(said).within(&task["contextId"])
}

pub(super) fn state(events: &[Event]) -> String {
    let last = &events.last().unwrap().result;
    last["status"]["state"].as_str().unwrap_or_else(|| panic!("{last}")).to_owned()
}

/// The updates of one artifact: `append`, `lastChunk` and the artifact itself.
pub(super) fn chunks(events: &[Event], id: &str) -> Vec<(bool, bool, Value)> {
    let one = |event: &Event| {
        let update = &event.result;
        (update["artifact"]["artifactId"] == *id).then(|| {
            let flag = |name: &str| update[name].as_bool().unwrap_or_default();
            (flag("append"), flag("lastChunk"), update["artifact"].clone())
        })
    };
    events.iter().filter_map(one).collect()
}

/// The ids of all artifacts that were shown, in order, each once.
pub(super) fn shown(events: &[Event]) -> Vec<String> {
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

/// What the agent has said by the end: its chunks as a client puts them together.
pub(super) fn spoken(events: &[Event]) -> String {
    let mut whole = String::new();
    for (append, _, artifact) in chunks(events, "text-response") {
        if !append {
            whole.clear();
        }
        for part in artifact["parts"].as_array().unwrap() {
            whole.push_str(part["text"].as_str().unwrap());
        }
    }
    whole
}

/// The statuses that speak of other tasks.
pub(super) fn references(events: &[Event]) -> Vec<Value> {
    let statuses = events.iter().map(|event| &event.result["status"]);
    let named = |status: &&Value| status["message"].get("referenceTaskIds").is_some();
    statuses.filter(named).cloned().collect()
}

/// The task that the dispatch of that number has started.
pub(super) fn child(events: &[Event], number: usize) -> Value {
    let references = references(events);
    json!({ "id": references[number]["message"]["referenceTaskIds"][0] })
}

/// What a status says, in one text.
pub(super) fn why(status: &Value) -> String {
    let parts = status["message"]["parts"].as_array().unwrap_or_else(|| panic!("{status}"));
    let texts = parts.iter().filter_map(|part| part["text"].as_str());
    texts.collect::<Vec<_>>().join("\n")
}
