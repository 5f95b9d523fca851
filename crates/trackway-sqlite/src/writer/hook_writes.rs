//! Writes hooks: their statements, and when a hook becomes due.

use rusqlite::{Connection, OptionalExtension as _, Params, Statement, params};
use trackway_domain::Seq;
use trackway_ports::HookChange;

use crate::json;

pub(super) struct HookStatements<'conn> {
    wake: Statement<'conn>,
    set: Statement<'conn>,
    remove: Statement<'conn>,
    told: Statement<'conn>,
    failed: Statement<'conn>,
}

/// The run whose hooks change, after this append.
pub(super) struct HookChangeContext<'a> {
    pub(super) run: &'a str,
    /// Number of its newest event.
    pub(super) newest: i64,
    pub(super) at: i64,
}

impl<'conn> HookStatements<'conn> {
    pub(super) fn prepare_hook_statements(conn: &'conn Connection) -> rusqlite::Result<Self> {
        Ok(Self {
            wake: conn.prepare("UPDATE hooks SET due = ?2 WHERE run = ?1 AND due IS NULL")?,
            // An existing hook of the same name keeps its position in the log.
            set: conn.prepare(
                "INSERT INTO hooks (run, id, target, delivered_through, due, attempts)
                 VALUES (?1, ?2, ?3, ?4, iif(?5 > ?4, ?6, NULL), 0)
                 ON CONFLICT (run, id) DO UPDATE
                 SET target = ?3, due = iif(?5 > delivered_through, ?6, NULL), failing_since = NULL,
                     attempts = 0, worker = iif(?5 > delivered_through, worker, NULL)
                 RETURNING due IS NOT NULL",
            )?,
            remove: conn.prepare("DELETE FROM hooks WHERE run = ?1 AND id = ?2")?,
            told: conn.prepare(
                "UPDATE hooks
                 SET delivered_through = max(delivered_through, ?3),
                     due = iif(?4 > max(delivered_through, ?3), ?5, NULL),
                     failing_since = NULL, attempts = 0,
                     worker = iif(?4 > max(delivered_through, ?3), worker, NULL)
                 WHERE run = ?1 AND id = ?2
                 RETURNING due IS NOT NULL",
            )?,
            failed: conn.prepare(
                "UPDATE hooks SET due = ?3, failing_since = ?4, attempts = ?5
                 WHERE run = ?1 AND id = ?2 AND attempts + 1 = ?5",
            )?,
        })
    }

    /// Makes idle hooks of the run due. True if there was one.
    pub(super) fn make_idle_hooks_due(&mut self, context: &HookChangeContext<'_>) -> rusqlite::Result<bool> {
        Ok(self.wake.execute(params![context.run, context.at])? > 0)
    }

    /// Applies one change. True if the hook is due after it.
    pub(super) fn apply_hook_change_and_check_due(
        &mut self,
        context: &HookChangeContext<'_>,
        change: &HookChange,
    ) -> rusqlite::Result<bool> {
        let HookChangeContext { run, newest, at } = context;
        let stored = |seq: &Seq| i64::try_from(*seq).unwrap_or(i64::MAX);
        match change {
            HookChange::Set { id, target, after } => {
                let target = json::to_json_text(&target.0);
                query_is_hook_due(&mut self.set, params![run, id, target, stored(after), newest, at])
            }
            HookChange::Remove { id } => self.remove.execute(params![run, id]).map(|_| false),
            HookChange::Delivered { id, after } => {
                query_is_hook_due(&mut self.told, params![run, id, stored(after), newest, at])
            }
            HookChange::Failed { id, due, failing_since, attempts } => {
                let (due, since) = (due.millis(), failing_since.millis());
                self.failed.execute(params![run, id, due, since, attempts]).map(|_| false)
            }
        }
    }
}

/// Runs a statement that returns whether its hook is due. No row means that the hook no longer
/// exists.
fn query_is_hook_due(statement: &mut Statement<'_>, values: impl Params) -> rusqlite::Result<bool> {
    Ok(statement.query_row(values, |row| row.get(0)).optional()?.unwrap_or(false))
}
