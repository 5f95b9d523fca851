//! Removes runs, and then the files that only they used.

use rusqlite::{Connection, Params, Transaction, TransactionBehavior, params};
use trackway_domain::{CrossRunErrand, RunId};
use trackway_ports::{AppendError, BlobHash, RunLogHead, RunRemoval};

use crate::{FolderBlobStore, json};

use super::{maintenance::MaintenanceResult, statements::WriterStatements};

/// The rows that belong to only one run.
const OF_ONE_RUN: [&str; 8] = [
    "DELETE FROM events WHERE run = ?1",
    "DELETE FROM runs WHERE id = ?1",
    "DELETE FROM timers WHERE run = ?1",
    "DELETE FROM hooks WHERE run = ?1",
    "DELETE FROM nodes WHERE run = ?1",
    "DELETE FROM attempts WHERE run = ?1",
    "DELETE FROM checkpoints WHERE run = ?1",
    "DELETE FROM pins WHERE run = ?1",
];

/// Versions of artifacts that belong to only one run: those in its scope, and those whose content was in its
/// events.
const ARTIFACTS_OF_RUN: &str = "DELETE FROM artifacts
     WHERE run = ?1 AND (scope = 'run' OR content IN ('yielded', 'attachment')) RETURNING sha256";

/// The artifacts in the scope of a session.
const ARTIFACTS_OF_SESSION: &str = "DELETE FROM artifacts
     WHERE tenant = ?1 AND scope = 'session' AND scope_id = ?2 AND scope_user = ?3 RETURNING sha256";

/// Claims are found by one scan: an index would make every message slower.
const CLAIMS: &str = "DELETE FROM claims WHERE run IN (SELECT value FROM json_each(?1))";

/// The plus prevents SQLite from scanning a whole tenant.
const OF_SESSION: &str = "SELECT id FROM runs WHERE session = ?1 AND +tenant = ?2 AND user = ?3";

const DEFINITION: &str = "DELETE FROM definitions
     WHERE hash = ?1 AND NOT EXISTS (SELECT 1 FROM pins WHERE hash = ?1)";

const POSITIONS: &str = "INSERT INTO meta (name, value) VALUES ('positions-used', ?1)
     ON CONFLICT (name) DO UPDATE SET value = ?1";

/// Removes the runs, unless one has newer events, and returns the blobs that may no longer be
/// needed. `newest` is the newest position in the log, which is not reused.
pub(super) fn remove_unchanged_runs(
    conn: &Connection,
    statements: &mut WriterStatements<'_>,
    removal: &RunRemoval,
    newest: i64,
) -> MaintenanceResult {
    if let Some(RunLogHead { run, head }) = find_run_changed_since_decision(conn, statements, removal)? {
        return Ok(Err(AppendError::Conflict { run, expected: head }));
    }
    let runs: Vec<RunId> = removal.runs.iter().map(|run| run.run).collect();
    let mut blobs = delete_runs(conn, &runs, newest)?;
    if let Some((caller, session)) = &removal.session {
        let values = params![caller.tenant, session.as_str(), caller.user];
        blobs.extend(delete_artifacts(conn, ARTIFACTS_OF_SESSION, values)?);
    }
    Ok(Ok(blobs))
}

/// A run that has changed since the decision to remove it.
fn find_run_changed_since_decision(
    conn: &Connection,
    statements: &mut WriterStatements<'_>,
    removal: &RunRemoval,
) -> rusqlite::Result<Option<RunLogHead>> {
    for run in &removal.runs {
        let head = statements.load_run_head(&run.run.to_string())?.seq;
        // A missing run was removed by another caller.
        if head != 0 && i64::try_from(run.head) != Ok(head) {
            return Ok(Some(*run));
        }
    }
    let Some((caller, session)) = &removal.session else { return Ok(None) };
    let mut statement = conn.prepare_cached(OF_SESSION)?;
    let mut rows = statement.query(params![session.as_str(), caller.tenant, caller.user])?;
    while let Some(row) = rows.next()? {
        let id: String = row.get(0)?;
        // A damaged id belongs to no run.
        let Ok(run) = id.parse::<RunId>() else { continue };
        if !removal.runs.iter().any(|known| known.run == run) {
            return Ok(Some(RunLogHead { run, head: 0 }));
        }
    }
    Ok(None)
}

