//! The sessions that a caller may see, and the runs of one.
//!
//! Both scan all runs of the store, because people request them rarely. An up-to-date row per session
//! would make every append slower, and an index alone would miss a run that a damaged key hides.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use rusqlite::{Connection, Params};
use trackway_domain::{Access, Caller, Event, RunId, Seq, SessionId, Timestamp, WorkflowRef};
use trackway_ports::{ReadError, RunRow, SessionRow};

use crate::sqlite_error::to_read_error;

use super::{
    ReadSource,
    event_reads::list_events,
    guided_index_reads::newest_event_seq,
    parse_text_column,
    run_row_reads::{VerifiedRunRow, find_verified_run_row},
    select_readable_rows, table_scan,
};

/// From the index alone.
pub(super) const RUNS_OF_TENANT: &str = "SELECT id FROM runs WHERE tenant = ?1";

/// From the index alone.
pub(super) const RUNS_OF_SESSION: &str = "SELECT id FROM runs WHERE session = ?1";

/// One snapshot, so that no run is combined with events of another moment.
pub(crate) fn list_sessions(
    read_source: ReadSource<'_>,
    access: &Access,
    limit: usize,
) -> Result<Vec<SessionRow>, ReadError> {
    let moment = read_source.conn.unchecked_transaction().map_err(to_read_error)?;
    let from = ReadSource { conn: &moment, ..read_source };
    let ids = indexed_run_ids(from.conn, RUNS_OF_TENANT, [&*access.caller.tenant]);
    let found = collect_matching_runs(from, &ids, |whose| access.covers_owner(whose.caller))?;
    let whole = found.intact.into_values().map(|VerifiedRunRow { row, head }| SessionRunEntry {
        id: row.id,
        session: row.session,
        workflow: row.workflow,
        created_at: row.created_at,
        status_at: row.status_at,
        head,
    });
    // If the row of a run is damaged, its first event has enough to list it.
    let runs = whole.chain(found.damaged);
    let mut sessions = BTreeMap::<SessionId, SessionRow>::new();
    for run in runs {
        let updated_at = last_event_time(from, &run)?.unwrap_or(run.status_at);
        let session = sessions.entry(run.session.clone()).or_insert_with(|| SessionRow {
            id: run.session,
            workflows: Vec::new(),
            created_at: run.created_at,
            updated_at,
        });
        session.workflows.push(run.workflow);
        session.created_at = session.created_at.min(run.created_at);
        session.updated_at = session.updated_at.max(updated_at);
    }
    let mut sessions: Vec<SessionRow> = sessions.into_values().collect();
    sessions.sort_by_key(|session| Reverse(session.updated_at));
    sessions.truncate(limit);
    Ok(sessions)
}

pub(crate) fn list_session_runs(
    read_source: ReadSource<'_>,
    access: &Access,
    session: &SessionId,
) -> Result<Vec<RunRow>, ReadError> {
    let moment = read_source.conn.unchecked_transaction().map_err(to_read_error)?;
    let from = ReadSource { conn: &moment, ..read_source };
    let ids = indexed_run_ids(from.conn, RUNS_OF_SESSION, [session.as_str()]);
    let found = collect_matching_runs(from, &ids, |whose| {
        access.covers_owner(whose.caller) && *whose.session == *session
    })?;
    match found.damaged.first() {
        None => Ok(found.intact.into_values().rev().map(|known| known.row).collect()),
        Some(damaged) => {
            let reason = "its row in the index of runs is damaged".to_owned();
            Err(ReadError::Damaged { run: damaged.id, seq: 1, reason })
        }
    }
}

/// The owner of the requested runs.
struct RunOwner<'a> {
    caller: &'a Caller,
    session: &'a SessionId,
}

#[derive(Default)]
struct IntactAndDamagedRuns {
    intact: BTreeMap<RunId, VerifiedRunRow>,
    damaged: Vec<SessionRunEntry>,
}

struct SessionRunEntry {
    id: RunId,
    session: SessionId,
    workflow: WorkflowRef,
    created_at: Timestamp,
    status_at: Timestamp,
    head: Seq,
}

/// The runs that an index lists, or would list if it were undamaged. If the row of a run is damaged, its
/// first event tells the owner.
fn collect_matching_runs(
    read_source: ReadSource<'_>,
    indexed_runs: &[RunId],
    is_requested_owner: impl Fn(RunOwner<'_>) -> bool,
) -> Result<IntactAndDamagedRuns, ReadError> {
    let mut found = IntactAndDamagedRuns::default();
    let mut suspects = BTreeSet::new();
    let asked_row =
        |row: &RunRow| is_requested_owner(RunOwner { caller: &row.caller, session: &row.session });
    table_scan::scan_all_run_rows(read_source.conn, |row| match row {
        Ok(known) if asked_row(&known.row) => drop(found.intact.insert(known.row.id, known)),
        Ok(_) => {}
        Err(suspect) => suspects.extend(suspect.run),
    })?;
    for run in indexed_runs {
        if found.intact.contains_key(run) || suspects.contains(run) {
            continue;
        }
        match find_verified_run_row(read_source.conn, *run) {
            Ok(Some(known)) if asked_row(&known.row) => {
                found.intact.insert(*run, known);
            }
            Ok(_) => {}
            Err(ReadError::Damaged { .. }) => drop(suspects.insert(*run)),
            Err(error) => return Err(error),
        }
    }
    // A damaged key may look like the key of another run, which has its own row.
    suspects.retain(|run| !found.intact.contains_key(run));
    for run in suspects {
        let first = match list_events(read_source, run, 0, 1) {
            Ok(mut page) => page.pop(),
            Err(ReadError::Damaged { .. }) => None,
            Err(error) => return Err(error),
        };
        let Some(first) = first else { continue };
        let Event::Submitted(submission) = first.event else { continue };
        if is_requested_owner(RunOwner { caller: &submission.caller, session: &submission.session }) {
            found.damaged.push(SessionRunEntry {
                id: run,
                session: submission.session,
                workflow: submission.workflow,
                created_at: first.at,
                status_at: first.at,
                head: 0,
            });
        }
    }
    Ok(found)
}

fn indexed_run_ids(conn: &Connection, sql: &str, values: impl Params) -> Vec<RunId> {
    // If the index cannot be read, the scan of the table continues without it.
    let named = select_readable_rows(conn, "run", sql, values, usize::MAX, |row| parse_text_column(row, 0));
    named.unwrap_or_default()
}

/// When the run's newest event was recorded. `None` if it has none, or if it cannot be read: damage in
/// one run does not hide the sessions of others.
fn last_event_time(
    read_source: ReadSource<'_>,
    run: &SessionRunEntry,
) -> Result<Option<Timestamp>, ReadError> {
    let newest = match newest_event_seq(read_source.conn, run.id) {
        Ok(newest) => newest.max(run.head),
        Err(ReadError::Damaged { .. }) => run.head,
        Err(error) => return Err(error),
    };
    let Some(before) = newest.checked_sub(1) else { return Ok(None) };
    match list_events(read_source, run.id, before, 1) {
        Ok(page) => Ok(page.first().map(|stored| stored.at)),
        Err(ReadError::Damaged { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
