//! Damage to one run, and the others.

use std::{path::Path, sync::Arc};

use trackway_domain::{Branch, Inputs, NodeId};
use trackway_ports::Journal as _;
use trackway_runtime::GuideError;
use trackway_sqlite::SqliteJournal;
use trackway_testkit::MemoryJournal;
use uuid::Uuid;

use crate::kit::{Library, advance, answer, caller, noted, seal, start, to_the_end};

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
        let look = guide.look(&caller(), hurt.run, hurt.node, seal()).await;
        let is_its = damaged == 3;
        assert_eq!(matches!(look, Err(GuideError::Damaged { .. })), is_its, "{damaged}: {look:?}");
        let migrated = guide.migrate(&caller(), hurt.run).await;
        assert!(matches!(migrated, Err(GuideError::Damaged { .. })), "{damaged}: {migrated:?}");
        to_the_end(&guide, well).await;
    }
}

/// Proves T12: the index follows from the log. Where it is lost, the first call makes it anew.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_index_is_made_anew_from_the_log() {
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
    let gone = guide.look(&caller(), first.run, node, seal()).await;
    assert_eq!(gone, Err(GuideError::UnknownNode { run: first.run, node }));
    to_the_end(&guide, second).await;
    journal.close().await;
}

#[expect(clippy::disallowed_methods, reason = "a test destroys what the store would keep")]
fn lose_index(folder: &Path) {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let database = files.into_iter().find(|file| file.extension().is_some_and(|it| it == "db"));
    let store = rusqlite::Connection::open(database.expect("the store's file")).unwrap();
    store.execute_batch("DELETE FROM nodes; DELETE FROM attempts;").unwrap();
}
