//! Traits at the edge of the core, and the stored record formats.
//!
//! The runtime reaches the outside world only through these traits. Every trait says what its
//! caller may assume after a crash, because a crash is a normal way to stop.

mod append;
mod artifacts;
mod audit;
mod blobs;
mod clock_and_ids;
mod error;
mod event_feed;
mod event_record;
mod fault_injection;
mod guided_index;
mod hooks;
mod http_headers;
mod identity;
mod index_rows;
mod journal;
mod keys;
mod leases;
mod node_lineage;
mod run_removal;
mod step_notes;
mod store;
mod wakeups;

use std::{future::Future, pin::Pin};

pub use append::{
    Append, AppendCallback, AppendId, AppendReceipt, MessageClaim, MessageClaimKey, OutboxChange, OutboxId,
    TimerChange,
};
pub use artifacts::{
    ArtifactContent, ArtifactCursor, ArtifactFilter, ArtifactKey, ArtifactQuota, ArtifactStore,
    ArtifactVersionQuery, ArtifactVersionRow, ArtifactWriteError, ArtifactWriteFuture, NewArtifactVersion,
    NextArtifactVersion,
};
pub use audit::{
    AUDIT_EVENTS_PER_TENANT_MAX, AuditCursor, AuditEvent, AuditLog, AuditPage, AuditRecorder,
    NoAuditRecorder, RefusedAction, SharedAuditRecorder,
};
pub use blobs::{BlobHash, Blobs};
pub use clock_and_ids::{Clock, IdSource};
pub use error::{AppendError, ReadError};
pub use event_feed::{FeedCursor, FeedEvent, FeedPage};
pub use event_record::{DecodeEventError, FORMAT_LATEST, decode_event, encode_event};
pub use fault_injection::{FaultInjector, NoFaultInjection};
pub use guided_index::{
    AttemptKey, NodeWithAttempt, PinnedDefinition, SessionRow, StoredNode, attempt_in_event, node_in_event,
};
pub use hooks::{DueHook, Hook, HookChange, HookTarget};
pub use http_headers::{CALL_TOKEN_HEADER, host_of_origin, is_local_host, parse_bearer_token};
pub use identity::{Authenticator, Credentials, Identity, Unauthenticated};
pub use index_rows::{
    DueTimer, OutboxRow, RunFilter, RunPage, RunRow, StatusTimeCursor, StatusTimeQuery, StoredEvent,
    StoredRun,
};
pub use journal::Journal;
pub use keys::{
    KeyDocument, KeyDocumentName, KeyFuture, KeyInspection, KeyRevision, KeyStore, KeyStoreError,
};
pub use leases::{
    AppendFence, ClaimedRun, DriverEpoch, LeaseMode, Leases, RunLease, WorkClaim, WorkerId, WorkerLease,
};
pub use node_lineage::{ChildBranch, LineageLimits, NodeLineage, checkpointed_node_id, created_node_id};
pub use run_removal::{RunLogHead, RunRemoval};
pub use step_notes::{StepNoteHandler, StepNoteReleaseError};
pub use store::{OpenStoreError, Store, StoreOpener};
/// What an outbox row holds.
pub use trackway_domain::CrossRunErrand as OutboxItem;
pub use wakeups::{InProcessWakeups, Wakeup, WakeupListener, Wakeups};

/// The future of every port method: boxed, so that ports can be `dyn`.
pub type PortFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A read of a store.
pub type ReadFuture<'a, T> = PortFuture<'a, Result<T, ReadError>>;

/// An awaited write to a store. Appends to the log use a callback: [`Journal::append`].
pub type WriteFuture<'a> = PortFuture<'a, Result<(), AppendError>>;
