//! Damage to one run, and the others.

use std::{path::Path, sync::Arc};

use serde_json::json;
use trackway_domain::{Branch, Inputs, NodeId};
use trackway_ports::Journal as _;
use trackway_runtime::GuideError;
use trackway_sqlite::SqliteJournal;
use trackway_testkit::MemoryJournal;
use uuid::Uuid;

use crate::kit::{Library, access, advance, answer, noted, output, seal, start, three, to_the_end};

/// Proves T12: whichever event is damaged, the error names this run, and the other run goes on.
#[tokio::test]
async fn damage_stays_in_its_run() {
    for damaged in 1..=5 {
        let (library, journal) = (Library::new(), MemoryJournal::new());
        let guide = library.guide(Arc::new(journal.clone()));
        let (hurt, well) = (start(&guide).await, start(&guide).await);
        let second = advance(&guide, answer(&hurt, Inputs::default())).await.unwrap();
        let stuck = advance(&guide, answer(&second, Inputs::default())).await.unwrap();
        journal.damage(hurt.run, damaged);
        let guide = library.guide(Arc::new(journal.reopen()));
        for sent in [answer(&hurt, Inputs::default()), answer(&stuck, Inputs::default())] {
            match advance(&guide, sent).await {
                Ok(_) | Err(GuideError::Damaged { .. }) => {}
                other => panic!("event {damaged}: {other:?}"),
            }
        }
        let look = guide.look(&access(), hurt.run, hurt.node, seal()).await;
        let is_its = damaged == 3;
        assert_eq!(matches!(look, Err(GuideError::Damaged { .. })), is_its, "{damaged}: {look:?}");
        let migrated = guide.migrate(&access(), hurt.run).await;
        assert!(matches!(migrated, Err(GuideError::Damaged { .. })), "{damaged}: {migrated:?}");
        to_the_end(&guide, well).await;
    }
}

/// Proves T12: the index follows from the log. Where it is lost, the log is read instead.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_index_hides_nothing() {
    let (library, folder) = (Library::new(), tempfile::tempdir().unwrap());
    let journal = Arc::new(SqliteJournal::open(folder.path()).unwrap());
    let guide = library.guide(journal.clone());
    let first = start(&guide).await;
    let sent = answer(&first, Inputs::default());
    let second = advance(&guide, sent.clone()).await.unwrap();
    lose_index(folder.path());
    assert_eq!(advance(&guide, sent).await.as_ref(), Ok(&second), "the answer is found again");
    let forked = advance(&guide, answer(&first, noted("b"))).await.unwrap();
    assert_eq!(forked.branch, Branch { forked: true, index: 1, siblings: 2 });
    lose_index(folder.path());
    let node = NodeId::new(Uuid::from_u128(5));
    let gone = guide.look(&access(), first.run, node, seal()).await;
    assert_eq!(gone, Err(GuideError::UnknownNode { run: first.run, node }));
    to_the_end(&guide, second).await;
    journal.close().await;
}

/// Proves T3: a pinned definition that is damaged comes from the folders where they still have it, and is
/// damage to the runs that are pinned to it where they have not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_damaged_definition_is_had_from_the_folders() {
    let (library, folder) = (Library::new(), tempfile::tempdir().unwrap());
    let journal = Arc::new(SqliteJournal::open(folder.path()).unwrap());
    let first = start(&library.guide(journal.clone())).await;
    change(folder.path(), "UPDATE definitions SET body = replace(body, 'Do two', 'Do too')");
    let second = advance(&library.guide(journal.clone()), answer(&first, Inputs::default())).await;
    let second = second.unwrap();
    let mut other = three();
    other["version"] = json!("2.0.0");
    library.write("three.json", &other);
    let guide = library.guide(journal.clone());
    let refused = advance(&guide, answer(&second, output(json!({ "n": 1 })))).await;
    assert!(matches!(refused, Err(GuideError::Damaged { .. })), "{refused:?}");
    let again = advance(&guide, answer(&first, Inputs::default())).await;
    assert_eq!(again, Ok(second), "what was told needs no definition");
    let well = start(&guide).await;
    to_the_end(&guide, well).await;
    journal.close().await;
}

fn lose_index(folder: &Path) {
    change(folder, "DELETE FROM nodes; DELETE FROM attempts;");
}

#[expect(clippy::disallowed_methods, reason = "a test destroys what the store would keep")]
fn change(folder: &Path, sql: &str) {
    let store = rusqlite::Connection::open(folder.join("trackway.db")).unwrap();
    store.execute_batch(sql).unwrap();
}
