//! Drives the official A2A clients: both generations, over any binding.

use serde_json::{Value, json};

use crate::{
    a2a::support::StreamEvent,
    support::{RunningProcess, python_client},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProtocolGeneration {
    V03,
    V1,
}

/// A client. It ends when it is dropped.
#[derive(Debug)]
pub(super) struct OfficialClient {
    generation: ProtocolGeneration,
    process: RunningProcess,
}

impl OfficialClient {
    pub(super) fn start(generation: ProtocolGeneration, binding: &str, key: Option<&str>) -> Self {
        let mut command = match generation {
            ProtocolGeneration::V03 => python_client("TRACKWAY_TEST_PYTHON", "agent_v03.py"),
            ProtocolGeneration::V1 => python_client("TRACKWAY_TEST_PYTHON_1_0", "agent_v1.py"),
        };
        command.arg(binding).args(key);
        Self { generation, process: RunningProcess::spawn(command) }
    }

    /// Runs one operation; an error is what the client's user gets.
    pub(super) fn try_operation(&mut self, op: &str, agent: &str, more: Value) -> Result<Value, String> {
        self.write_operation(op, agent, more);
        let mut told = self.process.read_json_line();
        match told["error"].as_str() {
            Some(error) => Err(error.to_owned()),
            None => Ok(self.normalize_reply(told["answer"].take())),
        }
    }

    #[track_caller]
    pub(super) fn run_operation(&mut self, op: &str, agent: &str, more: Value) -> Value {
        self.try_operation(op, agent, more).unwrap_or_else(|error| panic!("{op}: {error}"))
    }

    /// A text without a stream, and its task.
    pub(super) fn send_text(&mut self, agent: &str, text: &str) -> Value {
        let message = self.text_message(text);
        self.run_operation("send", agent, json!({ "message": message }))
    }

    /// Begins a stream, which must be read to its end before the next operation.
    pub(super) fn open_stream(&mut self, agent: &str, text: &str) {
        let message = self.text_message(text);
        self.write_operation("stream", agent, json!({ "message": message }));
    }

    /// Its next event; `None` at its end.
    pub(super) fn next_event(&mut self) -> Option<StreamEvent> {
        let mut told = self.process.read_json_line();
        assert!(told["error"].is_null(), "{told}");
        let event = told.get_mut("event")?.take();
        Some(StreamEvent { pos: 0, result: self.normalize_reply(event) })
    }

    /// Its events up to the first one that fits.
    pub(super) fn events_until(&mut self, fits: impl Fn(&Value) -> bool) -> Vec<StreamEvent> {
        let mut events = Vec::new();
        loop {
            events.push(self.next_event().unwrap_or_else(|| panic!("it ended after {events:#?}")));
            if events.last().is_some_and(|event| fits(&event.result)) {
                return events;
            }
        }
    }

    pub(super) fn remaining_events(&mut self) -> Vec<StreamEvent> {
        std::iter::from_fn(|| self.next_event()).collect()
    }

    /// A message of one text.
    pub(super) fn text_message(&self, text: &str) -> Value {
        match self.generation {
            ProtocolGeneration::V03 => json!({ "parts": [{ "kind": "text", "text": text }] }),
            ProtocolGeneration::V1 => json!({ "parts": [{ "text": text }] }),
        }
    }

    /// The older generation's form of what both say: no wrapper around an event, short states.
    fn normalize_reply(&self, told: Value) -> Value {
        let wrapped = ["task", "statusUpdate", "artifactUpdate"];
        let mut inner = wrapped.iter().find_map(|name| told.get(*name)).cloned().unwrap_or(told);
        if let Some(state) = inner["status"]["state"].as_str() {
            let short = state.trim_start_matches("TASK_STATE_").to_lowercase().replace('_', "-");
            inner["status"]["state"] = short.into();
        }
        // If messages have no field for it, it is in their metadata.
        let metadata = inner.pointer("/status/message/metadata/referenceTaskIds");
        if let Some(references) = metadata.cloned() {
            inner["status"]["message"]["referenceTaskIds"] = references;
        }
        inner
    }

    fn write_operation(&mut self, op: &str, agent: &str, mut asked: Value) {
        asked["op"] = op.into();
        asked["agent"] = agent.into();
        self.process.write(&format!("{asked}\n"));
    }
}
