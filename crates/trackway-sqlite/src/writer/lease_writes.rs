//! Leases of workers, and their claims: found by a read, and recorded in the same transaction.

use rusqlite::{Connection, params};
use trackway_ports::{ClaimedRun, DueHook, DueTimer, OutboxRow, ReadError, WorkClaim, WorkerId, WorkerLease};

use crate::{
    read::{self, format_worker_key},
    sqlite_error::to_read_error,
    write_jobs::format_outbox_key,
};

pub(crate) fn acquire_or_renew_worker_lease(
    conn: &Connection,
    worker: WorkerId,
    lease: WorkerLease,
    now: i64,
) -> Result<(), ReadError> {
    let (others_until, until) = match lease {
        WorkerLease::Exclusive => (i64::MAX, i64::MAX),
        WorkerLease::Until(until) => (now, until.millis()),
    };
    let hold = || {
        conn.prepare_cached("DELETE FROM workers WHERE until <= ?1")?.execute([others_until])?;
        conn.prepare_cached("INSERT OR REPLACE INTO workers (id, until) VALUES (?1, ?2)")?
            .execute(params![format_worker_key(worker), until])
    };
    hold().map(drop).map_err(to_read_error)
}

pub(crate) fn delete_worker_lease(conn: &Connection, worker: WorkerId) -> Result<(), ReadError> {
    conn.prepare_cached("DELETE FROM workers WHERE id = ?1")
        .and_then(|mut statement| statement.execute([format_worker_key(worker)]))
        .map(drop)
        .map_err(to_read_error)
}

pub(crate) fn claim_runs(conn: &Connection, claim: WorkClaim) -> Result<Vec<ClaimedRun>, ReadError> {
    let mut runs = read::list_claimable_runs(conn, claim)?;
    let sql = "UPDATE runs SET epoch = epoch + 1, driver = ?2 WHERE id = ?1";
    mark_rows_claimed_by_worker(
        conn,
        sql,
        claim.worker,
        runs.iter().map(|claimed| [claimed.run.to_string()]),
    )?;
    runs.iter_mut().for_each(|claimed| claimed.epoch = claimed.epoch.next_epoch());
    Ok(runs)
}

pub(crate) fn claim_errands(conn: &Connection, claim: WorkClaim) -> Result<Vec<OutboxRow>, ReadError> {
    let errands = read::list_claimable_errands(conn, claim)?;
    let sql = "UPDATE outbox SET worker = ?2 WHERE id = ?1";
    mark_rows_claimed_by_worker(
        conn,
        sql,
        claim.worker,
        errands.iter().map(|errand| [format_outbox_key(errand.id)]),
    )?;
    Ok(errands)
}

pub(crate) fn claim_due_timers(conn: &Connection, claim: WorkClaim) -> Result<Vec<DueTimer>, ReadError> {
    let due = read::list_due_timers(conn, claim)?;
    let sql = "UPDATE timers SET worker = ?3 WHERE run = ?1 AND timer = ?2 AND worker IS NOT ?3";
    let names = due.iter().map(|due| [due.run.to_string(), due.timer.to_string()]);
    mark_rows_claimed_by_worker(conn, sql, claim.worker, names)?;
    Ok(due)
}

pub(crate) fn claim_due_hooks(
    conn: &Connection,
    claim: WorkClaim,
    except: &[String],
) -> Result<Vec<DueHook>, ReadError> {
    let due = read::list_due_hooks(conn, claim, except)?;
    let sql = "UPDATE hooks SET worker = ?3 WHERE run = ?1 AND id = ?2 AND worker IS NOT ?3";
    let names = due.iter().map(|due| [due.hook.run.to_string(), due.hook.id.clone()]);
    mark_rows_claimed_by_worker(conn, sql, claim.worker, names)?;
    Ok(due)
}

/// Records who has claimed these rows. The worker is the value after the key.
fn mark_rows_claimed_by_worker<const N: usize>(
    conn: &Connection,
    sql: &str,
    worker: WorkerId,
    row_keys: impl Iterator<Item = [String; N]>,
) -> Result<(), ReadError> {
    let mut statement = conn.prepare_cached(sql).map_err(to_read_error)?;
    let worker = format_worker_key(worker);
    for name in row_keys {
        let values = name.into_iter().chain([worker.clone()]);
        statement.execute(rusqlite::params_from_iter(values)).map_err(to_read_error)?;
    }
    Ok(())
}
