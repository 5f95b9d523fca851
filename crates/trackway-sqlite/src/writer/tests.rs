//! A full database, from the writer's point of view.

use std::{sync::mpsc, time::Duration};

use trackway_domain::{Event, RunId, Timestamp};
use trackway_ports::{Append, NoFaultInjection};
use uuid::Uuid;

use crate::{database::DatabaseFolder, wal_checkpoint};

use super::*;

fn job(expected: u64, answers: &mpsc::Sender<WriteOutcome>) -> WriteJob {
    let mut append = Append::new(RunId::new(Uuid::from_u128(1)), expected, Timestamp(0));
    let text = serde_json::Value::String("x".repeat(20_000));
    append.events.push(Event::StepDone {
        op: trackway_domain::Op { kind: trackway_domain::OpKind::Step, key: "sample".into(), occurrence: 0 },
        outcome: trackway_domain::StepOutcome::Ok(text),
    });
    let answers = answers.clone();
    WriteJob {
        work: WriteRequest::encode_append_request(append),
        done: Box::new(move |outcome| answers.send(outcome).unwrap()),
    }
}

/// Proves X2, X5: work that was rolled back can be written after space is free again.
#[test]
fn a_store_that_was_full_writes_again_when_there_is_room() {
    let folder = tempfile::tempdir().unwrap();
    let database = DatabaseFolder::create_database_folder(folder.path(), Duration::from_secs(1)).unwrap();
    let conn = database.open_writer_connection().unwrap();
    let (checkpoints, _checkpointer) =
        wal_checkpoint::new_wal_checkpointer(database.open_checkpoint_connection().unwrap());
    let blobs = FolderBlobStore::open_or_create_blob_folder(folder.path()).unwrap();
    let writer = WriterThread { blobs, faults: Arc::new(NoFaultInjection), checkpoints };
    let mut statements = WriterStatements::prepare_writer_statements(&conn).unwrap();
    let mut heads = RunHeadCache::default();
    let (answers, _) = mpsc::channel();
    let mut write = |expected| {
        let written = writer.commit_batch(&conn, &mut statements, &mut heads, &[job(expected, &answers)]);
        written.map_err(|error| writer.roll_back_failed_batch(&conn, &mut statements, &mut heads, error))
    };
    write(0).unwrap().remove(0).unwrap();
    let pages: i64 = conn.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
    let limit = |pages: i64| {
        let set = format!("PRAGMA max_page_count = {pages}");
        conn.query_row(&set, [], |row| row.get::<_, i64>(0)).unwrap();
    };
    limit(pages);
    for _ in 0..2 {
        let full = write(1);
        assert!(matches!(full, Err(CommitError::Unavailable(_))), "{full:?}");
    }
    limit(pages + 1_000);
    write(1).unwrap().remove(0).unwrap();
    write(2).unwrap().remove(0).unwrap();
}
