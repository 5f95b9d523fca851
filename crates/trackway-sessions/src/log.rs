//! Whole logs, read from a store page by page.

use std::sync::Arc;

use trackway_domain::{Event, RunId, Seq, StateName, Submission, Timestamp};
use trackway_engine::{RunTrack, RunView};
use trackway_ports::{Journal, ReadError, RunFilter, RunRow, Stored};

/// Events read from the store at once.
const READ_EVENTS: usize = 256;
/// Rows read from the store at once.
const READ_ROWS: usize = 500;

/// Events of one log that are passed over because they cannot be read. A damaged number can look like a gap
/// of any size, which nobody walks through.
/// Limit (Sessions): damaged events of one run that are passed over.
const DAMAGED_EVENTS_MAX: usize = 1_000;

/// What of a log can be read, and what is wrong with the rest.
#[derive(Debug)]
pub struct Log {
    pub events: Vec<Stored>,
    pub damage: Option<String>,
}

/// The run's events, oldest first. Those that cannot be read are passed over: what was recorded behind
/// them is there all the same.
pub async fn read(journal: &dyn Journal, run: RunId) -> Result<Log, ReadError> {
    let mut log = Log { events: Vec::new(), damage: None };
    let (mut after, mut skipped) = (0, 0);
    while skipped < DAMAGED_EVENTS_MAX {
        match journal.events(run, after, READ_EVENTS).await {
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

impl Log {
    /// Number of the last event that could be read.
    pub(super) fn head(&self) -> Seq {
        self.events.last().map_or(0, |stored| stored.seq)
    }

    /// The submission that it begins with, and when that was recorded.
    pub fn submission(&self) -> Option<(&Submission, Timestamp)> {
        match self.events.first() {
            Some(Stored { event: Event::Submitted(submission), at, .. }) => Some((submission, *at)),
            _ => None,
        }
    }

    /// What the row of the run would say, where that cannot be read.
    pub fn row(&self) -> Option<RunRow> {
        let (submission, at) = self.submission()?;
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

    /// The run as its doors show it: up to the damage. Where not even its submission can be read, that is
    /// what the row tells.
    pub fn view(&self, row: &RunRow) -> RunView {
        let readable = self.events.iter().zip(1..).take_while(|(stored, seq)| stored.seq == *seq);
        let readable = readable.map(|(stored, _)| (&stored.event, stored.at, stored.pos));
        let mut view = RunView::of_log(readable)
            .unwrap_or_else(|| RunView::begin(Arc::new(submission(row)), row.created_at, 0));
        if let Some(reason) = self.damage.clone().or_else(|| self.track(row).damaged) {
            view.damage(reason);
        }
        view
    }

    /// The run as its session shows it: also what was recorded behind the damage.
    pub fn track(&self, row: &RunRow) -> RunTrack {
        let events = || self.events.iter().map(|stored| (&stored.event, stored.at));
        if self.damage.is_none()
            && let Some(track) = RunTrack::fold(events())
        {
            return track;
        }
        let reason = self.damage.as_deref().unwrap_or("its first event is not a submission");
        let mut track = match self.submission() {
            Some((submission, at)) => RunTrack::salvage(submission, at, events().skip(1)),
            // Of a run whose first event is lost, the row still tells what it was.
            None => RunTrack::salvage(&submission(row), row.created_at, events()),
        };
        track.damage(reason.to_owned());
        track
    }
}

/// Every run that matches, newest first.
pub(super) async fn all_rows(
    journal: &dyn Journal,
    filter: RunFilter,
) -> Result<Vec<RunRow>, ReadError> {
    let mut rows: Vec<RunRow> = Vec::new();
    loop {
        let before = rows.last().map(|row| row.id);
        let page = journal.runs(filter.clone(), before, READ_ROWS).await?;
        if page.is_empty() {
            return Ok(rows);
        }
        rows.extend(page);
    }
}

fn submission(row: &RunRow) -> Submission {
    Submission {
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
    }
}
