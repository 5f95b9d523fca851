//! Runs that are read from a store with damage in it.

use trackway_domain::StateName;
use trackway_testkit::{GuidedRunBuilder, MemoryJournal, inputs_with_notes};

use super::*;

/// Issue 11, B-M6: wherever the damage is, the readable part is returned and marked. If even the
/// submission is lost, the row of the run is the source.
#[tokio::test]
async fn a_damaged_run_is_shown_as_far_as_it_can_be_read() {
    let trail = || {
        GuidedRunBuilder::new_guided_run(1, "s", "review")
            .open_node("a")
            .answer_node("a", "b", inputs_with_notes("one"), Vec::new())
            .answer_node("b", "c", inputs_with_notes("two"), Vec::new())
    };
    let run = trail().run_id();
    let whole = MemoryJournal::new();
    trail().append_to_journal(&whole).await;
    let last = whole.list_events(run, 0, 100).await.unwrap().last().unwrap().seq;
    for damaged in 1..=last {
        let journal = MemoryJournal::new();
        trail().append_to_journal(&journal).await;
        journal.damage_event(run, damaged);
        let detail =
            RunsReader::for_local_caller(Arc::new(journal)).load_run_detail(run).await.unwrap().unwrap();
        assert_eq!(detail.summary.state, StateName::Unknown, "{damaged}");
        assert_eq!(detail.summary.workflow, "review", "{damaged}");
        let reason = detail.damaged.unwrap();
        assert!(reason.starts_with(&format!("event {damaged}: ")), "{reason}");
    }
    let detail = RunsReader::for_local_caller(Arc::new(whole)).load_run_detail(run).await.unwrap().unwrap();
    assert_eq!((detail.damaged, detail.guided.unwrap().branches), (None, 1));
}
