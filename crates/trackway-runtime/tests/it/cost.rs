//! What an answer costs does not depend on what was recorded before.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use trackway_domain::{Inputs, RunId};
use trackway_ports::{Append, Done, Journal, PortFuture};
use trackway_testkit::{MemoryJournal, Tap, Tapped};

use crate::kit::{Library, access, advance, answer, log, noted, seal, start};

/// Counts what goes through.
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

impl Tap for Counts {
    fn append(&self, journal: &Arc<dyn Journal>, append: Append, done: Done) {
        self.appends.fetch_add(1, Ordering::SeqCst);
        journal.append(append, done);
    }

    fn before_read(&self, _run: Option<RunId>) -> PortFuture<'_, ()> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        Box::pin(std::future::ready(()))
    }
}

/// Proves T12: one read and one append (a fork reads once more), in a run of five events and in one of five hundred, with one
/// branch and with five hundred.
#[tokio::test]
async fn an_answer_costs_the_same_in_a_long_run() {
    let (library, journal) = (Library::new(), MemoryJournal::new());
    let counts = Arc::new(Counts::default());
    let guide = library.guide(Arc::new(Tapped::new(Arc::new(journal.clone()), counts.clone())));
    let first = start(&guide).await;
    assert_eq!(counts.take(), (0, 1), "a start");
    let second = advance(&guide, answer(&first, noted("a"))).await.unwrap();
    assert_eq!(counts.take(), (1, 1), "an answer to a run of three events");
    while log(&journal, first.run).await.len() < 500 {
        for _ in 0..100 {
            let look = guide.look(&access(), first.run, first.node, seal()).await.unwrap();
            advance(&guide, answer(&look, Inputs::default())).await.unwrap();
        }
    }
    counts.take();
    advance(&guide, answer(&first, noted("b"))).await.unwrap();
    assert_eq!(counts.take(), (2, 1), "another branch; the others are looked at for damage");
    let blocked = advance(&guide, answer(&second, Inputs::default())).await.unwrap();
    assert!(blocked.blocked.is_some());
    assert_eq!(counts.take(), (1, 1), "a blocked answer");
    assert_eq!(advance(&guide, answer(&first, noted("a"))).await, Ok(second.clone()));
    assert_eq!(counts.take(), (1, 0), "a repetition");
    guide.look(&access(), first.run, first.node, seal()).await.unwrap();
    assert_eq!(counts.take(), (1, 0), "a look");
    let look = guide.look(&access(), first.run, first.node, seal()).await.unwrap();
    counts.take();
    guide.recap(&access(), &look).await.unwrap();
    let recap = counts.take();
    let short = start(&guide).await;
    counts.take();
    guide.recap(&access(), &short).await.unwrap();
    assert_eq!(counts.take(), recap, "a recap of a long run and of a short one");
    guide.checkpoint(&access(), first.run, first.node, "notes", seal()).await.unwrap();
    assert_eq!(counts.take(), (1, 1), "a checkpoint");
    let fresh = library.guide(Arc::new(Tapped::new(Arc::new(journal), counts.clone())));
    advance(&fresh, answer(&second, noted("c"))).await.unwrap();
    assert_eq!(counts.take(), (2, 1), "the definition is not in memory");
}
