//! Retention: removes sessions of all callers in which nothing was recorded for long enough. A session with
//! an unfinished run stays, however old it is, unless the run was started and never answered. A session
//! that cannot be read to its end also stays: it may be the only way to find out why.

use std::{collections::HashMap, sync::Arc, time::Duration};

use serde::Serialize;
use trackway_domain::{Access, Caller, SessionId, Timestamp};
use trackway_engine::SessionView;
use trackway_ports::{AppendError, Journal, ReadError, RunFilter, RunLogHead, RunRemoval, RunRow};

use super::{SessionsError, run_log};

/// Limit (Sessions): how long a run that was started and never answered keeps its session, at least. Its
/// tokens may have been lost with the answer to the start, or somebody may be on a long holiday.
const ABANDONED_AGE_MIN: Duration = Duration::from_secs(90 * 24 * 60 * 60);

/// What to remove.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PruneRequest {
    pub now: Timestamp,
    /// Sessions whose newest record is at least this old.
    pub older_than: Duration,
    /// Only say what would be removed.
    pub dry_run: bool,
}

/// A session that was removed, or would be.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PrunedSession {
    pub session_id: SessionId,
    pub tenant: String,
    pub user: String,
    pub runs: usize,
    pub updated_at: String,
}

impl PruneRequest {
    /// Removes them, oldest first. The store must be open for writing, unless it is a dry run.
    pub async fn prune_sessions(
        self,
        journal: &Arc<dyn Journal>,
    ) -> Result<Vec<PrunedSession>, SessionsError> {
        let mut found = Vec::new();
        for ((caller, session), rows) in load_run_rows_by_session(&**journal).await? {
            if let Some(PrunableSession { updated, .. }) =
                self.find_prunable_session(&**journal, &session, &rows).await?
            {
                found.push((updated, caller, session));
            }
        }
        found.sort_by(|one, other| (one.0, &one.2).cmp(&(other.0, &other.2)));
        let mut removed = Vec::with_capacity(found.len());
        for (_, caller, session) in found {
            removed.extend(self.remove_session_if_still_old(&**journal, caller, session).await?);
        }
        Ok(removed)
    }

    /// Checks again: agents continue to work, and reading all the other sessions took time. The store
    /// itself detects a change after this check.
    async fn remove_session_if_still_old(
        self,
        journal: &dyn Journal,
        caller: Caller,
        session: SessionId,
    ) -> Result<Option<PrunedSession>, SessionsError> {
        let access = Access::own_only(caller.clone());
        let rows = match journal.list_session_runs(access, session.clone()).await {
            Ok(rows) => rows,
            // It stays, like any damaged session, and does not prevent the removal of others.
            Err(ReadError::Damaged { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let Some(PrunableSession { updated, heads }) =
            self.find_prunable_session(journal, &session, &rows).await?
        else {
            return Ok(None);
        };
        let pruned = PrunedSession {
            session_id: session.clone(),
            tenant: caller.tenant.to_string(),
            user: caller.user.to_string(),
            runs: rows.len(),
            updated_at: updated.to_string(),
        };
        if self.dry_run {
            return Ok(Some(pruned));
        }
        let removal = RunRemoval { runs: heads, session: Some((caller, session)) };
        match journal.remove_runs(removal).await {
            Ok(()) => Ok(Some(pruned)),
            Err(AppendError::Conflict { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The current session, if it should be removed.
    async fn find_prunable_session(
        self,
        journal: &dyn Journal,
        session: &SessionId,
        rows: &[RunRow],
    ) -> Result<Option<PrunableSession>, SessionsError> {
        // For most sessions the rows alone show that they stay, without reading their logs.
        if rows.is_empty()
            || rows.iter().any(|row| row.runnable || !self.is_older_than_prune_limit(row.status_at))
        {
            return Ok(None);
        }
        let mut tracks = Vec::with_capacity(rows.len());
        let mut heads = Vec::with_capacity(rows.len());
        for row in rows {
            let log = run_log::load_run_log(journal, row.id).await?;
            heads.push(RunLogHead { run: row.id, head: log.last_readable_seq() });
            tracks.push(log.to_run_tree(row));
        }
        let updated = tracks.iter().map(|track| track.updated_at).max().unwrap_or_default();
        let view = SessionView::new(session.clone(), tracks);
        let spared = self.older_than.max(ABANDONED_AGE_MIN);
        let abandoned =
            self.now.millis().saturating_sub(i64::try_from(spared.as_millis()).unwrap_or(i64::MAX));
        let is_old = view.can_be_removed(Timestamp(abandoned)) && self.is_older_than_prune_limit(updated);
        Ok(is_old.then_some(PrunableSession { updated, heads }))
    }

    fn is_older_than_prune_limit(self, at: Timestamp) -> bool {
        self.now.duration_since(at) >= self.older_than
    }
}

/// A session that is old enough, as it was when it was checked.
struct PrunableSession {
    /// When it was last changed.
    updated: Timestamp,
    heads: Vec<RunLogHead>,
}

/// The rows of every session. One session id may name sessions of several callers.
async fn load_run_rows_by_session(
    journal: &dyn Journal,
) -> Result<HashMap<(Caller, SessionId), Vec<RunRow>>, SessionsError> {
    let mut sessions: HashMap<(Caller, SessionId), Vec<RunRow>> = HashMap::new();
    for row in run_log::load_all_run_rows(journal, RunFilter::default()).await? {
        let key = (row.caller.clone(), row.session.clone());
        sessions.entry(key).or_default().push(row);
    }
    Ok(sessions)
}
