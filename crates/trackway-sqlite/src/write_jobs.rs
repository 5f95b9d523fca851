//! Work that is encoded for the writer. Encoding happens on the caller's thread, because the writer's
//! time limits the store.

use std::sync::Arc;

use rusqlite::Connection;
use trackway_domain::{ArtifactIndexEntry, Event, RunId, Seq, Timestamp};
use trackway_ports::{
    Append, AppendCallback, AppendFence, AuditEvent, BlobHash, HookChange, MessageClaim, OutboxChange,
    OutboxId, PinnedDefinition, ReadError, RunRemoval, RunRow, TimerChange, WorkerId, encode_event,
};

use crate::{blobs::hash_bytes, guided_index_entries::GuidedIndexEntries, json, read::format_worker_key};

/// Largest event body that is kept in its row. SQLite reads bodies of this size faster than a file can
/// be opened. Larger bodies would push everything else out of the page cache and make every checkpoint
/// longer.
/// Limit (Store): event body that is stored in its row.
pub(crate) const INLINE_BYTES_MAX: usize = 64 * 1024;

/// Work on its way to the writer.
pub(crate) struct WriteJob {
    pub(crate) work: WriteRequest,
    pub(crate) done: AppendCallback,
}

pub(crate) enum WriteRequest {
    Append(Box<EncodedAppend>),
    Maintenance(MaintenanceRequest),
}

/// Work that is not a single append and has its own transaction.
pub(crate) enum MaintenanceRequest {
    /// Remove these runs with everything that belongs only to them.
    Remove(RunRemoval),
    /// Write all of these appends, or none.
    AppendAll(Vec<EncodedAppend>),
    /// Write these events of the audit log.
    RecordAudit(Vec<AuditEvent>),
    /// Write or delete versions of artifacts.
    Artifacts(ArtifactTransaction),
    /// Change leases, or claim work.
    Claim(ClaimTransaction),
}

/// A change of artifacts that no append brings.
pub(crate) struct ArtifactTransaction {
    /// The content of a new version, which is in its file already.
    pub(crate) content: Option<(BlobHash, Arc<Vec<u8>>)>,
    pub(crate) write: ArtifactWrite,
}

/// Returns the blobs that may no longer be needed. The write itself sends its result to the caller.
pub(crate) type ArtifactWrite = Box<dyn Fn(&Connection) -> rusqlite::Result<Vec<BlobHash>> + Send>;

/// Returns the runs whose driver it has changed. The claim itself sends its result to the caller.
pub(crate) type ClaimTransaction = Box<dyn Fn(&Connection) -> Result<Vec<RunId>, ReadError> + Send>;

impl WriteJob {
    pub(crate) fn is_append_job(&self) -> bool {
        matches!(self.work, WriteRequest::Append(_))
    }
}

impl WriteRequest {
    pub(crate) fn encode_append_request(append: Append) -> Self {
        Self::Append(Box::new(EncodedAppend::new(append)))
    }
}

pub(crate) struct EncodedAppend {
    /// Its id as stored.
    pub(crate) id: Option<i64>,
    pub(crate) worker: Option<WorkerId>,
    /// The worker as stored.
    pub(crate) worker_key: Option<String>,
    pub(crate) fence: AppendFence,
    pub(crate) run: RunId,
    /// The run's id as stored.
    pub(crate) key: String,
    pub(crate) expected: Seq,
    pub(crate) at: i64,
    pub(crate) records: Vec<EncodedEvent>,
    pub(crate) row: Option<RunRow>,
    pub(crate) timers: Vec<TimerChange>,
    pub(crate) outbox: Vec<EncodedOutboxChange>,
    pub(crate) claim: Option<EncodedMessageClaim>,
    pub(crate) hooks: Vec<HookChange>,
    /// Idle hooks become due with this append.
    pub(crate) notifies_hooks: bool,
    pub(crate) pins: Vec<EncodedPinnedDefinition>,
    /// What its events add to the index of artifacts, each with the time of its event.
    pub(crate) artifacts: Vec<(ArtifactIndexEntry, Timestamp)>,
    /// Runs that start with it.
    pub(crate) started_runs: Vec<EncodedAppend>,
}

