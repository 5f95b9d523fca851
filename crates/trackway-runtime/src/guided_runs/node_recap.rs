//! The recap for an agent that comes back: notes, checkpoints and documents on the path to a snapshot, the
//! notes of its session, and the branches after it.
//!
//! It is read by the indexes: a constant number of reads, each of a bounded number of events, however long
//! the run is. Its size in bytes is limited, and the newest comes first.

use serde_json::Value;
use trackway_domain::{
    Access, DocumentKind, ErrorCode, Event, GuidedRunEvent, GuidedRunWarning, NodeId, PendingStep, RunId,
    SessionId, Timestamp,
};
use trackway_engine::documents_from_changes;
use trackway_ports::{
    LineageLimits, NodeLineage, RunFilter, RunRow, StoredEvent, attempt_in_event, node_in_event,
};

use super::{
    GuidedNodeView, GuidedRunError, GuidedRuns,
    run_and_definition_loading::{guided_error_from_listing, guided_error_from_read},
    session_resolution,
};

/// Limit (MCP): snapshots that a recap goes back from the one that is looked at. Enough for the steps that
/// matter to the next one; older ones are in the session's pages.
pub(super) const RECAP_PATH_MAX: usize = 32;
/// Limit (MCP): checkpoints of the run that a recap shows.
const RECAP_CHECKPOINTS_MAX: usize = 16;
/// Limit (MCP): branches of a snapshot that a recap shows, the newest ones.
const RECAP_BRANCHES_MAX: usize = 8;
/// Limit (MCP): steps that a recap follows down each branch to find its end.
const RECAP_DEPTH_MAX: usize = 64;
/// Limit (MCP): notes on the session itself that a recap shows.
const RECAP_SESSION_NOTES_MAX: usize = 8;
/// Limit (MCP): other runs of the session that a recap shows notes of.
const RECAP_RUNS_MAX: usize = 3;
/// Snapshots that are read back in each of the other runs.
/// Limit (MCP): snapshots of each other run that a recap goes back.
const RECAP_OTHER_PATH_MAX: usize = 4;
/// Limit (MCP): bytes of one note, checkpoint or document in a recap; the rest is cut with a mark.
const RECAP_ENTRY_BYTES_MAX: usize = 1_200;
/// Limit (MCP): bytes of all notes, checkpoints and documents in a recap; the oldest are left out.
const RECAP_BYTES_MAX: usize = 12 * 1_024;
/// Newest events of a run in which its newest snapshot is looked for. Blocked attempts and checkpoints may
/// follow it.
/// Limit (MCP): newest events among which the newest snapshot of a run is looked for.
const TAIL_EVENTS_MAX: usize = 32;

