//! Logs of guided runs by names: node `a` is always the same node, and time moves one second with each
//! event.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use trackway_domain::{
    AckId, AttemptInputs, AttemptOutcome, AttemptReply, BlockReason, BranchPosition, Caller, CheckpointNotes,
    DocumentChange, DocumentKind, Event, GuidedNode, GuidedRunEvent, NodeAttempt, NodeId, Object,
    PendingStep, ReplyRenderStamp, RunId, RunSubmission, SessionId, Timestamp, WorkflowRef,
};
use uuid::Uuid;

use super::RunTree;

pub(super) struct ScriptedLog {
    pub(super) events: Vec<(Event, Timestamp)>,
}

/// The node of that name; `end` is a node without a pending step.
pub(super) fn node_id(name: &str) -> NodeId {
    let number = name.bytes().fold(0, |number, byte| number << 8 | u128::from(byte));
    NodeId::new(Uuid::from_u128(number))
}

pub(super) fn sample_document_change(
    name: &str,
    kind: DocumentKind,
    key: Option<&str>,
    value: Value,
) -> DocumentChange {
    DocumentChange { name: name.to_owned(), kind, key: key.map(str::to_owned), value }
}

fn sample_node(name: &str, parent: Option<&str>) -> GuidedNode {
    let pending = PendingStep {
        step: format!("step-{name}"),
        title: format!("Step {name}"),
        prompt: format!("Do {name}."),
        confirm: false,
        output: None,
        facts: Vec::new(),
    };
    GuidedNode {
        id: node_id(name),
        parent: parent.map(node_id),
        definition: "sha256-0".to_owned(),
        position: Value::Null,
        context: Object::new(),
        context_refs: BTreeMap::new(),
        pending: (!name.starts_with("end")).then_some(pending),
    }
}

fn sample_attempt_reply() -> AttemptReply {
    AttemptReply {
        ack: None,
        branch: BranchPosition::default(),
        warnings: Vec::new(),
        stamp: ReplyRenderStamp::default(),
    }
}

impl ScriptedLog {
    pub(super) fn submitted_run(run: u128, workflow: &str) -> Self {
        let workflow = match workflow {
            WorkflowRef::SESSION_NOTES => WorkflowRef::session_notes_workflow(),
            name => WorkflowRef { name: name.to_owned(), version: "sha256-0".to_owned() },
        };
        let (run, session) = (RunId::new(Uuid::from_u128(run)), SessionId::new("s").unwrap());
        let submission = RunSubmission {
            guided: true,
            ..RunSubmission::new(run, session, workflow, Caller::local_without_auth(), json!({}))
        };
        Self { events: Vec::new() }
            .push_event(Event::Submitted(Box::new(submission)))
            .push_event(Event::Started)
    }

    pub(super) fn open_guided_run() -> Self {
        Self::submitted_run(1, "wf").push_event(guided_event(GuidedRunEvent::Opened {
            node: sample_node("a", None),
            reply: sample_attempt_reply(),
            documents: Vec::new(),
        }))
    }

    pub(super) fn push_event(mut self, event: Event) -> Self {
        let at = Timestamp(i64::try_from(self.events.len()).unwrap() * 1_000);
        self.events.push((event, at));
        self
    }

    pub(super) fn advance_to_node(self, from: &str, to: &str) -> Self {
        self.advance_to_node_with(from, to, None, Vec::new())
    }

    pub(super) fn advance_to_node_with(
        self,
        from: &str,
        to: &str,
        notes: Option<&str>,
        documents: Vec<DocumentChange>,
    ) -> Self {
        let outcome = AttemptOutcome::Advanced(sample_node(to, Some(from)));
        self.push_attempt(from, notes, outcome, documents)
    }

    pub(super) fn push_blocked_attempt(self, at: &str) -> Self {
        let block = BlockReason { code: "x".to_owned(), message: "x".to_owned(), needs: Vec::new() };
        self.push_attempt(at, Some("not yet"), AttemptOutcome::Blocked(block), Vec::new())
    }

    fn push_attempt(
        self,
        from: &str,
        notes: Option<&str>,
        outcome: AttemptOutcome,
        documents: Vec<DocumentChange>,
    ) -> Self {
        let inputs = AttemptInputs { notes: notes.map(str::to_owned), ..AttemptInputs::default() };
        self.push_event(guided_event(GuidedRunEvent::Attempted(NodeAttempt {
            node: node_id(from),
            ack: AckId::new(Uuid::from_u128(7)),
            digest: "d".to_owned(),
            inputs,
            outcome,
            reply: sample_attempt_reply(),
            documents,
        })))
    }

    pub(super) fn push_checkpoint(self, node: Option<&str>, notes: &str) -> Self {
        let checkpoint = CheckpointNotes { node: node.map(node_id), notes: notes.to_owned() };
        self.push_event(guided_event(GuidedRunEvent::Checkpointed(checkpoint)))
    }

    pub(super) fn push_repin(self, name: &str, definition: &str) -> Self {
        let node = GuidedNode { definition: definition.to_owned(), ..sample_node(name, None) };
        self.push_event(guided_event(GuidedRunEvent::Repinned { node }))
    }

    pub(super) fn push_completed(self) -> Self {
        self.push_event(Event::Completed { output: Value::Null, message_id: None })
    }

    pub(super) fn run_tree(&self) -> RunTree {
        RunTree::fold_log(self.events.iter().map(|(event, at)| (event, *at))).unwrap()
    }
}

fn guided_event(guided: GuidedRunEvent) -> Event {
    Event::Guided(Box::new(guided))
}
