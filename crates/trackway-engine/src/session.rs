//! A session as people see it: its runs, how each branched, and the documents that they add up to.
//!
//! Everything here is a pure function of the events. [`RunTrack`] folds one run, event by event, so
//! that whoever follows a run folds only what is new; [`SessionView`] puts the runs of a session side by
//! side.

mod document;
mod notes;
mod track;

use trackway_domain::SessionId;

pub use document::{Document, reduce as reduce_documents};
pub use notes::SessionNote;
pub use track::{Misfit, RunStatus, RunTrack, TrackEdge, TrackNode};

/// All that is known of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionView {
    pub id: SessionId,
    /// Oldest first.
    pub runs: Vec<RunTrack>,
    /// The runs that hold the session's own notes.
    keepers: Vec<RunTrack>,
}

impl SessionView {
    pub fn new(id: SessionId, mut tracks: Vec<RunTrack>) -> Self {
        // Ids grow with time, so that the order is the same wherever the runs are stored.
        tracks.sort_by_key(|track| (track.created_at, track.id()));
        let (keepers, runs) =
            tracks.into_iter().partition(|track| track.submission.workflow.holds_session_notes());
        Self { id, runs, keepers }
    }

    /// One node per snapshot, run after run, each run's in the order in which they were made.
    pub fn nodes(&self) -> impl Iterator<Item = (&RunTrack, &TrackNode)> {
        self.runs.iter().flat_map(|run| run.nodes.iter().map(move |node| (run, node)))
    }

    /// One edge per answer that advanced a run.
    pub fn edges(&self) -> impl Iterator<Item = (&RunTrack, &TrackEdge)> {
        self.runs.iter().flat_map(|run| run.edges.iter().map(move |edge| (run, edge)))
    }

    /// The documents of every run, and the session's own notes behind them.
    pub fn documents(&self) -> Vec<Document> {
        self.runs.iter().chain(&self.keepers).flat_map(RunTrack::documents).collect()
    }

    /// The notes on the session itself, oldest first.
    pub fn notes(&self) -> Vec<SessionNote<'_>> {
        let mut notes: Vec<_> = self.keepers.iter().flat_map(notes::of_session).collect();
        notes.sort_by_key(|note| note.at);
        notes
    }

    /// Nothing is left to do in any branch of any run, and every log could be read to its end. Only such a
    /// session may be removed.
    pub fn is_finished(&self) -> bool {
        self.runs.iter().chain(&self.keepers).all(|run| {
            run.damaged.is_none()
                && (run.submission.workflow.holds_session_notes() || run.is_finished())
        })
    }

    /// Why not all of it is shown, for each run that cannot be read to its end.
    pub fn damages(&self) -> impl Iterator<Item = (&RunTrack, &str)> {
        let runs = self.runs.iter().chain(&self.keepers);
        runs.filter_map(|run| run.damaged.as_deref().map(|reason| (run, reason)))
    }
}

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod tests;
