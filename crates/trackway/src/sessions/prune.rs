//! Retention: sessions in which nothing was recorded for long enough are removed, whoever they belong
//! to. A session with an unfinished run stays, however old it is, and so does one that cannot be read
//! to its end: it may be all that is left to find out why.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use serde::Serialize;
use trackway_domain::{Caller, SessionId, Timestamp};
use trackway_engine::SessionView;
use trackway_ports::{Journal, RunFilter, RunRow};

use super::{SessionsError, log};

/// What to remove.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prune {
    pub now: Timestamp,
    /// Sessions whose newest record is at least this old.
    pub older_than: Duration,
    /// Only say what would be removed.
    pub dry_run: bool,
}

/// A session that was removed, or would be.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Pruned {
    pub session_id: SessionId,
    pub tenant: String,
    pub user: String,
    pub runs: usize,
    pub updated_at: String,
}

impl Prune {
    /// Removes them, oldest first. The store must have been opened for writing, unless it is a dry run.
    pub async fn run(self, journal: &Arc<dyn Journal>) -> Result<Vec<Pruned>, SessionsError> {
        let mut found = Vec::new();
        for ((_, _, session), rows) in sessions(&**journal).await? {
            if let Some(updated) = self.takes(&**journal, &session, &rows).await? {
                found.push((updated, session, rows));
            }
        }
        found.sort_by_key(|(updated, ..)| *updated);
        let mut removed = Vec::with_capacity(found.len());
        for (updated, session, mut rows) in found {
            // A session is here because it has rows.
            let Some(caller) = rows.first().map(|row| row.caller.clone()) else { continue };
            if !self.dry_run {
                // Agents go on meanwhile, and reading all the others took its time.
                rows = log::rows(&**journal, &caller, &session).await?;
                if self.takes(&**journal, &session, &rows).await?.is_none() {
                    continue;
                }
                journal.remove(rows.iter().map(|row| row.id).collect()).await?;
            }
            removed.push(Pruned {
                session_id: session,
                tenant: caller.tenant.to_string(),
                user: caller.user.to_string(),
                runs: rows.len(),
                updated_at: updated.to_string(),
            });
        }
        Ok(removed)
    }

    /// When the session was last changed, if it is one to remove.
    async fn takes(
        self,
        journal: &dyn Journal,
        session: &SessionId,
        rows: &[RunRow],
    ) -> Result<Option<Timestamp>, SessionsError> {
        // Rows tell of most sessions that they are to stay, without their logs being read.
        if rows.iter().any(|row| row.runnable || !self.is_old(row.status_at)) {
            return Ok(None);
        }
        let mut tracks = Vec::with_capacity(rows.len());
        for row in rows {
            tracks.push(log::track(journal, row).await?);
        }
        let updated = tracks.iter().map(|track| track.updated_at).max().unwrap_or_default();
        let view = SessionView::new(session.clone(), tracks);
        Ok((view.is_finished() && self.is_old(updated)).then_some(updated))
    }

    fn is_old(self, at: Timestamp) -> bool {
        self.now.since(at) >= self.older_than
    }
}

type Key = (String, String, SessionId);

/// The rows of every session. One session id may name sessions of several callers.
async fn sessions(journal: &dyn Journal) -> Result<BTreeMap<Key, Vec<RunRow>>, SessionsError> {
    let mut sessions: BTreeMap<Key, Vec<RunRow>> = BTreeMap::new();
    for row in log::all_rows(journal, RunFilter::default()).await? {
        let Caller { tenant, user } = &row.caller;
        let key = (tenant.to_string(), user.to_string(), row.session.clone());
        sessions.entry(key).or_default().push(row);
    }
    Ok(sessions)
}