fn delete_runs(conn: &Connection, runs: &[RunId], newest: i64) -> rusqlite::Result<Vec<BlobHash>> {
    let keys: Vec<String> = runs.iter().map(ToString::to_string).collect();
    let mut blobs = Vec::new();
    let mut hashes = Vec::new();
    for key in &keys {
        let named = "SELECT DISTINCT blob FROM events WHERE run = ?1 AND blob IS NOT NULL";
        // A damaged name may be any text, even the path of another file.
        blobs.extend(
            select_text_column(conn, named, key)?.iter().filter_map(|name| name.parse::<BlobHash>().ok()),
        );
        hashes.extend(select_text_column(conn, "SELECT hash FROM pins WHERE run = ?1", key)?);
        blobs.extend(delete_artifacts(conn, ARTIFACTS_OF_RUN, [key])?);
        for sql in OF_ONE_RUN {
            conn.prepare_cached(sql)?.execute([key])?;
        }
    }
    conn.execute(CLAIMS, [json::to_json_text(&keys)])?;
    delete_errands_of_runs(conn, runs)?;
    for hash in &hashes {
        conn.execute(DEFINITION, [hash])?;
    }
    conn.execute(POSITIONS, [newest.to_string()])?;
    Ok(blobs)
}

/// Deletes versions of artifacts, and returns the blobs that they named.
fn delete_artifacts(conn: &Connection, sql: &str, values: impl Params) -> rusqlite::Result<Vec<BlobHash>> {
    let mut statement = conn.prepare_cached(sql)?;
    let named = statement.query_map(values, |row| row.get::<_, Option<String>>(0))?;
    // A damaged name may be any text, even the path of another file.
    let named: Vec<Option<String>> = named.collect::<Result<_, _>>()?;
    Ok(named.iter().flatten().filter_map(|name| name.parse().ok()).collect())
}

/// Deletes those of these blobs that no event and no artifact names. It holds the write lock: a writer that is about
/// to name one checks its file under the same lock (see `WriterThread::rewrite_removed_blobs_of_request`).
pub(super) fn delete_unreferenced_blobs(
    conn: &Connection,
    blobs: &FolderBlobStore,
    unneeded_blobs: &[BlobHash],
) -> rusqlite::Result<()> {
    let lock = Transaction::new_unchecked(conn, TransactionBehavior::Immediate)?;
    for hash in unneeded_blobs {
        let needed: bool = lock.query_row(
            "SELECT EXISTS (SELECT 1 FROM events WHERE blob = ?1)
                 OR EXISTS (SELECT 1 FROM artifacts WHERE sha256 = ?1)",
            [hash.to_string()],
            |row| row.get(0),
        )?;
        if !needed && let Err(error) = blobs.remove_blob(*hash) {
            // The file only takes disk space.
            tracing::warn!(%error, %hash, "an unused blob could not be removed");
        }
    }
    Ok(())
}

/// The errands of these runs, and those that are only for them.
fn delete_errands_of_runs(conn: &Connection, runs: &[RunId]) -> rusqlite::Result<()> {
    let gone = |run: &RunId| runs.contains(run);
    let mut statement = conn.prepare("SELECT id, body FROM outbox")?;
    let mut rows = statement.query([])?;
    let mut ids = Vec::new();
    while let Some(row) = rows.next()? {
        let body: String = row.get(1)?;
        let owed = match json::parse_json_text(&body) {
            Ok(CrossRunErrand::NotifyWaiting { to, run, .. }) => gone(&to) || gone(&run),
            Ok(CrossRunErrand::CancelChild { child }) => gone(&child),
            Ok(CrossRunErrand::RunExit { of, .. }) => gone(&of),
            Ok(CrossRunErrand::NotifyParent { parent, child, .. }) => gone(&parent) || gone(&child),
            Ok(CrossRunErrand::DeliverFirstAnswer { to, from, .. }) => gone(&to) || gone(&from),
            // What a run began elsewhere is released even after the run is removed.
            Ok(CrossRunErrand::ReleaseStepNote { .. }) => false,
            // A damaged row does not tell which run it belongs to.
            Err(_) => false,
        };
        if owed {
            ids.push(row.get::<_, String>(0)?);
        }
    }
    for id in ids {
        conn.execute("DELETE FROM outbox WHERE id = ?1", params![id])?;
    }
    Ok(())
}

fn select_text_column(conn: &Connection, sql: &str, key: &str) -> rusqlite::Result<Vec<String>> {
    conn.prepare_cached(sql)?.query_map([key], |row| row.get(0))?.collect()
}
