//! Traits at the edge of the core, and the stored record formats.
//!
//! The runtime reaches the outside world only through these traits. Every trait says what its
//! caller may assume after a crash, because a crash is a normal way to stop.

mod append;
mod blobs;
mod error;
mod faults;
mod feed;
mod guided;
mod headers;
mod hooks;
mod identity;
mod journal;
mod leases;
mod lineage;
mod record;
mod removal;
mod rows;
mod store;
mod wakeups;
mod world;

use std::{future::Future, pin::Pin};

pub use append::{
    Append, AppendId, Claim, ClaimKey, Done, OutboxChange, OutboxId, Receipt, TimerChange,
};
pub use blobs::{BlobHash, Blobs};
pub use error::{AppendError, ReadError};
pub use faults::{Faults, NoFaults};
pub use feed::{FeedCursor, FeedEvent, FeedPage};
pub use guided::{AskedPlace, AttemptKey, NodePlace, Pinned, SessionRow, attempt_of, node_of};
pub use headers::{bearer, host_of, is_local_host};
pub use hooks::{DueHook, Hook, HookChange, HookTarget};
pub use identity::{Gatekeeper, Identity, Unrecognised};
pub use journal::Journal;
pub use leases::{
    ClaimedRun, Epoch, Fence, Lease, LeaseTerm, Leases, RunLease, WorkClaim, WorkerId,
};
pub use lineage::{Growth, Lineage, LineageLimits, checkpointed, made_by};
pub use record::{DecodeError, FORMAT_NEWEST, decode, encode};
pub use removal::{Removal, RunHead};
pub use rows::{
    DueTimer, OutboxRow, RunFilter, RunPage, RunPlace, RunQuery, RunRow, Stored, StoredRun,
};
pub use store::{OpenStore, OpenStoreError, Store};
/// What an outbox row holds.
pub use trackway_domain::Errand as OutboxItem;
pub use wakeups::{Listener, LocalWakeups, Wakeup, Wakeups};
pub use world::{Clock, Ids};

/// The future of every port method: boxed, so that ports can be `dyn`.
pub type PortFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A read of a store.
pub type ReadFuture<'a, T> = PortFuture<'a, Result<T, ReadError>>;

/// An awaited write to a store. Appends to the log use a callback: [`Journal::append`].
pub type WriteFuture<'a> = PortFuture<'a, Result<(), AppendError>>;
