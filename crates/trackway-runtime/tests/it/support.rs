//! Shared by these tests: a folder of definitions, guided runs on a store, and helpers for answers.

use std::{path::PathBuf, sync::Arc};

use serde_json::{Value, json};
use tempfile::TempDir;
use trackway_domain::{Access, AckId, AttemptInputs, Event, NodeId, ReplyRenderStamp, RunId};
use trackway_ports::{IdSource, Journal, NoFaultInjection};
use trackway_runtime::{
    Catalogue, ConsentStatus, GuidedAdvanceRequest, GuidedAdvanceResponse, GuidedNodeView, GuidedRunError,
    GuidedRunOptions, GuidedRuns, GuidedStartRequest, ProgramRegistry, SystemIds,
};
use trackway_testkit::{ManualClock, TestProcess, TestWorld, load_full_log};

/// A folder with definitions. It outlives the guides.
pub(crate) struct DefinitionFolder(TempDir);

impl DefinitionFolder {
    /// Contains `three`: a plain step, one that needs an output, and one that needs consent.
    pub(crate) fn new() -> Self {
        let library = Self(tempfile::tempdir().expect("a folder for definitions"));
        library.write("three.json", &three_steps());
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

    /// A guide on that store, with unique ids.
    pub(crate) fn guided_runs(&self, journal: Arc<dyn Journal>) -> GuidedRuns {
        self.guided_runs_with_ids(journal, Arc::new(SystemIds))
    }

    /// A guide on that store that takes its ids from there.
    pub(crate) fn guided_runs_with_ids(
        &self,
        journal: Arc<dyn Journal>,
        ids: Arc<dyn IdSource>,
    ) -> GuidedRuns {
        GuidedRuns::new(GuidedRunOptions {
            journal,
            catalogue: self.catalogue(),
            clock: Arc::new(ManualClock::new()),
            ids,
            faults: Arc::new(NoFaultInjection),
        })
    }

    /// A guide in that process, whose ids continue over restarts.
    pub(crate) fn guided_runs_in(&self, world: &TestWorld, process: &TestProcess) -> GuidedRuns {
        let guide = GuidedRuns::new(GuidedRunOptions {
            journal: process.journal.clone(),
            catalogue: self.catalogue(),
            clock: world.clock.clone(),
            ids: world.ids.clone(),
            faults: process.faults.clone(),
        });
        guide.with_runtime(process.runtime.clone())
    }

    fn catalogue(&self) -> Arc<Catalogue> {
        Arc::new(Catalogue::new(vec![self.0.path().to_owned()]))
    }
}

pub(crate) fn three_steps() -> Value {
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

/// No programs: an outside agent drives the runs here.
pub(crate) fn no_programs() -> ProgramRegistry {
    ProgramRegistry::default()
}

pub(crate) fn access() -> Access {
    Access::local_without_auth()
}

pub(crate) fn render_stamp() -> ReplyRenderStamp {
    ReplyRenderStamp { key: "k1".into(), text_version: 1 }
}

pub(crate) fn start_request(workflow: &str, context: &Value) -> GuidedStartRequest {
    let context = context.as_object().cloned().unwrap_or_default();
    GuidedStartRequest { workflow: workflow.into(), context, stamp: render_stamp() }
}

pub(crate) async fn start_three(guide: &GuidedRuns) -> GuidedNodeView {
    guide.start_guided_run(&access(), start_request("three", &json!({}))).await.expect("it starts")
}

/// A request that answers the pending step of the position with these inputs.
pub(crate) fn answer_request(position: &GuidedNodeView, inputs: AttemptInputs) -> GuidedAdvanceRequest {
    let ack = position.ack.expect("something is pending");
    answer_request_at(position.run, position.node, ack, inputs)
}

pub(crate) fn answer_request_at(
    run: RunId,
    node: NodeId,
    ack: AckId,
    inputs: AttemptInputs,
) -> GuidedAdvanceRequest {
    GuidedAdvanceRequest { run, node, ack, inputs, consent: ConsentStatus::Implied, stamp: render_stamp() }
}

pub(crate) fn output_inputs(value: Value) -> AttemptInputs {
    AttemptInputs { output: Some(value), ..AttemptInputs::default() }
}

pub(crate) fn notes_inputs(text: &str) -> AttemptInputs {
    AttemptInputs { notes: Some(text.into()), ..AttemptInputs::default() }
}

/// Inputs that the pending step accepts; another number gives other inputs.
pub(crate) fn valid_inputs(position: &GuidedNodeView, number: u32) -> AttemptInputs {
    let wants_output = position.pending.as_ref().is_some_and(|pending| pending.output.is_some());
    match wants_output {
        true => output_inputs(json!({ "n": number })),
        false => notes_inputs(&format!("{number} done")),
    }
}

pub(crate) async fn advance(
    guide: &GuidedRuns,
    advance: GuidedAdvanceRequest,
) -> Result<GuidedNodeView, GuidedRunError> {
    match guide.advance_guided_run(&access(), advance).await? {
        GuidedAdvanceResponse::Node(position) => Ok(*position),
        GuidedAdvanceResponse::ConsentNeeded(pending) => panic!("{} asks first", pending.step),
    }
}

/// Answers every step of `three` with what fits, down to the end.
pub(crate) async fn advance_to_end(guide: &GuidedRuns, from: GuidedNodeView) -> GuidedNodeView {
    let mut at = from;
    while at.pending.is_some() {
        at = advance(guide, answer_request(&at, valid_inputs(&at, 1))).await.expect("it advances");
        assert_eq!(at.blocked, None);
    }
    at
}

pub(crate) fn pending_step_id(position: &GuidedNodeView) -> Option<&str> {
    position.pending.as_ref().map(|pending| pending.step.as_str())
}

pub(crate) async fn load_events(journal: &dyn Journal, run: RunId) -> Vec<Event> {
    let log = load_full_log(journal, run).await.expect("the log can be read");
    log.into_iter().map(|stored| stored.event).collect()
}

pub(crate) fn event_names(log: &[Event]) -> Vec<&'static str> {
    log.iter().map(Event::event_name).collect()
}
