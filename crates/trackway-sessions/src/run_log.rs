//! Complete logs, read from a store page by page.

use std::sync::Arc;

use trackway_domain::{CallChain, Event, RunId, RunSubmission, Seq, StateName, Timestamp};
use trackway_engine::{RunTree, RunView};
use trackway_ports::{Journal, ReadError, RunFilter, RunRow, StoredEvent};

/// Events read from the store at once.
const EVENTS_PER_READ: usize = 256;
/// Rows read from the store at once.
const ROWS_PER_READ: usize = 500;

/// Unreadable events of one log that are skipped. A damaged number can look like a gap of any size, and
/// walking through it could take forever.
/// Limit (Sessions): damaged events of one run that are passed over.
const DAMAGED_EVENTS_MAX: usize = 1_000;

/// The readable part of a log, and what is wrong with the rest.
#[derive(Debug)]
pub struct RunLog {
    pub events: Vec<StoredEvent>,
    pub damage: Option<String>,
}

/// The run's events, oldest first. Unreadable ones are skipped: the events after them are still there.
pub async fn load_run_log(journal: &dyn Journal, run: RunId) -> Result<RunLog, ReadError> {
    let mut log = RunLog { events: Vec::new(), damage: None };
    let (mut after, mut skipped) = (0, 0);
    while skipped < DAMAGED_EVENTS_MAX {
        match journal.list_events(run, after, EVENTS_PER_READ).await {
            Ok(page) => {
                let Some(last) = page.last() else { return Ok(log) };
                after = last.seq;
                log.events.extend(page);
            }
            Err(error @ (ReadError::Broken { .. } | ReadError::Unavailable { .. })) => {
                return Err(error);
            }
            Err(ReadError::Damaged { seq, reason, .. }) => {
                log.damage.get_or_insert_with(|| format!("event {seq}: {reason}"));
                after = seq.max(after + 1);
                skipped += 1;
            }
            Err(damaged @ ReadError::DamagedBlob { .. }) => {
                log.damage.get_or_insert_with(|| damaged.to_string());
                after += 1;
                skipped += 1;
            }
        }
    }
    Ok(log)
}

impl RunLog {
    /// Number of the last event that could be read.
    pub(super) fn last_readable_seq(&self) -> Seq {
        self.events.last().map_or(0, |stored| stored.seq)
    }

    /// The submission at the start of the log, and when it was recorded.
    pub fn first_event_submission(&self) -> Option<(&RunSubmission, Timestamp)> {
        match self.events.first() {
            Some(StoredEvent { event: Event::Submitted(submission), at, .. }) => Some((submission, *at)),
            _ => None,
        }
    }

    /// The content of the run's row, rebuilt because the row cannot be read.
    pub fn run_row_from_submission(&self) -> Option<RunRow> {
        let (submission, at) = self.first_event_submission()?;
        Some(RunRow {
            id: submission.run,
            session: submission.session.clone(),
            caller: submission.caller.clone(),
            workflow: submission.workflow.clone(),
            parent: submission.parent,
            state: StateName::Unknown,
            runnable: false,
            parked: false,
            created_at: at,
            status_at: at,
        })
    }

    /// The run as its doors show it: up to the damage. If not even its submission can be read, the row is
    /// the source.
    pub fn to_run_view(&self, row: &RunRow) -> RunView {
        let readable = self.events.iter().zip(1..).take_while(|(stored, seq)| stored.seq == *seq);
        let readable = readable.map(|(stored, _)| (&stored.event, stored.at, stored.pos));
        let mut view = RunView::from_log(readable).unwrap_or_else(|| {
            RunView::from_submission(Arc::new(submission_from_row(row)), row.created_at, 0)
        });
        if let Some(reason) = self.damage.clone().or_else(|| self.to_run_tree(row).damaged) {
            view.mark_log_damaged(reason);
        }
        view
    }

    /// The run as its session shows it: also the events after the damage.
    pub fn to_run_tree(&self, row: &RunRow) -> RunTree {
        let events = || self.events.iter().map(|stored| (&stored.event, stored.at));
        if self.damage.is_none()
            && let Some(track) = RunTree::fold_log(events())
        {
            return track;
        }
        let reason = self.damage.as_deref().unwrap_or("its first event is not a submission");
        let mut track = match self.first_event_submission() {
            Some((submission, at)) => RunTree::fold_damaged_log(submission, at, events().skip(1)),
            // If the first event of a run is lost, the row still has its submission.
            None => RunTree::fold_damaged_log(&submission_from_row(row), row.created_at, events()),
        };
        track.mark_log_damaged(reason.to_owned());
        track
    }
}

/// Every run that matches, newest first.
pub(super) async fn load_all_run_rows(
    journal: &dyn Journal,
    filter: RunFilter,
) -> Result<Vec<RunRow>, ReadError> {
    let mut rows: Vec<RunRow> = Vec::new();
    loop {
        let before = rows.last().map(|row| row.id);
        let page = journal.list_runs(filter.clone(), before, ROWS_PER_READ).await?;
        if page.is_empty() {
            return Ok(rows);
        }
        rows.extend(page);
    }
}

fn submission_from_row(row: &RunRow) -> RunSubmission {
    RunSubmission {
        run: row.id,
        session: row.session.clone(),
        workflow: row.workflow.clone(),
        caller: row.caller.clone(),
        input: serde_json::Value::Null,
        message: None,
        parent: row.parent,
        deadline: None,
        guided: false,
        exit: None,
        forked_from: None,
        awaited: false,
        call_chain: CallChain::default(),
        linked_session: None,
    }
}
