//! Logs of guided runs by names: node `a` is always the same node, and time moves one second with each
//! event.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use trackway_domain::{
    AckId, Answer, Attempt, AttemptOutcome, Block, Branch, Caller, Checkpoint, DocumentChange,
    DocumentKind, Event, Guided, Inputs, Node, NodeId, Object, Pending, RunId, Seal, SessionId,
    Submission, Timestamp, WorkflowRef,
};
use uuid::Uuid;

use super::RunTrack;

pub(super) struct Tale {
    pub(super) events: Vec<(Event, Timestamp)>,
}

/// The node of that name; `end` is a node without a pending step.
pub(super) fn node_id(name: &str) -> NodeId {
    let number = name.bytes().fold(0, |number, byte| number << 8 | u128::from(byte));
    NodeId::new(Uuid::from_u128(number))
}

pub(super) fn change(
    name: &str,
    kind: DocumentKind,
    key: Option<&str>,
    value: Value,
) -> DocumentChange {
    DocumentChange { name: name.to_owned(), kind, key: key.map(str::to_owned), value }
}

fn node(name: &str, parent: Option<&str>) -> Node {
    let pending = Pending {
        step: format!("step-{name}"),
        title: format!("Step {name}"),
        prompt: format!("Do {name}."),
        confirm: false,
        output: None,
        facts: Vec::new(),
    };
    Node {
        id: node_id(name),
        parent: parent.map(node_id),
        definition: "sha256-0".to_owned(),
        walk: Value::Null,
        context: Object::new(),
        kept: BTreeMap::new(),
        pending: (!name.starts_with("end")).then_some(pending),
    }
}

fn answer() -> Answer {
    Answer { ack: None, branch: Branch::default(), warnings: Vec::new(), seal: Seal::default() }
}

impl Tale {
    pub(super) fn of(run: u128, workflow: &str) -> Self {
        let workflow = match workflow {
            WorkflowRef::SESSION_NOTES => WorkflowRef::session_notes(),
            name => WorkflowRef { name: name.to_owned(), version: "sha256-0".to_owned() },
        };
        let (run, session) = (RunId::new(Uuid::from_u128(run)), SessionId::new("s").unwrap());
        let submission = Submission {
            guided: true,
            ..Submission::new(run, session, workflow, Caller::local(), json!({}))
        };
        Self { events: Vec::new() }
            .then(Event::Submitted(Box::new(submission)))
            .then(Event::Started)
    }

    pub(super) fn guided() -> Self {
        Self::of(1, "wf").then(guided(Guided::Opened {
            node: node("a", None),
            answer: answer(),
            documents: Vec::new(),
        }))
    }

    pub(super) fn then(mut self, event: Event) -> Self {
        let at = Timestamp(i64::try_from(self.events.len()).unwrap() * 1_000);
        self.events.push((event, at));
        self
    }

    pub(super) fn advance(self, from: &str, to: &str) -> Self {
        self.advance_with(from, to, None, Vec::new())
    }

    pub(super) fn advance_with(
        self,
        from: &str,
        to: &str,
        notes: Option<&str>,
        documents: Vec<DocumentChange>,
    ) -> Self {
        let outcome = AttemptOutcome::Advanced(node(to, Some(from)));
        self.attempt(from, notes, outcome, documents)
    }

    pub(super) fn blocked(self, at: &str) -> Self {
        let block = Block { code: "x".to_owned(), message: "x".to_owned(), needs: Vec::new() };
        self.attempt(at, Some("not yet"), AttemptOutcome::Blocked(block), Vec::new())
    }

    fn attempt(
        self,
        from: &str,
        notes: Option<&str>,
        outcome: AttemptOutcome,
        documents: Vec<DocumentChange>,
    ) -> Self {
        let inputs = Inputs { notes: notes.map(str::to_owned), ..Inputs::default() };
        self.then(guided(Guided::Attempted(Attempt {
            node: node_id(from),
            ack: AckId::new(Uuid::from_u128(7)),
            digest: "d".to_owned(),
            inputs,
            outcome,
            answer: answer(),
            documents,
        })))
    }

    pub(super) fn checkpoint(self, node: Option<&str>, notes: &str) -> Self {
        let checkpoint = Checkpoint { node: node.map(node_id), notes: notes.to_owned() };
        self.then(guided(Guided::Checkpointed(checkpoint)))
    }

    pub(super) fn repin(self, name: &str, definition: &str) -> Self {
        let node = Node { definition: definition.to_owned(), ..node(name, None) };
        self.then(guided(Guided::Repinned { node }))
    }

    pub(super) fn completed(self) -> Self {
        self.then(Event::Completed { output: Value::Null, message_id: None })
    }

    pub(super) fn track(&self) -> RunTrack {
        RunTrack::fold(self.events.iter().map(|(event, at)| (event, *at))).unwrap()
    }
}

fn guided(guided: Guided) -> Event {
    Event::Guided(Box::new(guided))
}
