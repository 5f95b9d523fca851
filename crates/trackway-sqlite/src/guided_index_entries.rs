//! The entries of one event in the index of guided runs, with their stored values, and the checksums
//! of the index rows.

use rusqlite::Row;
use trackway_domain::{AttemptOutcome, Event};
use trackway_ports::{attempt_in_event, checkpointed_node_id, created_node_id, node_in_event};

#[derive(Debug)]
pub(crate) struct GuidedIndexEntries {
    pub(crate) node: Option<NodeIndexEntry>,
    pub(crate) attempt: Option<AttemptIndexEntry>,
    /// The node that the event is a checkpoint on.
    pub(crate) checkpoint: Option<String>,
}

/// A node that the event makes, or whose definition it changes.
#[derive(Debug)]
pub(crate) struct NodeIndexEntry {
    pub(crate) id: String,
    /// The event makes the node. Otherwise the node exists, and its definition changes.
    pub(crate) is_new: bool,
    /// Hash of the definition that the node uses.
    pub(crate) definition: String,
}

#[derive(Debug)]
pub(crate) struct AttemptIndexEntry {
    pub(crate) node: String,
    pub(crate) ack: String,
    pub(crate) digest: String,
    /// The node that the attempt made; `None` if it was blocked.
    pub(crate) child: Option<String>,
}

impl GuidedIndexEntries {
    /// `None` for an event without index entries, such as every event of other runs.
    pub(crate) fn index_entries_from_event(event: &Event) -> Option<Box<Self>> {
        let node = node_in_event(event).map(|node| NodeIndexEntry {
            id: node.id.to_string(),
            is_new: created_node_id(event).is_some(),
            definition: node.definition.clone(),
        });
        let attempt = attempt_in_event(event).map(|attempt| AttemptIndexEntry {
            node: attempt.node.to_string(),
            ack: attempt.ack.to_string(),
            digest: attempt.digest.clone(),
            child: match &attempt.outcome {
                AttemptOutcome::Advanced(node) => Some(node.id.to_string()),
                AttemptOutcome::Blocked(_) => None,
            },
        });
        let checkpoint = checkpointed_node_id(event).map(|node| node.to_string());
        let has_any = node.is_some() || attempt.is_some() || checkpoint.is_some();
        has_any.then(|| Box::new(Self { node, attempt, checkpoint }))
    }
}

/// The index's row of a node. Columns in this order: [`NodeIndexRow::COLUMNS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NodeIndexRow {
    pub(crate) seq: i64,
    pub(crate) branches: i64,
    /// Sum of [`attempt_row_checksum`] over the attempts at it.
    pub(crate) attempts_sum: i64,
    /// Number of the event that made it.
    pub(crate) created_seq: i64,
    /// How many attempts at it were blocked.
    pub(crate) blocked: i64,
}

impl NodeIndexRow {
    pub(crate) const COLUMNS: &str = "seq, branches, attempts_sum, created_seq, blocked, crc";

    /// The row, if it is undamaged.
    pub(crate) fn decode_verified_node_row(row: &Row<'_>, run: &str, node: &str) -> Option<Self> {
        let found = Self {
            seq: row.get(0).ok()?,
            branches: row.get(1).ok()?,
            attempts_sum: row.get(2).ok()?,
            created_seq: row.get(3).ok()?,
            blocked: row.get(4).ok()?,
        };
        let crc: u32 = row.get(5).ok()?;
        (crc == found.node_row_checksum(run, node)).then_some(found)
    }

    pub(crate) fn node_row_checksum(&self, run: &str, node: &str) -> u32 {
        let Self { seq, branches, attempts_sum, created_seq, blocked } = self;
        let row = format!("{run} {node} {seq} {branches} {attempts_sum} {created_seq} {blocked}");
        crc32fast::hash(row.as_bytes())
    }
}

/// What one row of an attempt adds to the sum in its node's row.
pub(crate) fn attempt_row_checksum(ack: &str, digest: &str, seq: i64) -> i64 {
    i64::from(crc32fast::hash(format!("{ack} {digest} {seq}").as_bytes()))
}