/// A definition that the run is pinned to.
#[derive(Debug)]
pub(crate) struct EncodedPinnedDefinition {
    pub(crate) hash: String,
    pub(crate) crc: u32,
    pub(crate) body: String,
}

#[derive(Debug)]
pub(crate) struct EncodedEvent {
    pub(crate) at: i64,
    pub(crate) kind: &'static str,
    /// Checksum of the body, or of the blob's name, before it is combined with the event's key.
    pub(crate) crc: u32,
    pub(crate) body: String,
    /// The file of the body, if it is too large for its row.
    pub(crate) blob: Option<BlobHash>,
    /// It is a guided event.
    pub(crate) guided: bool,
    /// Its entries in the index of guided runs.
    pub(crate) index_entries: Option<Box<GuidedIndexEntries>>,
}

#[derive(Debug)]
pub(crate) enum EncodedOutboxChange {
    Add { id: String, body: String },
    Remove { id: String },
}

#[derive(Debug)]
pub(crate) struct EncodedMessageClaim {
    pub(crate) claim: MessageClaim,
    /// The claim's reply as stored.
    pub(crate) reply: String,
}

impl EncodedAppend {
    pub(crate) fn new(append: Append) -> Self {
        let tells = append.notifies_hooks && !append.events.is_empty();
        // An event without its own time gets the time of the append.
        let own = append.event_times.iter().copied();
        let times = own.chain(std::iter::repeat(append.at));
        let artifact_times: Vec<_> = append.artifacts.iter().map(|it| append.event_time(it.seq)).collect();
        let records = append.events.iter().zip(times).map(EncodedEvent::new).collect();
        Self {
            id: append.id.map(|id| id.0.cast_signed()),
            worker: append.worker,
            worker_key: append.worker.map(format_worker_key),
            fence: append.fence,
            run: append.run,
            key: append.run.to_string(),
            expected: append.expected,
            at: append.at.millis(),
            records,
            row: append.row,
            timers: append.timer_changes,
            outbox: append.outbox_changes.iter().map(EncodedOutboxChange::new).collect(),
            claim: append
                .message_claim
                .map(|claim| EncodedMessageClaim { reply: json::to_json_text(&claim.reply), claim }),
            hooks: append.hook_changes,
            notifies_hooks: tells,
            pins: append.pins.into_iter().map(EncodedPinnedDefinition::new).collect(),
            artifacts: append.artifacts.into_iter().zip(artifact_times).collect(),
            started_runs: append.started_runs.into_iter().map(Self::new).collect(),
        }
    }
}

impl EncodedAppend {
    /// The append, and the appends of the runs that start with it.
    pub(crate) fn iter_with_started_run_appends(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(&self.started_runs)
    }
}

impl EncodedPinnedDefinition {
    fn new(PinnedDefinition { hash, body }: PinnedDefinition) -> Self {
        Self { crc: crc32fast::hash(body.as_bytes()), hash, body }
    }
}

impl EncodedEvent {
    fn new((event, at): (&Event, Timestamp)) -> Self {
        let body = encode_event(event);
        let blob = (body.len() > INLINE_BYTES_MAX).then(|| hash_bytes(body.as_bytes()));
        let crc = match blob {
            Some(hash) => crc32fast::hash(hash.to_string().as_bytes()),
            None => crc32fast::hash(body.as_bytes()),
        };
        Self {
            at: at.millis(),
            index_entries: GuidedIndexEntries::index_entries_from_event(event),
            guided: matches!(event, Event::Guided(_)),
            kind: event.event_name(),
            crc,
            blob,
            body,
        }
    }
}

impl EncodedOutboxChange {
    fn new(change: &OutboxChange) -> Self {
        match change {
            OutboxChange::Add(id, item) => {
                Self::Add { id: format_outbox_key(*id), body: json::to_json_text(item) }
            }
            OutboxChange::Remove(id) => Self::Remove { id: format_outbox_key(*id) },
        }
    }
}

/// An outbox id as stored; its text sorts as the id does.
pub(crate) fn format_outbox_key(id: OutboxId) -> String {
    id.0.simple().to_string()
}
