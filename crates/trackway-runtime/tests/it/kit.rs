//! What the tests here share: a folder of definitions, guides on a store, and short ways to answer.

use std::{path::PathBuf, sync::Arc};

use serde_json::{Value, json};
use tempfile::TempDir;
use trackway_domain::{Access, AckId, Event, Inputs, NodeId, RunId, Seal};
use trackway_ports::{Ids, Journal, NoFaults};
use trackway_runtime::{
    Advance, Advanced, Catalogue, Consent, Guide, GuideError, GuideOptions, Position, Registry,
    Start, SystemIds,
};
use trackway_testkit::{ManualClock, Process, World, whole_log};

/// A folder with definitions. It outlasts the guides.
pub(crate) struct Library(TempDir);

impl Library {
    /// With `three` in it: a plain step, one that wants an output, and one that wants agreement.
    pub(crate) fn new() -> Self {
        let library = Self(tempfile::tempdir().expect("a folder for definitions"));
        library.write("three.json", &three());
        library
    }

    pub(crate) fn write(&self, file: &str, definition: &Value) {
        std::fs::write(self.file(file), definition.to_string()).expect("a file is written");
    }

    pub(crate) fn remove(&self, file: &str) {
        std::fs::remove_file(self.file(file)).expect("a file is removed");
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A guide on that store, with ids like no other's.
    pub(crate) fn guide(&self, journal: Arc<dyn Journal>) -> Guide {
        self.guide_with(journal, Arc::new(SystemIds))
    }

    /// A guide on that store that takes its ids from there.
    pub(crate) fn guide_with(&self, journal: Arc<dyn Journal>, ids: Arc<dyn Ids>) -> Guide {
        Guide::new(GuideOptions {
            journal,
            catalogue: self.catalogue(),
            clock: Arc::new(ManualClock::new()),
            ids,
            faults: Arc::new(NoFaults),
        })
    }

    /// A guide in that process, whose ids go on over restarts.
    pub(crate) fn guide_in(&self, world: &World, process: &Process) -> Guide {
        let guide = Guide::new(GuideOptions {
            journal: process.journal.clone(),
            catalogue: self.catalogue(),
            clock: world.clock.clone(),
            ids: world.ids.clone(),
            faults: process.faults.clone(),
        });
        guide.beside(process.runtime.clone())
    }

    fn catalogue(&self) -> Arc<Catalogue> {
        Arc::new(Catalogue::new(vec![self.0.path().to_owned()]))
    }
}

pub(crate) fn three() -> Value {
    json!({
        "trackway": 1,
        "id": "three",
        "name": "Three",
        "description": "Three steps.",
        "version": "1.0.0",
        "metaGuidance": ["Be brief."],
        "steps": [
            { "id": "one", "title": "One", "prompt": "Do one." },
            {
                "id": "two",
                "title": "Two",
                "prompt": "Do two.",
                "outputContract": {
                    "schema": {
                        "type": "object",
                        "required": ["n"],
                        "properties": { "n": { "type": "integer" } }
                    },
                    "example": { "n": 1 }
                }
            },
            { "id": "three", "title": "Three", "prompt": "Do three.", "requireConfirmation": true }
        ]
    })
}

/// No programs: what is here is driven from outside.
pub(crate) fn no_programs() -> Registry {
    Registry::default()
}

pub(crate) fn access() -> Access {
    Access::local()
}

pub(crate) fn seal() -> Seal {
    Seal { key: "k1".into(), text: 1 }
}

pub(crate) fn begin(workflow: &str, context: &Value) -> Start {
    let context = context.as_object().cloned().unwrap_or_default();
    Start { workflow: workflow.into(), context, seal: seal() }
}

pub(crate) async fn start(guide: &Guide) -> Position {
    guide.start(&access(), begin("three", &json!({}))).await.expect("it starts")
}

/// The answer that carries these inputs to where the position stands.
pub(crate) fn answer(position: &Position, inputs: Inputs) -> Advance {
    let ack = position.ack.expect("something is pending");
    answer_at(position.run, position.node, ack, inputs)
}

pub(crate) fn answer_at(run: RunId, node: NodeId, ack: AckId, inputs: Inputs) -> Advance {
    Advance { run, node, ack, inputs, consent: Consent::Implied, seal: seal() }
}

pub(crate) fn output(value: Value) -> Inputs {
    Inputs { output: Some(value), ..Inputs::default() }
}

pub(crate) fn noted(text: &str) -> Inputs {
    Inputs { notes: Some(text.into()), ..Inputs::default() }
}

/// Inputs that the pending step takes; another number makes other inputs.
pub(crate) fn fitting(position: &Position, number: u32) -> Inputs {
    let wants_output = position.pending.as_ref().is_some_and(|pending| pending.output.is_some());
    match wants_output {
        true => output(json!({ "n": number })),
        false => noted(&format!("{number} done")),
    }
}

pub(crate) async fn advance(guide: &Guide, advance: Advance) -> Result<Position, GuideError> {
    match guide.advance(&access(), advance).await? {
        Advanced::Position(position) => Ok(*position),
        Advanced::AskFirst(pending) => panic!("{} asks first", pending.step),
    }
}

/// Answers every step of `three` with what fits, down to the end.
pub(crate) async fn to_the_end(guide: &Guide, from: Position) -> Position {
    let mut at = from;
    while at.pending.is_some() {
        at = advance(guide, answer(&at, fitting(&at, 1))).await.expect("it advances");
        assert_eq!(at.blocked, None);
    }
    at
}

pub(crate) fn step(position: &Position) -> Option<&str> {
    position.pending.as_ref().map(|pending| pending.step.as_str())
}

pub(crate) async fn log(journal: &dyn Journal, run: RunId) -> Vec<Event> {
    let log = whole_log(journal, run).await.expect("the log can be read");
    log.into_iter().map(|stored| stored.event).collect()
}

pub(crate) fn names(log: &[Event]) -> Vec<&'static str> {
    log.iter().map(Event::name).collect()
}
