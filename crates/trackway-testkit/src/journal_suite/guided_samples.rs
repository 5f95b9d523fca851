//! Small guided runs, for the cases and for a store's own tests: runs, nodes and acks are plain numbers.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use trackway_domain::{
    AckId, AttemptInputs, AttemptOutcome, BlockReason, CheckpointNotes, Event, GuidedNode, GuidedRunEvent,
    NodeAttempt, NodeId, Object, Seq,
};
use trackway_ports::{Append, AttemptKey, Journal, PinnedDefinition, StoredNode};
use uuid::Uuid;

use super::sample_appends::{run_id, run_row, timestamp};
use crate::guided_run_builder::{attempt_reply, guided_event};

pub fn numbered_uuid(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

fn sample_node(number: u128, parent: Option<u128>, definition: &str) -> GuidedNode {
    GuidedNode {
        id: NodeId::new(numbered_uuid(number)),
        parent: parent.map(|parent| NodeId::new(numbered_uuid(parent))),
        definition: definition.to_owned(),
        position: json!({ "at": number.to_string() }),
        context: Object::default(),
        context_refs: BTreeMap::new(),
        pending: None,
    }
}

fn attempt_event(node: u128, ack: u128, digest: &str, outcome: AttemptOutcome) -> Event {
    guided_event(GuidedRunEvent::Attempted(NodeAttempt {
        node: NodeId::new(numbered_uuid(node)),
        ack: AckId::new(numbered_uuid(ack)),
        digest: digest.to_owned(),
        inputs: AttemptInputs { output: Some(Value::from(digest)), ..AttemptInputs::default() },
        outcome,
        reply: attempt_reply(),
        documents: Vec::new(),
    }))
}

pub fn opened_event(number: u128) -> Event {
    let node = sample_node(number, None, "hash");
    guided_event(GuidedRunEvent::Opened { node, reply: attempt_reply(), documents: Vec::new() })
}

/// An answer to node `from` that led to node `to`.
pub fn advanced_event(from: u128, ack: u128, digest: &str, to: u128) -> Event {
    attempt_event(from, ack, digest, AttemptOutcome::Advanced(sample_node(to, Some(from), "hash")))
}

pub fn blocked_event(node: u128, ack: u128, digest: &str) -> Event {
    let code = "output-missing".to_owned();
    let block = BlockReason { code, message: "more is needed".to_owned(), needs: Vec::new() };
    attempt_event(node, ack, digest, AttemptOutcome::Blocked(block))
}

pub fn checkpoint_event(number: Option<u128>) -> Event {
    let node = number.map(|number| NodeId::new(numbered_uuid(number)));
    guided_event(GuidedRunEvent::Checkpointed(CheckpointNotes { node, notes: "noted".to_owned() }))
}

pub fn repinned_event(number: u128, definition: &str) -> Event {
    guided_event(GuidedRunEvent::Repinned { node: sample_node(number, None, definition) })
}

pub fn guided_append(number: u128, expected: Seq, events: impl IntoIterator<Item = Event>) -> Append {
    let mut append = Append::new(run_id(number), expected, timestamp(5_000));
    append.events.extend(events);
    append
}

/// The first append of a guided run: two events, the second of which makes node 1.
pub fn opening_append(number: u128) -> Append {
    let mut append = guided_append(number, 0, [Event::Started, opened_event(1)]);
    append.row = Some(run_row(number));
    append
}

pub fn pinned_definition(hash: &str, body: &str) -> PinnedDefinition {
    PinnedDefinition { hash: hash.to_owned(), body: body.to_owned() }
}

pub fn attempt_key(number: u128, node: u128, ack: u128, digest: &str) -> AttemptKey {
    AttemptKey {
        run: run_id(number),
        node: NodeId::new(numbered_uuid(node)),
        ack: AckId::new(numbered_uuid(ack)),
        digest: digest.to_owned(),
    }
}

pub async fn find_node(journal: &dyn Journal, number: u128, node: u128) -> Option<StoredNode> {
    journal.find_node(run_id(number), NodeId::new(numbered_uuid(node))).await.unwrap()
}
