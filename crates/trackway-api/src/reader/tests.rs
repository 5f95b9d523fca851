//! Runs that are read from a store with damage in it.

use trackway_domain::StateName;
use trackway_testkit::{MemoryJournal, Trail, noted};

use super::*;

/// Issue 11, B-M6: wherever the damage is, the readable part is returned and marked. If even the
/// submission is lost, the row of the run is the source.
#[tokio::test]
async fn a_damaged_run_is_shown_as_far_as_it_can_be_read() {
    let trail =
        || {
            Trail::guided(1, "s", "review")
                .open("a")
                .answer("a", "b", noted("one"), Vec::new())
                .answer("b", "c", noted("two"), Vec::new())
        };
    let run = trail().run();
    let whole = MemoryJournal::new();
    trail().write(&whole).await;
    let last = whole.events(run, 0, 100).await.unwrap().last().unwrap().seq;
    for damaged in 1..=last {
        let journal = MemoryJournal::new();
        trail().write(&journal).await;
        journal.damage(run, damaged);
        let detail = RunsReader::local(Arc::new(journal)).detail(run).await.unwrap().unwrap();
        assert_eq!(detail.summary.state, StateName::Unknown, "{damaged}");
        assert_eq!(detail.summary.workflow, "review", "{damaged}");
        let reason = detail.damaged.unwrap();
        assert!(reason.starts_with(&format!("event {damaged}: ")), "{reason}");
    }
    let detail = RunsReader::local(Arc::new(whole)).detail(run).await.unwrap().unwrap();
    assert_eq!((detail.damaged, detail.guided.unwrap().branches), (None, 1));
}
