//! A guided run, built by hand: the log that an agent with a workflow would have written. Node `a` of a
//! run is always the same node; nodes whose names start with `end` are complete.

use std::{collections::BTreeMap, time::Duration};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::sync::oneshot;
use trackway_domain::{
    AckId, AttemptInputs, AttemptOutcome, AttemptReply, BlockReason, BranchPosition, Caller, CheckpointNotes,
    DocumentChange, DocumentKind, Event, GuidedNode, GuidedRunEvent, NodeAttempt, NodeId, Object,
    PendingStep, ReplyRenderStamp, RunId, RunSubmission, SessionId, StateName, Timestamp, WorkflowRef,
};
use trackway_ports::{Append, Journal, PinnedDefinition, RunRow};
use uuid::Uuid;

/// When these runs start: 2026-01-01.
const BEGINNING: Timestamp = Timestamp::from_millis(1_767_225_600_000);

#[derive(Debug, Clone)]
pub struct GuidedRunBuilder {
    number: u128,
    submission: RunSubmission,
    definition: Option<PinnedDefinition>,
    events: Vec<Event>,
    state: StateName,
    /// When the first event was recorded; the others follow a second apart.
    pub began: Timestamp,
}

impl GuidedRunBuilder {
    /// A guided run of a session that has started and has no node yet.
    pub fn new_guided_run(number: u128, session: &str, workflow: &str) -> Self {
        let body = json!({ "id": workflow }).to_string();
        let digest = Sha256::digest(body.as_bytes());
        let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        let hash = format!("sha256-{hex}");
        let pinned = PinnedDefinition { hash: hash.clone(), body };
        Self::new_run(number, session, WorkflowRef { name: workflow.to_owned(), version: hash }, Some(pinned))
    }

    /// The run that holds a session's own notes.
    pub fn new_session_notes(number: u128, session: &str) -> Self {
        Self::new_run(number, session, WorkflowRef::session_notes_workflow(), None).complete_run()
    }

    fn new_run(
        number: u128,
        session: &str,
        workflow: WorkflowRef,
        definition: Option<PinnedDefinition>,
    ) -> Self {
        let run = RunId::new(Uuid::from_u128(number));
        let input = json!({ "ticketId": session });
        let session = SessionId::new(session).expect("a session's id");
        let submission = RunSubmission {
            guided: true,
            ..RunSubmission::new(run, session, workflow, Caller::local_without_auth(), input)
        };
        let began = BEGINNING + Duration::from_secs(u64::try_from(number).unwrap_or(0) * 60);
        let events = vec![Event::Submitted(Box::new(submission.clone())), Event::Started];
        Self { number, submission, definition, events, state: StateName::Working, began }
    }

    #[must_use]
    pub fn with_caller(mut self, caller: &Caller) -> Self {
        self.submission.caller = caller.clone();
        self.events[0] = Event::Submitted(Box::new(self.submission.clone()));
        self
    }

    #[must_use]
    pub fn with_event(mut self, event: Event) -> Self {
        self.state = match &event {
            Event::Completed { .. } => StateName::Completed,
            Event::Canceled => StateName::Canceled,
            _ => self.state,
        };
        self.events.push(event);
        self
    }

    #[must_use]
    pub fn open_node(self, name: &str) -> Self {
        let node = self.new_node(name, None);
        self.with_event(guided_event(GuidedRunEvent::Opened {
            node,
            reply: attempt_reply(),
            documents: Vec::new(),
        }))
    }

    #[must_use]
    pub fn advance_node(self, from: &str, to: &str) -> Self {
        self.answer_node(from, to, AttemptInputs::default(), Vec::new())
    }

    #[must_use]
    pub fn answer_node(
        self,
        from: &str,
        to: &str,
        inputs: AttemptInputs,
        documents: Vec<DocumentChange>,
    ) -> Self {
        let outcome = AttemptOutcome::Advanced(self.new_node(to, Some(from)));
        self.record_attempt(from, inputs, outcome, documents)
    }

