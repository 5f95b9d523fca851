//! Whole logs, read from a store page by page.

use trackway_domain::{Caller, RunId, Seq, SessionId, Submission};
use trackway_engine::RunTrack;
use trackway_ports::{Journal, ReadError, RunFilter, RunRow, Stored};

/// Events read from the store at once.
const READ_EVENTS: usize = 256;
/// Rows read from the store at once.
const READ_ROWS: usize = 500;

/// A log as far as it can be read, and why it cannot be read further.
pub(super) struct Log {
    pub(super) events: Vec<Stored>,
    pub(super) damage: Option<String>,
}

/// The run's events, oldest first.
pub(super) async fn read(journal: &dyn Journal, run: RunId) -> Result<Log, ReadError> {
    let mut log = Log { events: Vec::new(), damage: None };
    loop {
        match journal.events(run, log.head(), READ_EVENTS).await {
            Ok(page) if page.is_empty() => return Ok(log),
            Ok(page) => log.events.extend(page),
            Err(error @ (ReadError::Broken { .. } | ReadError::Unavailable { .. })) => {
                return Err(error);
            }
            Err(damaged) => {
                log.damage = Some(damaged.to_string());
                return Ok(log);
            }
        }
    }
}

/// The run as people see it, up to where its log is damaged.
pub(super) async fn track(journal: &dyn Journal, row: &RunRow) -> Result<RunTrack, ReadError> {
    Ok(read(journal, row.id).await?.track(row))
}

impl Log {
    /// Number of the last event that could be read.
    pub(super) fn head(&self) -> Seq {
        self.events.last().map_or(0, |stored| stored.seq)
    }

    pub(super) fn track(self, row: &RunRow) -> RunTrack {
        let folded = RunTrack::fold(self.events.iter().map(|stored| (&stored.event, stored.at)));
        // Of a run whose first event is lost, the row still tells what it was.
        let mut track = folded.unwrap_or_else(|| {
            let mut track = RunTrack::begin(&submission(row), row.created_at);
            track.damage("its first event is not a submission".to_owned());
            track
        });
        if let Some(reason) = self.damage {
            track.damage(reason);
        }
        track
    }
}

/// The caller's runs in that session.
pub(super) async fn rows(
    journal: &dyn Journal,
    caller: &Caller,
    session: &SessionId,
) -> Result<Vec<RunRow>, ReadError> {
    journal.session_runs(caller.clone(), session.clone()).await
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
