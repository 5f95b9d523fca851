//! A session as people see it: its runs, their branches, and the documents that they build.
//!
//! Everything here is a pure function of the events. [`RunTree`] folds one run, event by event, so that a
//! reader that follows a run folds only new events. [`SessionView`] combines the runs of a session.

mod note_documents;
mod run_documents;
mod run_tree;

use trackway_domain::{SessionId, Timestamp};

pub use note_documents::SessionNote;
pub use run_documents::{RunDocument, documents_from_changes};
pub use run_tree::{GuidedRunStatus, RunTree, RunTreeEdge, RunTreeError, RunTreeNode};

/// Everything that is known about a session.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionView {
    pub id: SessionId,
    /// Oldest first.
    pub runs: Vec<RunTree>,
    /// The runs that hold the session's own notes.
    note_runs: Vec<RunTree>,
}

impl SessionView {
    pub fn new(id: SessionId, mut tracks: Vec<RunTree>) -> Self {
        // Ids grow with time, so the order is the same in every store.
        tracks.sort_by_key(|track| (track.created_at, track.id()));
        let (keepers, runs) =
            tracks.into_iter().partition(|track| track.submission.workflow.is_session_notes_workflow());
        Self { id, runs, note_runs: keepers }
    }

    /// One node per snapshot, run by run, in the order in which each run made them.
    pub fn run_nodes(&self) -> impl Iterator<Item = (&RunTree, &RunTreeNode)> {
        self.runs.iter().flat_map(|run| run.nodes.iter().map(move |node| (run, node)))
    }

    /// One edge per answer that advanced a run.
    pub fn run_edges(&self) -> impl Iterator<Item = (&RunTree, &RunTreeEdge)> {
        self.runs.iter().flat_map(|run| run.edges.iter().map(move |edge| (run, edge)))
    }

    /// The documents of every run, followed by the session's own notes.
    pub fn session_documents(&self) -> Vec<RunDocument> {
        self.runs.iter().chain(&self.note_runs).flat_map(RunTree::run_documents).collect()
    }

    /// The notes on the session itself, oldest first.
    pub fn session_notes(&self) -> Vec<SessionNote<'_>> {
        let mut notes: Vec<_> =
            self.note_runs.iter().flat_map(note_documents::session_notes_of_run).collect();
        notes.sort_by_key(|note| note.at);
        notes
    }

    /// No branch of any run has work left, and every log could be read to its end. Only such a session may
    /// be removed. A run that was started before `abandoned_before` and never answered counts as finished.
    pub fn can_be_removed(&self, abandoned_before: Timestamp) -> bool {
        self.runs.iter().chain(&self.note_runs).all(|run| {
            run.damaged.is_none()
                && (run.submission.workflow.is_session_notes_workflow()
                    || run.has_no_open_branch()
                    || (run.has_no_answer_yet() && run.updated_at <= abandoned_before))
        })
    }

    /// The reason for each run whose log cannot be read to its end.
    pub fn damaged_runs(&self) -> impl Iterator<Item = (&RunTree, &str)> {
        let runs = self.runs.iter().chain(&self.note_runs);
        runs.filter_map(|run| run.damaged.as_deref().map(|reason| (run, reason)))
    }
}

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod tests;
