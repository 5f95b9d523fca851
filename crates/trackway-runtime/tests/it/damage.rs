//! Damage to one run does not affect the others.

use std::{path::Path, sync::Arc};

use serde_json::json;
use trackway_domain::{AttemptInputs, BranchPosition, NodeId};
use trackway_ports::Journal as _;
use trackway_runtime::GuidedRunError;
use trackway_sqlite::SqliteJournal;
use trackway_testkit::MemoryJournal;
use uuid::Uuid;

use crate::support::{
    DefinitionFolder, access, advance, advance_to_end, answer_request, notes_inputs, output_inputs,
    render_stamp, start_three, three_steps,
};

/// Proves T12: whichever event is damaged, the error names this run, and the other run goes on.
#[tokio::test]
async fn damage_stays_in_its_run() {
    for damaged in 1..=5 {
        let (library, journal) = (DefinitionFolder::new(), MemoryJournal::new());
        let guide = library.guided_runs(Arc::new(journal.clone()));
        let (hurt, well) = (start_three(&guide).await, start_three(&guide).await);
        let second = advance(&guide, answer_request(&hurt, AttemptInputs::default())).await.unwrap();
        let stuck = advance(&guide, answer_request(&second, AttemptInputs::default())).await.unwrap();
        journal.damage_event(hurt.run, damaged);
        let guide = library.guided_runs(Arc::new(journal.reopen_as_next_process()));
        for sent in [
            answer_request(&hurt, AttemptInputs::default()),
            answer_request(&stuck, AttemptInputs::default()),
        ] {
            match advance(&guide, sent).await {
                Ok(_) | Err(GuidedRunError::Damaged { .. }) => {}
                other => panic!("event {damaged}: {other:?}"),
            }
        }
        let look = guide.inspect_node(&access(), hurt.run, hurt.node, render_stamp()).await;
        let is_its = damaged == 3;
        assert_eq!(matches!(look, Err(GuidedRunError::Damaged { .. })), is_its, "{damaged}: {look:?}");
        let migrated = guide.migrate_to_current_definition(&access(), hurt.run).await;
        assert!(matches!(migrated, Err(GuidedRunError::Damaged { .. })), "{damaged}: {migrated:?}");
        advance_to_end(&guide, well).await;
    }
}

/// Proves T12: the index is derived from the log. If it is lost, the log is read instead.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_index_hides_nothing() {
    let (library, folder) = (DefinitionFolder::new(), tempfile::tempdir().unwrap());
    let journal = Arc::new(SqliteJournal::open(folder.path()).unwrap());
    let guide = library.guided_runs(journal.clone());
    let first = start_three(&guide).await;
    let sent = answer_request(&first, AttemptInputs::default());
    let second = advance(&guide, sent.clone()).await.unwrap();
    drop_index(folder.path());
    assert_eq!(advance(&guide, sent).await.as_ref(), Ok(&second), "the answer is found again");
    let forked = advance(&guide, answer_request(&first, notes_inputs("b"))).await.unwrap();
    assert_eq!(forked.branch, BranchPosition { forked: true, index: 1, siblings: 2 });
    drop_index(folder.path());
    let node = NodeId::new(Uuid::from_u128(5));
    let gone = guide.inspect_node(&access(), first.run, node, render_stamp()).await;
    assert_eq!(gone, Err(GuidedRunError::UnknownNode { run: first.run, node }));
    advance_to_end(&guide, second).await;
    journal.close_store().await;
}

/// Proves T3: a damaged pinned definition is read from the folders if they still have it. If they do not, the
/// runs that are pinned to it are damaged.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn damaged_definition_is_loaded_from_the_folders() {
    let (library, folder) = (DefinitionFolder::new(), tempfile::tempdir().unwrap());
    let journal = Arc::new(SqliteJournal::open(folder.path()).unwrap());
    let first = start_three(&library.guided_runs(journal.clone())).await;
    run_sql(folder.path(), "UPDATE definitions SET body = replace(body, 'Do two', 'Do too')");
    let second =
        advance(&library.guided_runs(journal.clone()), answer_request(&first, AttemptInputs::default()))
            .await;
    let second = second.unwrap();
    let mut other = three_steps();
    other["version"] = json!("2.0.0");
    library.write("three.json", &other);
    let guide = library.guided_runs(journal.clone());
    let refused = advance(&guide, answer_request(&second, output_inputs(json!({ "n": 1 })))).await;
    assert!(matches!(refused, Err(GuidedRunError::Damaged { .. })), "{refused:?}");
    let again = advance(&guide, answer_request(&first, AttemptInputs::default())).await;
    assert_eq!(again, Ok(second), "what was told needs no definition");
    let well = start_three(&guide).await;
    advance_to_end(&guide, well).await;
    journal.close_store().await;
}

fn drop_index(folder: &Path) {
    run_sql(folder, "DELETE FROM nodes; DELETE FROM attempts;");
}

#[expect(clippy::disallowed_methods, reason = "a test destroys what the store would keep")]
fn run_sql(folder: &Path, sql: &str) {
    let store = rusqlite::Connection::open(folder.join("trackway.db")).unwrap();
    store.execute_batch(sql).unwrap();
}
