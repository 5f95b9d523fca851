//! Finds runs for a caller without a token: by session, by ticket, by run or by words.

use serde_json::Value;
use trackway_domain::{Access, Event, NodeId, Object, RunId, SessionId, Timestamp};
use trackway_engine::check_guided_run_accepts_events;
use trackway_ports::{RunFilter, RunRow};

use super::{
    GuidedRunError, GuidedRuns, NodeRecap,
    node_recap::newest_open_snapshot,
    run_and_definition_loading::{guided_error_from_listing, guided_error_from_read},
    session_resolution::session_ids_in_context,
};

/// Limit (MCP): snapshots that workflow_resume returns.
const RESUME_ITEMS_MAX: usize = 10;
/// Limit (MCP): the newest runs that workflow_resume searches.
const RESUME_RUNS_MAX: usize = 100;
/// Rows that are read for them; those that hold a session's notes are left out.
const RESUME_ROWS: usize = 2 * RESUME_RUNS_MAX;
/// Limit (MCP): runs of one session that workflow_resume searches.
const RESUME_SESSION_RUNS_MAX: usize = 50;

/// The result of workflow_resume.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ResumeResults {
    /// Unfinished ones first, then the newest.
    pub items: Vec<ResumableRun>,
    /// More matched than are here.
    pub has_more: bool,
}

/// A run, and the snapshot to continue from.
#[derive(Debug, Clone, PartialEq)]
pub struct ResumableRun {
    pub session: SessionId,
    pub run: RunId,
    pub workflow: String,
    /// The name of the workflow.
    pub title: String,
    pub node: NodeId,
    /// Id and title of the pending step; none if the workflow is complete.
    pub step: Option<(String, String)>,
    pub updated_at: Timestamp,
    pub recap: NodeRecap,
}

/// The search query.
enum ResumeFilter {
    /// Every unfinished run.
    Unfinished,
    /// Every run of these rows.
    AllOf,
    /// Runs in which all of these are found.
    Words(Vec<String>),
}

impl GuidedRuns {
    /// The newest snapshots that the caller can continue from. `permits` says which workflows may be shown.
    pub async fn find_resumable_runs(
        &self,
        access: &Access,
        query: &str,
        is_workflow_allowed: &(dyn Fn(&str) -> bool + Sync),
    ) -> Result<ResumeResults, GuidedRunError> {
        let query = query.trim();
        let (rows, query) = self.list_resume_candidates(access, query).await?;
        let mut found = Vec::new();
        for row in rows {
            let is_one = !row.workflow.is_session_notes_workflow()
                && check_guided_run_accepts_events(row.state, false).is_ok()
                && is_workflow_allowed(&row.workflow.name);
            if is_one && let Some(item) = self.resumable_run_if_matching(&row, &query).await? {
                found.push(item);
            }
        }
        found.sort_by_key(|item| (item.step.is_none(), std::cmp::Reverse(item.updated_at)));
        let has_more = found.len() > RESUME_ITEMS_MAX;
        found.truncate(RESUME_ITEMS_MAX);
        Ok(ResumeResults { items: found, has_more })
    }

    async fn list_resume_candidates(
        &self,
        access: &Access,
        query: &str,
    ) -> Result<(Vec<RunRow>, ResumeFilter), GuidedRunError> {
        if query.is_empty() {
            return Ok((self.list_newest_accessible_runs(access).await?, ResumeFilter::Unfinished));
        }
        if let Ok(run) = query.parse::<RunId>() {
            return match self.load_accessible_run_row(access, run).await {
                Ok(row) => Ok((vec![row], ResumeFilter::AllOf)),
                Err(GuidedRunError::UnknownRun { .. }) => Ok((Vec::new(), ResumeFilter::AllOf)),
                Err(error) => Err(error),
            };
        }
        if let Ok(session) = SessionId::new(query) {
            let rows = self.list_session_runs(access, &session, RESUME_SESSION_RUNS_MAX).await?;
            if !rows.is_empty() {
                return Ok((rows, ResumeFilter::AllOf));
            }
        }
        let words = query.split_whitespace().map(str::to_lowercase).collect();
        Ok((self.list_newest_accessible_runs(access).await?, ResumeFilter::Words(words)))
    }

    /// The newest runs that the caller may see, as many as are searched.
    async fn list_newest_accessible_runs(&self, access: &Access) -> Result<Vec<RunRow>, GuidedRunError> {
        let filter = RunFilter { access: Some(access.clone()), ..RunFilter::default() };
        let rows = self.options.journal.list_runs(filter, None, RESUME_ROWS).await;
        let mut rows = rows.map_err(guided_error_from_listing)?;
        rows.retain(|row| !row.workflow.is_session_notes_workflow());
        rows.truncate(RESUME_RUNS_MAX);
        Ok(rows)
    }

    /// The run as an item, if an outside agent drives it and it matches. A run that cannot be read is
    /// skipped: the others can still be found.
    async fn resumable_run_if_matching(
        &self,
        row: &RunRow,
        query: &ResumeFilter,
    ) -> Result<Option<ResumableRun>, GuidedRunError> {
        let first = match self.options.journal.list_events(row.id, 0, 1).await {
            Ok(events) => events.into_iter().next(),
            Err(error) => match guided_error_from_read(row.id, error) {
                GuidedRunError::Damaged { .. } => None,
                error => return Err(error),
            },
        };
        let Some(Event::Submitted(submission)) = first.map(|stored| stored.event) else {
            return Ok(None);
        };
        if !submission.guided {
            return Ok(None);
        }
        let tail = self.load_newest_run_events(row.id).await?;
        let Some((node, pending)) = newest_open_snapshot(&tail) else { return Ok(None) };
        if matches!(query, ResumeFilter::Unfinished) && pending.is_none() {
            return Ok(None);
        }
        let recap = self.build_short_recap(row.id, node).await?;
        let title = self.workflow_title(row).await;
        let item = ResumableRun {
            session: row.session.clone(),
            run: row.id,
            workflow: row.workflow.name.clone(),
            title,
            node,
            step: pending.map(|pending| (pending.step.clone(), pending.title.clone())),
            updated_at: tail.first().map_or(row.status_at, |stored| stored.at),
            recap,
        };
        let matches = match query {
            ResumeFilter::Unfinished | ResumeFilter::AllOf => true,
            ResumeFilter::Words(words) => {
                let text = resumable_run_search_text(&item, &submission.input);
                words.iter().all(|word| text.contains(word))
            }
        };
        Ok(matches.then_some(item))
    }

    /// The name of the run's workflow, or its id if the definition cannot be read.
    async fn workflow_title(&self, row: &RunRow) -> String {
        let name = &row.workflow.name;
        match self.load_pinned_definition(row.id, name, &row.workflow.version).await {
            Ok(definition) => definition.name.clone(),
            Err(_) => name.clone(),
        }
    }
}

/// The text that is searched for words, in lower case.
fn resumable_run_search_text(item: &ResumableRun, input: &Value) -> String {
    let empty = Object::new();
    let ids = session_ids_in_context(input.as_object().unwrap_or(&empty));
    let step = item.step.iter().flat_map(|(id, title)| [id.as_str(), title.as_str()]);
    let noted = item.recap.notes.iter().chain(&item.recap.checkpoints);
    let noted = noted.flat_map(|note| [Some(note.text.as_str()), note.title.as_deref()]).flatten();
    let named = [item.session.as_str(), &item.workflow, &item.title];
    let texts: Vec<&str> =
        named.into_iter().chain(step).chain(noted).chain(ids.iter().map(String::as_str)).collect();
    texts.join("\n").to_lowercase()
}