/// What was recorded around a snapshot.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NodeRecap {
    /// Notes of the answers on the path to here, newest first, then those of other runs of the session.
    pub notes: Vec<RecapNote>,
    /// Checkpoints on the path to here and notes on the session, newest first.
    pub checkpoints: Vec<RecapNote>,
    /// Documents as they are here.
    pub documents: Vec<RecapDocument>,
    /// The branches that grew from here, newest first.
    pub branches: Vec<RecapBranch>,
    /// Something older was left out.
    pub is_truncated: bool,
    /// What part of the run could not be read.
    pub damaged: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RecapNote {
    /// The run that it belongs to; none for notes on the session itself.
    pub run: Option<RunId>,
    /// The workflow of another run of the session; none for this one.
    pub workflow: Option<String>,
    /// The step that it was written at.
    pub step: Option<String>,
    pub title: Option<String>,
    pub text: String,
    pub at: Timestamp,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RecapDocument {
    pub name: String,
    pub kind: DocumentKind,
    /// Its content as JSON, shortened.
    pub text: String,
}

/// A branch that grew from a snapshot, as it is now.
#[derive(Debug, Clone, PartialEq)]
pub struct RecapBranch {
    pub run: RunId,
    /// The node at its end.
    pub node: NodeId,
    /// What is pending there; none if the workflow is complete.
    pub pending: Option<PendingStep>,
    /// The notes with which the branch began.
    pub notes: Option<String>,
    pub at: Timestamp,
    /// The branch continues beyond this node.
    pub is_truncated: bool,
}

/// How much of a run is read.
const FULL_RECAP: LineageLimits = LineageLimits {
    path: RECAP_PATH_MAX,
    checkpoints: RECAP_CHECKPOINTS_MAX,
    children: RECAP_BRANCHES_MAX,
    depth: RECAP_DEPTH_MAX,
};

const SHORT_RECAP: LineageLimits =
    LineageLimits { path: RECAP_OTHER_PATH_MAX, checkpoints: 2, children: 0, depth: 0 };

impl GuidedRuns {
    /// What was recorded on the path to the caller's position, in the other runs of the session, and after
    /// it.
    pub async fn build_node_recap(
        &self,
        access: &Access,
        node: &GuidedNodeView,
    ) -> Result<NodeRecap, GuidedRunError> {
        let lineage = self.load_node_lineage(node.run, node.node, FULL_RECAP).await?;
        let mut recap = RecapBuilder::default();
        recap.add_path_notes(node.run, None, &lineage);
        recap.recap.branches =
            lineage.children.iter().filter_map(|grown| build_recap_branch(node.run, grown)).collect();
        self.add_session_notes(access, &node.session, node.run, &mut recap).await?;
        recap.add_path_documents(&lineage);
        Ok(recap.finish_recap())
    }

    /// A recap of the newest snapshots of one run, for a list of several.
    pub(super) async fn build_short_recap(
        &self,
        run: RunId,
        node: NodeId,
    ) -> Result<NodeRecap, GuidedRunError> {
        let lineage = self.load_node_lineage(run, node, SHORT_RECAP).await?;
        let mut recap = RecapBuilder::default();
        recap.add_path_notes(run, None, &lineage);
        Ok(recap.finish_recap())
    }

    /// A warning if a branch of this node cannot be read: a caller that answers the node again should know
    /// that an earlier answer may exist.
    pub(super) async fn damaged_branch_warning(
        &self,
        run: RunId,
        node: NodeId,
    ) -> Result<Option<GuidedRunWarning>, GuidedRunError> {
        let branches = LineageLimits { path: 1, checkpoints: 0, children: RECAP_BRANCHES_MAX, depth: 0 };
        let reason = self.load_node_lineage(run, node, branches).await?.damaged;
        Ok(reason.map(|reason| {
            let message = format!("a part of this run cannot be read: {reason}");
            GuidedRunWarning::new(ErrorCode::DamagedLog.as_str(), message)
        }))
    }

    async fn load_node_lineage(
        &self,
        run: RunId,
        node: NodeId,
        limits: LineageLimits,
    ) -> Result<NodeLineage, GuidedRunError> {
        let lineage = self.options.journal.load_node_lineage(run, node, limits).await;
        lineage.map_err(|error| guided_error_from_read(run, error))
    }

    /// Notes on the session, and the newest ones of its other runs.
    async fn add_session_notes(
        &self,
        access: &Access,
        session: &SessionId,
        current_run: RunId,
        recap: &mut RecapBuilder,
    ) -> Result<(), GuidedRunError> {
        for stored in self.load_session_note_events(access, session).await? {
            recap.add_checkpoint_note(None, None, &stored);
        }
        let rows = self.list_session_runs(access, session, RECAP_RUNS_MAX + 2).await?;
        let others =
            rows.iter().filter(|row| row.id != current_run && !row.workflow.is_session_notes_workflow());
        for row in others.take(RECAP_RUNS_MAX) {
            let tail = self.load_newest_run_events(row.id).await?;
            if let Some((node, _)) = newest_open_snapshot(&tail) {
                let lineage = self.load_node_lineage(row.id, node, SHORT_RECAP).await?;
                recap.add_path_notes(row.id, Some(&row.workflow.name), &lineage);
            }
        }
        Ok(())
    }

    async fn load_session_note_events(
        &self,
        access: &Access,
        session: &SessionId,
    ) -> Result<Vec<StoredEvent>, GuidedRunError> {
        let run = session_resolution::session_notes_run_id(&access.caller, session);
        match self.find_session_notes_run(access, session, run).await {
            Ok(_) => {}
            Err(GuidedRunError::UnknownRun { .. }) => return Ok(Vec::new()),
            Err(error) => return Err(error),
        }
        let newest = self.options.journal.list_newest_events(run, RECAP_SESSION_NOTES_MAX).await;
        newest.map_err(|error| guided_error_from_read(run, error))
    }

    /// The caller's newest runs in a session.
    pub(super) async fn list_session_runs(
        &self,
        access: &Access,
        session: &SessionId,
        limit: usize,
    ) -> Result<Vec<RunRow>, GuidedRunError> {
        let filter = RunFilter {
            access: Some(access.clone()),
            session: Some(session.clone()),
            ..RunFilter::default()
        };
        let rows = self.options.journal.list_runs(filter, None, limit).await;
        rows.map_err(guided_error_from_listing)
    }

    /// The newest events of a run, newest first.
    pub(super) async fn load_newest_run_events(
        &self,
        run: RunId,
    ) -> Result<Vec<StoredEvent>, GuidedRunError> {
        let newest = self.options.journal.list_newest_events(run, TAIL_EVENTS_MAX).await;
        newest.map_err(|error| guided_error_from_read(run, error))
    }
}

/// The newest snapshot in these events (newest first) with a pending step and no answer; if there is none,
/// the newest of all. An answer to a snapshot creates a newer one, so an answer to a snapshot in the list is
/// in the list too.
pub(super) fn newest_open_snapshot(newest_first: &[StoredEvent]) -> Option<(NodeId, Option<&PendingStep>)> {
    let mut answered = Vec::new();
    let mut newest = None;
    for stored in newest_first {
        if let Some(node) = node_in_event(&stored.event) {
            let snapshot = (node.id, node.pending.as_ref());
            if node.pending.is_some() && !answered.contains(&node.id) {
                return Some(snapshot);
            }
            newest.get_or_insert(snapshot);
            answered.extend(attempt_in_event(&stored.event).map(|attempt| attempt.node));
        }
    }
    newest
}

fn build_recap_branch(run: RunId, branch: &trackway_ports::ChildBranch) -> Option<RecapBranch> {
    let tip = node_in_event(&branch.newest_event.event)?;
    let notes =
        attempt_in_event(&branch.first_event.event).and_then(|attempt| attempt.inputs.notes.as_deref());
    Some(RecapBranch {
        run,
        node: tip.id,
        pending: tip.pending.clone(),
        notes: notes.map(|notes| truncate_with_notice(notes, RECAP_ENTRY_BYTES_MAX / 4)),
        at: branch.newest_event.at,
        is_truncated: branch.is_cut,
    })
}

/// A recap under construction.
#[derive(Debug, Default)]
struct RecapBuilder {
    recap: NodeRecap,
    bytes: usize,
}

impl RecapBuilder {
    /// Adds the notes and checkpoints on the path to a node.
    fn add_path_notes(&mut self, run: RunId, workflow: Option<&str>, lineage: &NodeLineage) {
        self.recap.is_truncated |= lineage.path_is_cut;
        if self.recap.damaged.is_none() {
            self.recap.damaged.clone_from(&lineage.damaged);
        }
        for stored in &lineage.checkpoints {
            let at = checkpointed_node(stored);
            let pending = at.and_then(|id| pending_step_of_node(lineage, id));
            self.add_checkpoint_note(Some((run, workflow)), pending, stored);
        }
        for (index, stored) in lineage.path.iter().enumerate() {
            let attempt = attempt_in_event(&stored.event);
            let Some(notes) = attempt.and_then(|attempt| attempt.inputs.notes.as_deref()) else {
                continue;
            };
            let before = lineage.path.get(index + 1).and_then(|before| node_in_event(&before.event));
            let pending = before.and_then(|node| node.pending.as_ref());
            if let Some(note) = self.build_recap_note(Some((run, workflow)), pending, notes, stored.at) {
                self.recap.notes.push(note);
            }
        }
    }

    fn add_checkpoint_note(
        &mut self,
        run: Option<(RunId, Option<&str>)>,
        pending: Option<&PendingStep>,
        stored: &StoredEvent,
    ) {
        let Event::Guided(guided) = &stored.event else { return };
        let GuidedRunEvent::Checkpointed(checkpoint) = &**guided else { return };
        if let Some(note) = self.build_recap_note(run, pending, &checkpoint.notes, stored.at) {
            self.recap.checkpoints.push(note);
        }
    }

    fn build_recap_note(
        &mut self,
        run: Option<(RunId, Option<&str>)>,
        pending: Option<&PendingStep>,
        text: &str,
        at: Timestamp,
    ) -> Option<RecapNote> {
        let text = self.fit_text_into_recap(text)?;
        Some(RecapNote {
            run: run.map(|(run, _)| run),
            workflow: run.and_then(|(_, workflow)| workflow.map(str::to_owned)),
            step: pending.map(|pending| pending.step.clone()),
            title: pending.map(|pending| pending.title.clone()),
            text,
            at,
        })
    }

    /// Adds the documents that the outputs on the path form.
    fn add_path_documents(&mut self, lineage: &NodeLineage) {
        let changes = lineage.path.iter().rev().flat_map(|stored| match &stored.event {
            Event::Guided(guided) => match &**guided {
                GuidedRunEvent::Opened { documents, .. } => documents.as_slice(),
                GuidedRunEvent::Attempted(attempt) => attempt.documents.as_slice(),
                GuidedRunEvent::Checkpointed(_) | GuidedRunEvent::Repinned { .. } => &[],
            },
            _ => &[],
        });
        let documents = documents_from_changes(changes);
        for (name, kind, value) in documents {
            if let Some(text) = self.fit_text_into_recap(&Value::to_string(&value)) {
                self.recap.documents.push(RecapDocument { name, kind, text });
            }
        }
    }

    /// The text, shortened, if there is room for it.
    fn fit_text_into_recap(&mut self, text: &str) -> Option<String> {
        let text = truncate_with_notice(text.trim(), RECAP_ENTRY_BYTES_MAX);
        if self.bytes + text.len() > RECAP_BYTES_MAX {
            self.recap.is_truncated = true;
            return None;
        }
        self.bytes += text.len();
        Some(text)
    }

    fn finish_recap(mut self) -> NodeRecap {
        self.recap.checkpoints.sort_by_key(|note| std::cmp::Reverse(note.at));
        self.recap
    }
}

fn checkpointed_node(stored: &StoredEvent) -> Option<NodeId> {
    trackway_ports::checkpointed_node_id(&stored.event)
}

fn pending_step_of_node(lineage: &NodeLineage, id: NodeId) -> Option<&PendingStep> {
    let made = lineage.path.iter().filter_map(|stored| node_in_event(&stored.event));
    made.filter(|node| node.id == id).find_map(|node| node.pending.as_ref())
}

/// At most this many bytes of a text; a mark says how much was left out.
pub(super) fn truncate_with_notice(text: &str, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(bytes_max);
    let left_out = text[end..].chars().count();
    format!("{}… ({left_out} more characters)", &text[..end])
}
