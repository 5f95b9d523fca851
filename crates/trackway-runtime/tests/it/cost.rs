//! The cost of an answer does not depend on what was recorded before.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use trackway_domain::{AttemptInputs, RunId};
use trackway_ports::{Append, AppendCallback, Journal, PortFuture};
use trackway_testkit::{InterceptedJournal, JournalInterceptor, MemoryJournal};

use crate::support::{
    DefinitionFolder, access, advance, answer_request, load_events, notes_inputs, render_stamp, start_three,
};

/// Counts reads and appends.
#[derive(Debug, Default)]
struct Counts {
    reads: AtomicUsize,
    appends: AtomicUsize,
}

impl Counts {
    fn take(&self) -> (usize, usize) {
        (self.reads.swap(0, Ordering::SeqCst), self.appends.swap(0, Ordering::SeqCst))
    }
}

impl JournalInterceptor for Counts {
    fn intercept_append(&self, journal: &Arc<dyn Journal>, append: Append, done: AppendCallback) {
        self.appends.fetch_add(1, Ordering::SeqCst);
        journal.append(append, done);
    }

    fn before_read(&self, _run: Option<RunId>) -> PortFuture<'_, ()> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        Box::pin(std::future::ready(()))
    }
}

/// Proves T12: one read and one append (a fork reads once more), in a run of five events and in one of five
/// hundred, with one branch and with five hundred.
#[tokio::test]
async fn an_answer_costs_the_same_in_a_long_run() {
    let (library, journal) = (DefinitionFolder::new(), MemoryJournal::new());
    let counts = Arc::new(Counts::default());
    let guide =
        library.guided_runs(Arc::new(InterceptedJournal::new(Arc::new(journal.clone()), counts.clone())));
    let first = start_three(&guide).await;
    assert_eq!(counts.take(), (0, 1), "a start");
    let second = advance(&guide, answer_request(&first, notes_inputs("a"))).await.unwrap();
    assert_eq!(counts.take(), (1, 1), "an answer to a run of three events");
    while load_events(&journal, first.run).await.len() < 500 {
        for _ in 0..100 {
            let look = guide.inspect_node(&access(), first.run, first.node, render_stamp()).await.unwrap();
            advance(&guide, answer_request(&look, AttemptInputs::default())).await.unwrap();
        }
    }
    counts.take();
    advance(&guide, answer_request(&first, notes_inputs("b"))).await.unwrap();
    assert_eq!(counts.take(), (2, 1), "another branch; the others are looked at for damage");
    let blocked = advance(&guide, answer_request(&second, AttemptInputs::default())).await.unwrap();
    assert!(blocked.blocked.is_some());
    assert_eq!(counts.take(), (1, 1), "a blocked answer");
    assert_eq!(advance(&guide, answer_request(&first, notes_inputs("a"))).await, Ok(second.clone()));
    assert_eq!(counts.take(), (1, 0), "a repetition");
    guide.inspect_node(&access(), first.run, first.node, render_stamp()).await.unwrap();
    assert_eq!(counts.take(), (1, 0), "a look");
    let look = guide.inspect_node(&access(), first.run, first.node, render_stamp()).await.unwrap();
    counts.take();
    guide.build_node_recap(&access(), &look).await.unwrap();
    let recap = counts.take();
    let short = start_three(&guide).await;
    counts.take();
    guide.build_node_recap(&access(), &short).await.unwrap();
    assert_eq!(counts.take(), recap, "a recap of a long run and of a short one");
    guide.record_node_checkpoint(&access(), first.run, first.node, "notes", render_stamp()).await.unwrap();
    assert_eq!(counts.take(), (1, 1), "a checkpoint");
    let fresh = library.guided_runs(Arc::new(InterceptedJournal::new(Arc::new(journal), counts.clone())));
    advance(&fresh, answer_request(&second, notes_inputs("c"))).await.unwrap();
    assert_eq!(counts.take(), (2, 1), "the definition is not in memory");
}
