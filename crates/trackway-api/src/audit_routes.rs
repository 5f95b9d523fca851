//! The audit log over REST: what callers of the tenant were refused.

use axum::{
    Json,
    extract::State,
    response::{IntoResponse, Response},
};
use serde::{Deserialize, Serialize};
use trackway_domain::{ErrorCode, Timestamp};
use trackway_http::{HttpError, QueryParams};
use trackway_ports::{AuditCursor, AuditEvent, AuditPage, ReadError};

use super::{
    api_caller::{ApiCaller, ApiOptions},
    check_run_list_limit,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AuditListParams {
    limit: Option<usize>,
    /// The `next` of the page before.
    cursor: Option<u64>,
}

/// A page of the audit log, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AuditList {
    pub items: Vec<AuditEntry>,
    /// Where the next page begins (`cursor`); null on the last one.
    pub next: Option<String>,
}

/// One refusal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// RFC 3339.
    pub at: String,
    pub user: String,
    /// What the caller wanted to do, such as `artifact:read`.
    pub action: String,
    /// What it wanted to do it to, as the caller named it.
    pub object: String,
    /// Why not. It does not say whether the object exists.
    pub reason: String,
}

/// The log of the caller's whole tenant: whoever may read it watches over all users of the tenant.
pub(super) async fn list_audit_events(
    State(ApiOptions { audit_log, audit, .. }): State<ApiOptions>,
    caller: ApiCaller,
    QueryParams(params): QueryParams<AuditListParams>,
) -> Result<Response, HttpError> {
    caller.authenticated.check_can_read_audit()?;
    let limit = check_run_list_limit(params.limit)?;
    // A refusal that was answered before this request is in the answer.
    audit.wait_until_recorded().await;
    let tenant = caller.authenticated.0.caller.tenant.to_string();
    let page = audit_log.list_audit_events(tenant, params.cursor.map(AuditCursor), limit).await;
    Ok(Json(AuditList::from(page.map_err(|error| audit_http_error(&error))?)).into_response())
}

impl From<AuditPage> for AuditList {
    fn from(page: AuditPage) -> Self {
        Self {
            items: page.events.into_iter().map(AuditEntry::from).collect(),
            next: page.next.map(|AuditCursor(number)| number.to_string()),
        }
    }
}

impl From<AuditEvent> for AuditEntry {
    fn from(event: AuditEvent) -> Self {
        let AuditEvent { at, tenant: _, user, action, object, reason } = event;
        Self { at: Timestamp::to_string(&at), user, action, object, reason }
    }
}

fn audit_http_error(error: &ReadError) -> HttpError {
    match error {
        ReadError::Unavailable { .. } => {
            tracing::warn!(%error, "the store is busy");
            HttpError::new(ErrorCode::StoreBusy, "the store is busy").with_hint("send the same request again")
        }
        ReadError::Damaged { .. } | ReadError::DamagedBlob { .. } | ReadError::Broken { .. } => {
            // The internal cause is only for the operator.
            tracing::error!(%error, "the audit log could not be read");
            HttpError::new(ErrorCode::Internal, "the audit log could not be read")
                .with_hint("see the server's log")
        }
    }
}
