//! Opening: a fresh folder, an old one, a newer one, and reading while a server is running.

use trackway_ports::{AppendError, Journal as _, RunFilter};
use trackway_sqlite::{OpenDatabaseError, SqliteJournal};

use crate::helpers::*;

/// Proves X3: one folder without any preparation.
#[tokio::test]
async fn a_fresh_folder_is_made_and_brought_up_to_date() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("deep").join("inside 'ü'?#%20");
    let journal = SqliteJournal::open(&folder).unwrap();
    fill(&journal, run_id(1), 1).await;
    assert!(folder.join("blobs").is_dir());
    let conn = database(&folder);
    let pragma = |name: &str| -> String {
        conn.pragma_query_value(None, name, |row| {
            row.get::<_, rusqlite::types::Value>(0).map(|value| match value {
                rusqlite::types::Value::Text(text) => text,
                other => format!("{other:?}"),
            })
        })
        .unwrap()
    };
    assert_eq!(pragma("user_version"), "Integer(3)");
    assert_eq!(pragma("journal_mode"), "wal");
    assert_eq!(pragma("integrity_check"), "ok");
}

/// Proves X2: every released migration gives the same database as a fresh folder.
#[tokio::test]
async fn a_database_without_tables_is_migrated() {
    let folder = tempfile::tempdir().unwrap();
    database(folder.path()).execute_batch("CREATE TABLE t (x); DROP TABLE t;").unwrap();
    let journal = SqliteJournal::open(folder.path()).unwrap();
    fill(&journal, run_id(1), 2).await;
    assert_eq!(count(&journal, run_id(1)).await, 2);
}

/// Proves X2: an old program never writes into a database that it does not understand.
#[tokio::test]
async fn a_newer_database_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    SqliteJournal::open(folder.path()).unwrap().close_store().await;
    database(folder.path()).pragma_update(None, "user_version", 99).unwrap();
    for opened in [SqliteJournal::open(folder.path()), SqliteJournal::open_read_only(folder.path())] {
        let error = opened.unwrap_err();
        assert!(matches!(error, OpenDatabaseError::Newer { found: 99, .. }));
        assert!(error.to_string().contains("newer Trackway"), "{error}");
    }
}

#[tokio::test]
async fn a_reader_needs_a_database_that_is_up_to_date() {
    let folder = tempfile::tempdir().unwrap();
    let error = SqliteJournal::open_read_only(folder.path()).unwrap_err();
    assert!(matches!(error, OpenDatabaseError::Missing { .. }));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    database(folder.path()).execute_batch("CREATE TABLE t (x);").unwrap();
    let error = SqliteJournal::open_read_only(folder.path()).unwrap_err();
    assert!(matches!(error, OpenDatabaseError::Older { found: 0, .. }));
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("trackway.db"), "x".repeat(10_000)).unwrap();
    let error = SqliteJournal::open(folder.path()).unwrap_err();
    assert!(matches!(error, OpenDatabaseError::Database(_)), "{error:?}");
}

/// Proves X3: the command line reads while the server is running.
#[tokio::test]
async fn a_reader_sees_what_the_server_writes() {
    let folder = tempfile::tempdir().unwrap();
    let server = SqliteJournal::open(folder.path()).unwrap();
    fill(&server, run_id(1), 3).await;
    let reader = SqliteJournal::open_read_only(folder.path()).unwrap();
    assert_eq!(count(&reader, run_id(1)).await, 3);
    fill(&server, run_id(2), 5).await;
    assert_eq!(count(&reader, run_id(2)).await, 5);

    let outcome = append(&reader, appending(run_id(1), 3, [event("no")])).await;
    match outcome {
        Err(AppendError::Broken { reason }) => assert!(reason.contains("reading only")),
        other => panic!("a reader must not write: {other:?}"),
    }
    reader.close_store().await;
    fill(&server, run_id(3), 1).await;
    assert_eq!(count(&server, run_id(1)).await, 3);
}

/// Proves X3.
#[tokio::test]
async fn a_reader_needs_no_server() {
    let folder = tempfile::tempdir().unwrap();
    let server = SqliteJournal::open(folder.path()).unwrap();
    fill(&server, run_id(1), 3).await;
    server.close_store().await;
    drop(server);
    let reader = SqliteJournal::open_read_only(folder.path()).unwrap();
    assert_eq!(count(&reader, run_id(1)).await, 3);
    let runs = reader.list_runs(RunFilter::default(), None, 9).await.unwrap();
    assert!(runs.is_empty());
}

/// Proves X3: after closing, everything is in the one file.
#[tokio::test]
async fn closing_leaves_no_write_ahead_log() {
    let (folder, journal) = fresh_store();
    fill(&journal, run_id(1), 3).await;
    assert_eq!(count(&journal, run_id(1)).await, 3);
    journal.close_store().await;
    let log = folder.path().join("trackway.db-wal");
    assert!(std::fs::metadata(log).map_or(0, |file| file.len()) == 0);
    // Reading is still possible.
    assert_eq!(count(&journal, run_id(1)).await, 3);
}
