//! The audit log: what callers of a tenant were refused.

use std::{fmt, sync::Arc};

use trackway_domain::{Caller, Timestamp};

use crate::{PortFuture, ReadFuture, WriteFuture};

/// Events that are kept for one tenant; the oldest go first. Enough for weeks of ordinary mistakes, and a
/// caller that is refused all the time costs its own tenant's history and a few megabytes.
/// Limit (Store): audit events of one tenant.
pub const AUDIT_EVENTS_PER_TENANT_MAX: usize = 10_000;
/// Longest name of an action: a few words.
/// Limit (Store): action of an audit event.
const ACTION_BYTES_MAX: usize = 64;
/// The longest name that a caller can ask for, with room.
/// Limit (Store): object of an audit event.
const OBJECT_BYTES_MAX: usize = 512;
/// One sentence.
/// Limit (Store): reason of an audit event.
const REASON_BYTES_MAX: usize = 512;

/// A caller was refused something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEvent {
    pub at: Timestamp,
    /// The caller's tenant, which alone may read the event.
    pub tenant: String,
    pub user: String,
    /// What the caller wanted to do, such as `artifact:read`.
    pub action: String,
    /// What it wanted to do it to, as the caller named it.
    pub object: String,
    /// Why it was refused. It is the same for a thing that is missing and a thing of somebody else.
    pub reason: String,
}

impl AuditEvent {
    /// The event of a refusal. Texts that are too long are cut; the names of tenants and users have their
    /// own limits where a caller is authenticated.
    pub fn new(at: Timestamp, caller: &Caller, refused: &RefusedAction<'_>) -> Self {
        Self {
            at,
            tenant: caller.tenant.to_string(),
            user: caller.user.to_string(),
            action: cut_text(refused.action, ACTION_BYTES_MAX),
            object: cut_text(refused.object, OBJECT_BYTES_MAX),
            reason: cut_text(refused.reason, REASON_BYTES_MAX),
        }
    }
}

/// The text, or its beginning with an ellipsis.
fn cut_text(text: &str, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(bytes_max - '…'.len_utf8())])
}

/// What a caller wanted and did not get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RefusedAction<'a> {
    /// The name of the action, such as `artifact:read`; [`trackway_domain::Permission::action`] has those
    /// that need a scope.
    pub action: &'a str,
    /// What it was to be done to, as the caller named it.
    pub object: &'a str,
    /// Why, in words that do not reveal whether the object exists.
    pub reason: &'a str,
}

/// Where the next page of a listing begins. Only the store that made it understands it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditCursor(pub u64);

/// Some of a tenant's events, newest first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AuditPage {
    pub events: Vec<AuditEvent>,
    /// `None` if there are no older events.
    pub next: Option<AuditCursor>,
}

/// The stored audit events of all tenants.
///
/// After `record_audit_events` returns `Ok`, all of the events survive a crash. After a crash or an error,
/// all of them are stored or none.
pub trait AuditLog: Send + Sync + fmt::Debug {
    /// Stores the events in one transaction, and removes the oldest events of a tenant that has more than
    /// [`AUDIT_EVENTS_PER_TENANT_MAX`].
    fn record_audit_events(&self, events: Vec<AuditEvent>) -> WriteFuture<'_>;

    /// The tenant's events, newest first, at most `limit`, starting after `before` if it is set. Of two
    /// events, the one that was recorded later is the newer one.
    fn list_audit_events(
        &self,
        tenant: String,
        before: Option<AuditCursor>,
        limit: usize,
    ) -> ReadFuture<'_, AuditPage>;
}

/// Takes refusals on their way to the [`AuditLog`]. It never makes a request wait or fail.
pub trait AuditRecorder: Send + Sync + fmt::Debug {
    /// Returns at once. The event is stored soon; if it cannot be stored, it is logged instead.
    fn record_refusal(&self, caller: &Caller, refused: RefusedAction<'_>);

    /// Returns when every refusal that was recorded before this call is stored, or logged as lost.
    fn wait_until_recorded(&self) -> PortFuture<'_, ()>;
}

/// A recorder that several parts of a server share.
pub type SharedAuditRecorder = Arc<dyn AuditRecorder>;

/// Records nothing: for programs without an audit log.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoAuditRecorder;

impl AuditRecorder for NoAuditRecorder {
    fn record_refusal(&self, _caller: &Caller, _refused: RefusedAction<'_>) {}

    fn wait_until_recorded(&self) -> PortFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}