    #[must_use]
    pub fn block_attempt(self, at: &str) -> Self {
        let block = BlockReason {
            code: "output-missing".to_owned(),
            message: "more is needed".to_owned(),
            needs: Vec::new(),
        };
        self.record_attempt(at, AttemptInputs::default(), AttemptOutcome::Blocked(block), Vec::new())
    }

    #[must_use]
    pub fn add_checkpoint(self, node: Option<&str>, notes: &str) -> Self {
        let node = node.map(|name| self.node_id(name));
        self.with_event(guided_event(GuidedRunEvent::Checkpointed(CheckpointNotes {
            node,
            notes: notes.to_owned(),
        })))
    }

    #[must_use]
    pub fn complete_run(self) -> Self {
        self.with_event(Event::Completed { output: Value::Null, message_id: None })
    }

    pub fn run_id(&self) -> RunId {
        self.submission.run
    }

    pub fn node_id(&self, name: &str) -> NodeId {
        let name = name.bytes().fold(0, |number, byte| number << 8 | u128::from(byte));
        NodeId::new(Uuid::from_u128(self.number << 64 | name))
    }

    /// The whole run in one append.
    pub fn to_append(&self) -> Append {
        let moment = |place| self.began + Duration::from_secs(place);
        let stamps: Vec<Timestamp> = (0..).map(moment).take(self.events.len()).collect();
        let last = stamps.last().copied().unwrap_or(self.began);
        Append {
            row: Some(RunRow {
                id: self.run_id(),
                session: self.submission.session.clone(),
                caller: self.submission.caller.clone(),
                workflow: self.submission.workflow.clone(),
                parent: None,
                state: self.state,
                runnable: false,
                parked: false,
                created_at: self.began,
                status_at: self.began,
            }),
            events: self.events.clone(),
            pins: self.definition.iter().cloned().collect(),
            event_times: stamps,
            ..Append::new(self.run_id(), 0, last)
        }
    }

    pub async fn append_to_journal(&self, journal: &dyn Journal) {
        let (done, outcome) = oneshot::channel();
        journal.append(
            self.to_append(),
            Box::new(move |result| {
                let _ = done.send(result);
            }),
        );
        outcome.await.expect("the store answers").expect("the trail is written");
    }

    fn new_node(&self, name: &str, parent: Option<&str>) -> GuidedNode {
        let pending = PendingStep {
            step: format!("step-{name}"),
            title: format!("Step {name}"),
            prompt: format!("Do {name}."),
            confirm: false,
            output: None,
            facts: Vec::new(),
        };
        GuidedNode {
            id: self.node_id(name),
            parent: parent.map(|name| self.node_id(name)),
            definition: self.submission.workflow.version.clone(),
            position: json!({ "at": name }),
            context: Object::new(),
            context_refs: BTreeMap::new(),
            pending: (!name.starts_with("end")).then_some(pending),
        }
    }

    fn record_attempt(
        self,
        from: &str,
        inputs: AttemptInputs,
        outcome: AttemptOutcome,
        documents: Vec<DocumentChange>,
    ) -> Self {
        let number = self.events.len();
        let attempt = NodeAttempt {
            node: self.node_id(from),
            ack: AckId::new(Uuid::from_u128(number as u128)),
            digest: format!("sha256-{number}"),
            inputs,
            outcome,
            reply: attempt_reply(),
            documents,
        };
        self.with_event(guided_event(GuidedRunEvent::Attempted(attempt)))
    }
}

/// What an output adds to a document.
pub fn document_change(name: &str, kind: DocumentKind, key: Option<&str>, value: Value) -> DocumentChange {
    DocumentChange { name: name.to_owned(), kind, key: key.map(str::to_owned), value }
}

/// An answer with notes.
pub fn inputs_with_notes(notes: &str) -> AttemptInputs {
    AttemptInputs { notes: Some(notes.to_owned()), ..AttemptInputs::default() }
}

pub(crate) fn attempt_reply() -> AttemptReply {
    let stamp = ReplyRenderStamp { key: "key".to_owned(), text_version: 1 };
    AttemptReply { ack: None, branch: BranchPosition::default(), warnings: Vec::new(), stamp }
}

pub(crate) fn guided_event(guided: GuidedRunEvent) -> Event {
    Event::Guided(Box::new(guided))
}
