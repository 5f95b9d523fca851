//! Reads sessions of a store that another process may be writing to.

use std::{collections::BTreeSet, sync::Arc};

use trackway_agent::ModelUsageReport;
use trackway_domain::{Access, SessionId};
use trackway_engine::SessionView;
use trackway_ports::{Journal, RunRow};

use super::{SessionDetail, SessionGraph, SessionSummary, SessionUsage, SessionsError, run_log};

/// How many other sessions are searched for the one that was meant, if a session is unknown.
/// Limit (Sessions): sessions that are searched for a similar id.
const SIMILAR_IDS_SEARCHED_MAX: usize = 500;

/// The sessions that a caller may see. Reading needs a store that is open for reading only.
#[derive(Debug, Clone)]
pub struct SessionsReader {
    pub(super) journal: Arc<dyn Journal>,
    pub(super) access: Access,
}

impl SessionsReader {
    /// For the caller on a machine without authentication.
    pub fn for_local_caller(journal: Arc<dyn Journal>) -> Self {
        Self::for_access(journal, Access::local_without_auth())
    }

    pub fn for_access(journal: Arc<dyn Journal>, access: Access) -> Self {
        Self { journal, access }
    }

    /// The sessions, the most recently changed first.
    pub async fn list_sessions(&self, limit: usize) -> Result<Vec<SessionSummary>, SessionsError> {
        let mut sessions = Vec::new();
        for row in self.journal.list_sessions(self.access.clone(), limit).await? {
            let runs = row.workflows.iter().filter(|workflow| !workflow.is_session_notes_workflow());
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

    /// Everything that the log says about a session.
    pub async fn load_session(&self, id: &SessionId) -> Result<SessionView, SessionsError> {
        let rows = self.load_session_run_rows(id).await?;
        let mut tracks = Vec::with_capacity(rows.len());
        for row in &rows {
            tracks.push(run_log::load_run_log(&*self.journal, row.id).await?.to_run_tree(row));
        }
        Ok(SessionView::new(id.clone(), tracks))
    }

    /// The session's runs and documents.
    pub async fn load_session_detail(&self, id: &SessionId) -> Result<SessionDetail, SessionsError> {
        let rows = self.load_session_run_rows(id).await?;
        let (mut tracks, mut usage) = (Vec::with_capacity(rows.len()), SessionUsage::default());
        for row in &rows {
            let log = run_log::load_run_log(&*self.journal, row.id).await?;
            if let Some(bill) =
                ModelUsageReport::report_from_events(log.events.iter().map(|stored| &stored.event))
            {
                usage.add_run_usage(&row.workflow.name, &bill);
            }
            tracks.push(log.to_run_tree(row));
        }
        let detail = SessionDetail::from(&SessionView::new(id.clone(), tracks));
        let usage = (usage.total.total.calls > 0).then_some(usage);
        Ok(SessionDetail { usage, ..detail })
    }

    /// The session's lineage.
    pub async fn load_session_graph(&self, id: &SessionId) -> Result<SessionGraph, SessionsError> {
        Ok(SessionGraph::from(&self.load_session(id).await?))
    }

    /// The session as a page of Markdown: every run, every branch, every document.
    pub async fn render_session_markdown(&self, id: &SessionId) -> Result<String, SessionsError> {
        let view = self.load_session(id).await?;
        Ok(super::markdown::render_session_page(&view))
    }

    /// The session's own notes as Markdown, oldest first.
    pub async fn render_session_notes_markdown(&self, id: &SessionId) -> Result<String, SessionsError> {
        let view = self.load_session(id).await?;
        Ok(super::markdown::render_session_notes(&view.session_notes()))
    }

    /// The runs of a session; there is at least one.
    pub(super) async fn load_session_run_rows(&self, id: &SessionId) -> Result<Vec<RunRow>, SessionsError> {
        let rows = self.journal.list_session_runs(self.access.clone(), id.clone()).await?;
        if !rows.is_empty() {
            return Ok(rows);
        }
        let known = self.journal.list_sessions(self.access.clone(), SIMILAR_IDS_SEARCHED_MAX).await?;
        let known = known.into_iter().map(|row| row.id.to_string()).collect();
        Err(SessionsError::UnknownSession { id: id.clone(), known })
    }
}
