//! The official A2A clients on a string: both generations, over any binding.

use serde_json::{Value, json};

use crate::{
    a2a::support::Event,
    support::{Started, python},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Generation {
    V03,
    V1,
}

/// A client. It ends when it is dropped.
#[derive(Debug)]
pub(super) struct Official {
    generation: Generation,
    process: Started,
}

impl Official {
    pub(super) fn start(generation: Generation, binding: &str, key: Option<&str>) -> Self {
        let mut command = match generation {
            Generation::V03 => python("TRACKWAY_TEST_PYTHON", "agent_v03.py"),
            Generation::V1 => python("TRACKWAY_TEST_PYTHON_1_0", "agent_v1.py"),
        };
        command.arg(binding).args(key);
        Self { generation, process: Started::spawn(command) }
    }

    /// Does one thing; an error is what the client's user sees of it.
    pub(super) fn try_to(&mut self, op: &str, agent: &str, more: Value) -> Result<Value, String> {
        self.write(op, agent, more);
        let mut told = self.process.json();
        match told["error"].as_str() {
            Some(error) => Err(error.to_owned()),
            None => Ok(self.plain(told["answer"].take())),
        }
    }

    #[track_caller]
    pub(super) fn does(&mut self, op: &str, agent: &str, more: Value) -> Value {
        self.try_to(op, agent, more).unwrap_or_else(|error| panic!("{op}: {error}"))
    }

    /// A text without a stream, and the task that it came to.
    pub(super) fn send(&mut self, agent: &str, text: &str) -> Value {
        let message = self.text(text);
        self.does("send", agent, json!({ "message": message }))
    }

    /// Begins a stream, which is read to its end before anything else is done.
    pub(super) fn open(&mut self, agent: &str, text: &str) {
        let message = self.text(text);
        self.write("stream", agent, json!({ "message": message }));
    }

    /// Its next event; `None` at its end.
    pub(super) fn next(&mut self) -> Option<Event> {
        let mut told = self.process.json();
        assert!(told["error"].is_null(), "{told}");
        let event = told.get_mut("event")?.take();
        Some(Event { pos: 0, result: self.plain(event) })
    }

    /// Its events up to the first one that fits.
    pub(super) fn until(&mut self, fits: impl Fn(&Value) -> bool) -> Vec<Event> {
        let mut events = Vec::new();
        loop {
            events.push(self.next().unwrap_or_else(|| panic!("it ended after {events:#?}")));
            if events.last().is_some_and(|event| fits(&event.result)) {
                return events;
            }
        }
    }

    pub(super) fn rest(&mut self) -> Vec<Event> {
        std::iter::from_fn(|| self.next()).collect()
    }

    /// A message of one text.
    pub(super) fn text(&self, text: &str) -> Value {
        match self.generation {
            Generation::V03 => json!({ "parts": [{ "kind": "text", "text": text }] }),
            Generation::V1 => json!({ "parts": [{ "text": text }] }),
        }
    }

    /// The older generation's words for what both say: no wrapper around an event, short states.
    fn plain(&self, told: Value) -> Value {
        let wrapped = ["task", "statusUpdate", "artifactUpdate"];
        let mut inner = wrapped.iter().find_map(|name| told.get(*name)).cloned().unwrap_or(told);
        if let Some(state) = inner["status"]["state"].as_str() {
            let short = state.trim_start_matches("TASK_STATE_").to_lowercase().replace('_', "-");
            inner["status"]["state"] = short.into();
        }
        // Where messages have no field for it, it stands among their metadata.
        let metadata = inner.pointer("/status/message/metadata/referenceTaskIds");
        if let Some(references) = metadata.cloned() {
            inner["status"]["message"]["referenceTaskIds"] = references;
        }
        inner
    }

    fn write(&mut self, op: &str, agent: &str, mut asked: Value) {
        asked["op"] = op.into();
        asked["agent"] = agent.into();
        self.process.write(&format!("{asked}\n"));
    }
}
