//! Sessions of a store that somebody else may be writing to.

use std::{collections::BTreeSet, sync::Arc};

use trackway_agent::Bill;
use trackway_domain::{Access, SessionId};
use trackway_engine::SessionView;
use trackway_ports::{Journal, RunRow};

use super::{SessionDetail, SessionGraph, SessionSummary, SessionUsage, SessionsError, log};

/// How many other sessions an error about an unknown one looks through for one that was meant.
/// Limit (Sessions): sessions that are searched for a similar id.
const NEAR_MAX: usize = 500;

/// The sessions that somebody may see. Reading needs a store that was opened for reading only.
#[derive(Debug, Clone)]
pub struct SessionsReader {
    pub(super) journal: Arc<dyn Journal>,
    pub(super) access: Access,
}

impl SessionsReader {
    /// For the caller on a machine without auth.
    pub fn local(journal: Arc<dyn Journal>) -> Self {
        Self::of(journal, Access::local())
    }

    pub fn of(journal: Arc<dyn Journal>, access: Access) -> Self {
        Self { journal, access }
    }

    /// The sessions, those that something was recorded in last coming first.
    pub async fn list(&self, limit: usize) -> Result<Vec<SessionSummary>, SessionsError> {
        let mut sessions = Vec::new();
        for row in self.journal.sessions(self.access.clone(), limit).await? {
            let runs = row.workflows.iter().filter(|workflow| !workflow.holds_session_notes());
            let names: Vec<&str> = runs.map(|workflow| workflow.name.as_str()).collect();
            let workflows: BTreeSet<&str> = names.iter().copied().collect();
            sessions.push(SessionSummary {
                session_id: row.id,
                runs: names.len(),
                workflows: workflows.into_iter().map(str::to_owned).collect(),
                created_at: row.created_at.to_string(),
                updated_at: row.updated_at.to_string(),
            });
        }
        Ok(sessions)
    }

    /// Everything that the log tells of a session.
    pub async fn view(&self, id: &SessionId) -> Result<SessionView, SessionsError> {
        let rows = self.rows(id).await?;
        let mut tracks = Vec::with_capacity(rows.len());
        for row in &rows {
            tracks.push(log::read(&*self.journal, row.id).await?.track(row));
        }
        Ok(SessionView::new(id.clone(), tracks))
    }

    /// The session's runs and documents.
    pub async fn show(&self, id: &SessionId) -> Result<SessionDetail, SessionsError> {
        let rows = self.rows(id).await?;
        let (mut tracks, mut usage) = (Vec::with_capacity(rows.len()), SessionUsage::default());
        for row in &rows {
            let log = log::read(&*self.journal, row.id).await?;
            if let Some(bill) = Bill::of(log.events.iter().map(|stored| &stored.event)) {
                usage.add(&row.workflow.name, &bill);
            }
            tracks.push(log.track(row));
        }
        let detail = SessionDetail::from(&SessionView::new(id.clone(), tracks));
        let usage = (usage.total.total.calls > 0).then_some(usage);
        Ok(SessionDetail { usage, ..detail })
    }

    /// The session's lineage.
    pub async fn graph(&self, id: &SessionId) -> Result<SessionGraph, SessionsError> {
        Ok(SessionGraph::from(&self.view(id).await?))
    }

    /// The session as a page of Markdown: every run, every branch, every document.
    pub async fn markdown(&self, id: &SessionId) -> Result<String, SessionsError> {
        let view = self.view(id).await?;
        Ok(super::markdown::page(&view))
    }

    /// The session's own notes as Markdown, oldest first.
    pub async fn notes(&self, id: &SessionId) -> Result<String, SessionsError> {
        let view = self.view(id).await?;
        Ok(super::markdown::notes_page(&view.notes()))
    }

    /// The runs of a session; there is at least one.
    pub(super) async fn rows(&self, id: &SessionId) -> Result<Vec<RunRow>, SessionsError> {
        let rows = self.journal.session_runs(self.access.clone(), id.clone()).await?;
        if !rows.is_empty() {
            return Ok(rows);
        }
        let known = self.journal.sessions(self.access.clone(), NEAR_MAX).await?;
        let known = known.into_iter().map(|row| row.id.to_string()).collect();
        Err(SessionsError::Unknown { id: id.clone(), known })
    }
}
