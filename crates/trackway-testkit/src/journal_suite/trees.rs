//! Small guided runs, for the cases and for a store's own tests: runs, nodes and acks are plain numbers.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use trackway_domain::{
    AckId, Attempt, AttemptOutcome, Block, Checkpoint, Event, Guided, Inputs, Node, NodeId, Object,
    Seq,
};
use trackway_ports::{Append, AttemptKey, Journal, NodePlace, Pinned};
use uuid::Uuid;

use super::samples::{at, row, run};
use crate::trail::{guided as guided_event, reply};

pub fn number_id(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

fn node(number: u128, parent: Option<u128>, definition: &str) -> Node {
    Node {
        id: NodeId::new(number_id(number)),
        parent: parent.map(|parent| NodeId::new(number_id(parent))),
        definition: definition.to_owned(),
        walk: json!({ "at": number.to_string() }),
        context: Object::default(),
        kept: BTreeMap::new(),
        pending: None,
    }
}

fn attempted(node: u128, ack: u128, digest: &str, outcome: AttemptOutcome) -> Event {
    guided_event(Guided::Attempted(Attempt {
        node: NodeId::new(number_id(node)),
        ack: AckId::new(number_id(ack)),
        digest: digest.to_owned(),
        inputs: Inputs { output: Some(Value::from(digest)), ..Inputs::default() },
        outcome,
        answer: reply(),
        documents: Vec::new(),
    }))
}

pub fn opened(number: u128) -> Event {
    let node = node(number, None, "hash");
    guided_event(Guided::Opened { node, answer: reply(), documents: Vec::new() })
}

/// An answer to node `from` that led to node `to`.
pub fn advanced(from: u128, ack: u128, digest: &str, to: u128) -> Event {
    attempted(from, ack, digest, AttemptOutcome::Advanced(node(to, Some(from), "hash")))
}

pub fn blocked(node: u128, ack: u128, digest: &str) -> Event {
    let code = "output-missing".to_owned();
    let block = Block { code, message: "more is needed".to_owned(), needs: Vec::new() };
    attempted(node, ack, digest, AttemptOutcome::Blocked(block))
}

pub fn checkpointed(number: Option<u128>) -> Event {
    let node = number.map(|number| NodeId::new(number_id(number)));
    guided_event(Guided::Checkpointed(Checkpoint { node, notes: "noted".to_owned() }))
}

pub fn repinned(number: u128, definition: &str) -> Event {
    guided_event(Guided::Repinned { node: node(number, None, definition) })
}

pub fn guided(number: u128, expected: Seq, events: impl IntoIterator<Item = Event>) -> Append {
    let mut append = Append::new(run(number), expected, at(5_000));
    append.events.extend(events);
    append
}

/// The first append of a guided run: two events, the second of which makes node 1.
pub fn opening(number: u128) -> Append {
    let mut append = guided(number, 0, [Event::Started, opened(1)]);
    append.row = Some(row(number));
    append
}

pub fn pin(hash: &str, body: &str) -> Pinned {
    Pinned { hash: hash.to_owned(), body: body.to_owned() }
}

pub fn attempt_key(number: u128, node: u128, ack: u128, digest: &str) -> AttemptKey {
    AttemptKey {
        run: run(number),
        node: NodeId::new(number_id(node)),
        ack: AckId::new(number_id(ack)),
        digest: digest.to_owned(),
    }
}

pub async fn place(journal: &dyn Journal, number: u128, node: u128) -> Option<NodePlace> {
    journal.node(run(number), NodeId::new(number_id(node))).await.unwrap()
}
