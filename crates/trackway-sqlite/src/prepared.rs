//! Work that is encoded for the writer. Encoding happens on the caller's thread, because the writer's
//! time limits the store.

use rusqlite::Connection;
use trackway_domain::{Event, RunId, Seq, Timestamp};
use trackway_ports::{
    Append, BlobHash, Claim, Done, Fence, HookChange, OutboxChange, OutboxId, Pinned, ReadError,
    Removal, RunRow, TimerChange, WorkerId, encode,
};

use crate::{blobs::hash_of, json, marks::Marks, read::worker_key};

/// Largest event body that is kept in its row. SQLite reads bodies of this size faster than a file can
/// be opened. Larger bodies would push everything else out of the page cache and make every checkpoint
/// longer.
/// Limit (Store): event body that is stored in its row.
pub(crate) const INLINE_BYTES_MAX: usize = 64 * 1024;

/// Work on its way to the writer.
pub(crate) struct Job {
    pub(crate) work: Work,
    pub(crate) done: Done,
}

pub(crate) enum Work {
    Append(Box<Prepared>),
    Upkeep(Upkeep),
}

/// Work that is not a single append and has its own transaction.
pub(crate) enum Upkeep {
    /// Remove these runs with everything that belongs only to them.
    Remove(Removal),
    /// Write all of these appends, or none.
    Together(Vec<Prepared>),
    /// Change leases, or claim work.
    Claim(ClaimWork),
}

/// Returns the runs whose driver it has changed. The claim itself sends its result to the caller.
pub(crate) type ClaimWork = Box<dyn Fn(&Connection) -> Result<Vec<RunId>, ReadError> + Send>;

impl Job {
    pub(crate) fn is_append(&self) -> bool {
        matches!(self.work, Work::Append(_))
    }
}

impl Work {
    pub(crate) fn append(append: Append) -> Self {
        Self::Append(Box::new(Prepared::new(append)))
    }
}

pub(crate) struct Prepared {
    /// Its id as stored.
    pub(crate) id: Option<i64>,
    pub(crate) worker: Option<WorkerId>,
    /// The worker as stored.
    pub(crate) worker_key: Option<String>,
    pub(crate) fence: Fence,
    pub(crate) run: RunId,
    /// The run's id as stored.
    pub(crate) key: String,
    pub(crate) expected: Seq,
    pub(crate) at: i64,
    pub(crate) records: Vec<Record>,
    pub(crate) row: Option<RunRow>,
    pub(crate) timers: Vec<TimerChange>,
    pub(crate) outbox: Vec<OutboxWrite>,
    pub(crate) claim: Option<ClaimWrite>,
    pub(crate) hooks: Vec<HookChange>,
    /// Idle hooks become due with this append.
    pub(crate) tells: bool,
    pub(crate) pins: Vec<Pin>,
    /// Runs that start with it.
    pub(crate) starts: Vec<Prepared>,
}

/// A definition that the run is pinned to.
#[derive(Debug)]
pub(crate) struct Pin {
    pub(crate) hash: String,
    pub(crate) crc: u32,
    pub(crate) body: String,
}

#[derive(Debug)]
pub(crate) struct Record {
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
    pub(crate) marks: Option<Box<Marks>>,
}

#[derive(Debug)]
pub(crate) enum OutboxWrite {
    Add { id: String, body: String },
    Remove { id: String },
}

#[derive(Debug)]
pub(crate) struct ClaimWrite {
    pub(crate) claim: Claim,
    /// The claim's reply as stored.
    pub(crate) reply: String,
}

impl Prepared {
    pub(crate) fn new(append: Append) -> Self {
        let tells = append.tells && !append.events.is_empty();
        // An event without its own time gets the time of the append.
        let own = append.stamps.iter().copied();
        let times = own.chain(std::iter::repeat(append.at));
        let records = append.events.iter().zip(times).map(Record::new).collect();
        Self {
            id: append.id.map(|id| id.0.cast_signed()),
            worker: append.worker,
            worker_key: append.worker.map(worker_key),
            fence: append.fence,
            run: append.run,
            key: append.run.to_string(),
            expected: append.expected,
            at: append.at.millis(),
            records,
            row: append.row,
            timers: append.timers,
            outbox: append.outbox.iter().map(OutboxWrite::new).collect(),
            claim: append
                .claim
                .map(|claim| ClaimWrite { reply: json::to_text(&claim.reply), claim }),
            hooks: append.hooks,
            tells,
            pins: append.pins.into_iter().map(Pin::new).collect(),
            starts: append.starts.into_iter().map(Self::new).collect(),
        }
    }
}

impl Prepared {
    /// The append, and the appends of the runs that start with it.
    pub(crate) fn with_starts(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(&self.starts)
    }
}

impl Pin {
    fn new(Pinned { hash, body }: Pinned) -> Self {
        Self { crc: crc32fast::hash(body.as_bytes()), hash, body }
    }
}

impl Record {
    fn new((event, at): (&Event, Timestamp)) -> Self {
        let body = encode(event);
        let blob = (body.len() > INLINE_BYTES_MAX).then(|| hash_of(body.as_bytes()));
        let crc = match blob {
            Some(hash) => crc32fast::hash(hash.to_string().as_bytes()),
            None => crc32fast::hash(body.as_bytes()),
        };
        Self {
            at: at.millis(),
            marks: Marks::of(event),
            guided: matches!(event, Event::Guided(_)),
            kind: event.name(),
            crc,
            blob,
            body,
        }
    }
}

impl OutboxWrite {
    fn new(change: &OutboxChange) -> Self {
        match change {
            OutboxChange::Add(id, item) => {
                Self::Add { id: outbox_key(*id), body: json::to_text(item) }
            }
            OutboxChange::Remove(id) => Self::Remove { id: outbox_key(*id) },
        }
    }
}

/// An outbox id as stored; its text sorts as the id does.
pub(crate) fn outbox_key(id: OutboxId) -> String {
    id.0.simple().to_string()
}
