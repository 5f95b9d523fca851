//! Numbered migrations, forward only. `PRAGMA user_version` says how many were applied.

use rusqlite::{Connection, TransactionBehavior};

use crate::OpenDatabaseError;

/// Every migration ever released, in order. A released file never changes; a new one is added.
const MIGRATIONS: [&str; 3] = [
    include_str!("migrations/0001-first.sql"),
    include_str!("migrations/0002-artifacts.sql"),
    include_str!("migrations/0003-audit.sql"),
];

/// The database version of this program.
pub(crate) const SCHEMA_VERSION: u32 = MIGRATIONS.len() as u32;

/// Migrates the database to the current version. Two processes may do so at once: the second finds
/// nothing to do.
pub(crate) fn migrate_schema(conn: &mut Connection) -> Result<(), OpenDatabaseError> {
    if stored_schema_version(conn)? == SCHEMA_VERSION {
        return Ok(());
    }
    let transaction = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let applied = refuse_newer_schema(stored_schema_version(&transaction)?)?;
    for migration in MIGRATIONS.iter().skip(applied as usize) {
        transaction.execute_batch(migration)?;
    }
    if applied == 0 {
        transaction.execute(
            "INSERT INTO meta (name, value) VALUES ('created-by', ?1)",
            [concat!("trackway ", env!("CARGO_PKG_VERSION"))],
        )?;
    }
    transaction.pragma_update(None, "user_version", SCHEMA_VERSION)?;
    transaction.commit()?;
    Ok(())
}

/// For a reader, which cannot migrate: the database must have exactly this version.
pub(crate) fn check_schema_version(conn: &Connection) -> Result<(), OpenDatabaseError> {
    match refuse_newer_schema(stored_schema_version(conn)?)? {
        SCHEMA_VERSION => Ok(()),
        found => Err(OpenDatabaseError::Older { found, known: SCHEMA_VERSION }),
    }
}

fn stored_schema_version(conn: &Connection) -> Result<u32, OpenDatabaseError> {
    Ok(conn.pragma_query_value(None, "user_version", |row| row.get(0))?)
}

fn refuse_newer_schema(stored_version_number: u32) -> Result<u32, OpenDatabaseError> {
    if stored_version_number > SCHEMA_VERSION {
        return Err(OpenDatabaseError::Newer { found: stored_version_number, known: SCHEMA_VERSION });
    }
    Ok(stored_version_number)
}
