//! Damage to one run, and the others.

use std::sync::Arc;

use trackway_domain::Inputs;
use trackway_runtime::GuideError;
use trackway_testkit::MemoryJournal;

use crate::kit::{Library, advance, answer, caller, seal, start, to_the_end};

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
