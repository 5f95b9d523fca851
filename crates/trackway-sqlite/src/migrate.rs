//! Numbered migrations, forward only. `PRAGMA user_version` says how many were applied.

use rusqlite::{Connection, TransactionBehavior};

use crate::OpenError;

/// Every migration ever released, in order. A released file never changes; a new one is added.
const MIGRATIONS: [&str; 1] = [include_str!("migrations/0001-first.sql")];

/// The database version of this program.
pub(crate) const VERSION: u32 = MIGRATIONS.len() as u32;

/// Migrates the database to the current version. Two processes may do so at once: the second finds
/// nothing to do.
pub(crate) fn migrate(conn: &mut Connection) -> Result<(), OpenError> {
    if version(conn)? == VERSION {
        return Ok(());
    }
    let transaction = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let applied = known(version(&transaction)?)?;
    for migration in MIGRATIONS.iter().skip(applied as usize) {
        transaction.execute_batch(migration)?;
    }
    if applied == 0 {
        transaction.execute(
            "INSERT INTO meta (name, value) VALUES ('made-by', ?1)",
            [concat!("trackway ", env!("CARGO_PKG_VERSION"))],
        )?;
    }
    transaction.pragma_update(None, "user_version", VERSION)?;
    transaction.commit()?;
    Ok(())
}

/// For a reader, which cannot migrate: the database must have exactly this version.
pub(crate) fn check(conn: &Connection) -> Result<(), OpenError> {
    match known(version(conn)?)? {
        VERSION => Ok(()),
        found => Err(OpenError::Older { found, known: VERSION }),
    }
}

fn version(conn: &Connection) -> Result<u32, OpenError> {
    Ok(conn.pragma_query_value(None, "user_version", |row| row.get(0))?)
}

fn known(found: u32) -> Result<u32, OpenError> {
    if found > VERSION {
        return Err(OpenError::Newer { found, known: VERSION });
    }
    Ok(found)
}
