//! Guided runs: finding nodes and attempts, and the definitions that runs are pinned to.

use std::sync::Arc;

use trackway_domain::{AckId, Event, NodeId};
use trackway_ports::{AskedPlace, AttemptKey, Journal, Lineage, LineageLimits, Stored};

use super::{StoreUnderTest, fresh, samples::*, trees::*};

async fn branches(journal: &dyn Journal, number: u128) -> u32 {
    place(journal, 1, number).await.unwrap().branches
}

async fn found(journal: &dyn Journal, key: AttemptKey) -> Option<Stored> {
    let found = journal.attempt(key.clone()).await.unwrap();
    let place = journal.node(key.run, key.node).await.unwrap();
    let both = place.map(|place| AskedPlace { place, attempt: found.clone() });
    assert_eq!(journal.asked(key).await.unwrap(), both, "one look says what two say");
    found
}

/// Proves T4, T12: one read finds everything that an answer needs, whatever else the run has.
pub async fn a_node_is_found_with_its_run(journal: Arc<dyn Journal>) {
    write(&*journal, opening(1)).await;
    let whole = log(&*journal, run(1)).await;
    let first = place(&*journal, 1, 1).await.unwrap();
    assert_eq!(first.made, whole[1]);
    assert_eq!((first.head, first.branches), (2, 0));
    assert_eq!(first.row, row(1));

    write(&*journal, guided(1, 2, [advanced(1, 1, "a", 2), event(7)])).await;
    let whole = log(&*journal, run(1)).await;
    let second = place(&*journal, 1, 2).await.unwrap();
    assert_eq!(second.made, whole[2]);
    assert_eq!((second.head, second.branches), (4, 0));
    let first = place(&*journal, 1, 1).await.unwrap();
    assert_eq!(first.made, whole[1]);
    assert_eq!((first.head, first.branches), (4, 1));
}

/// Issue 11, S-M5: a node tells whether its run waits to be adopted.
pub async fn a_node_of_an_imported_run_says_so(journal: Arc<dyn Journal>) {
    write(&*journal, opening(1)).await;
    let is_unadopted = async || place(&*journal, 1, 1).await.unwrap().is_unadopted;
    assert!(!is_unadopted().await);
    write(&*journal, guided(1, 2, [Event::Imported])).await;
    assert!(is_unadopted().await);
    write(&*journal, guided(1, 3, [Event::Adopted])).await;
    assert!(!is_unadopted().await);
}

/// Proves T5: nodes of another run are not found in this one.
pub async fn a_node_belongs_to_its_run(journal: Arc<dyn Journal>) {
    write(&*journal, opening(1)).await;
    write(&*journal, opening(2)).await;
    write(&*journal, guided(2, 2, [advanced(1, 1, "a", 2)])).await;
    assert_eq!(place(&*journal, 1, 2).await, None);
    assert_eq!(place(&*journal, 3, 1).await, None);
    assert_eq!(place(&*journal, 1, 1).await.unwrap().branches, 0);
    assert_eq!(place(&*journal, 2, 1).await.unwrap().branches, 1);
    assert_eq!(found(&*journal, attempt_key(1, 1, 1, "a")).await, None);
    assert!(found(&*journal, attempt_key(2, 1, 1, "a")).await.is_some());
}

/// Proves T6: each answer that advances is a branch; blocked answers and notes are not.
pub async fn branches_are_counted(journal: Arc<dyn Journal>) {
    write(&*journal, opening(1)).await;
    write(&*journal, guided(1, 2, [blocked(1, 1, "bad")])).await;
    write(&*journal, guided(1, 3, [checkpointed(Some(1))])).await;
    assert_eq!(branches(&*journal, 1).await, 0);
    write(&*journal, guided(1, 4, [advanced(1, 1, "a", 2)])).await;
    write(&*journal, guided(1, 5, [advanced(1, 1, "b", 3), advanced(3, 9, "c", 4)])).await;
    write(&*journal, guided(1, 7, [advanced(1, 2, "a", 5)])).await;
    assert_eq!(branches(&*journal, 1).await, 3);
    assert_eq!(branches(&*journal, 2).await, 0);
    assert_eq!(branches(&*journal, 3).await, 1);
    // A refused append does not count.
    assert!(is_conflict(&append(&*journal, guided(1, 7, [advanced(1, 3, "a", 6)])).await));
    assert_eq!(branches(&*journal, 1).await, 3);
    assert_eq!(place(&*journal, 1, 6).await, None);
}

/// Proves T4, T6: an attempt is found only by its complete key, advanced or not.
pub async fn an_attempt_is_found_by_its_key(journal: Arc<dyn Journal>) {
    write(&*journal, opening(1)).await;
    write(&*journal, guided(1, 2, [blocked(1, 1, "bad"), advanced(1, 1, "a", 2)])).await;
    let whole = log(&*journal, run(1)).await;
    let bad = found(&*journal, attempt_key(1, 1, 1, "bad")).await;
    assert_eq!(bad.as_ref(), Some(&whole[2]));
    let good = found(&*journal, attempt_key(1, 1, 1, "a")).await;
    assert_eq!(good.as_ref(), Some(&whole[3]));
    for other in [
        attempt_key(1, 1, 1, "b"),
        attempt_key(1, 1, 2, "a"),
        attempt_key(1, 2, 1, "a"),
        attempt_key(2, 1, 1, "a"),
    ] {
        assert_eq!(found(&*journal, other).await, None);
    }
}

/// Proves T3: a node that switches to another definition keeps its id and its branches.
pub async fn a_repinned_node_keeps_its_branches(journal: Arc<dyn Journal>) {
    write(&*journal, opening(1)).await;
    write(&*journal, guided(1, 2, [advanced(1, 1, "a", 2)])).await;
    write(&*journal, guided(1, 3, [repinned(1, "other")])).await;
    let first = place(&*journal, 1, 1).await.unwrap();
    assert_eq!((first.made.seq, first.head, first.branches), (4, 4, 1));
    assert_eq!(trackway_ports::node_of(&first.made.event).unwrap().definition, "other");
    write(&*journal, guided(1, 4, [advanced(1, 1, "b", 3)])).await;
    assert_eq!(branches(&*journal, 1).await, 2);
    assert_eq!(place(&*journal, 1, 1).await.unwrap().made.seq, 4);
}

/// Proves T12, T14: the path to a node, its checkpoints and its branches are derived from the log,
/// within the limits, also if a node changed its definition.
pub async fn a_lineage_is_what_the_log_says(journal: Arc<dyn Journal>) {
    write(&*journal, opening(1)).await;
    let next = [
        advanced(1, 1, "a", 2),
        checkpointed(Some(2)),
        blocked(2, 2, "bad"),
        advanced(2, 3, "b", 3),
        advanced(2, 4, "c", 4),
        advanced(3, 5, "d", 5),
        checkpointed(Some(5)),
        checkpointed(None),
        repinned(2, "other"),
        advanced(5, 6, "e", 6),
        advanced(3, 7, "f", 7),
        checkpointed(Some(2)),
    ];
    write(&*journal, guided(1, 2, next)).await;
    let whole = log(&*journal, run(1)).await;
    let limits = [(9, 9, 9, 9), (2, 1, 1, 1), (1, 0, 0, 0), (3, 2, 2, 0)];
    for number in 1..=7 {
        for (path, checkpoints, children, depth) in limits {
            let limits = LineageLimits { path, checkpoints, children, depth };
            let node = NodeId::new(number_id(number));
            let found = journal.lineage(run(1), node, limits).await.unwrap();
            assert_eq!(found, Lineage::of(&whole, node, limits), "{number} {limits:?}");
        }
    }
    let all = LineageLimits { path: 9, checkpoints: 9, children: 9, depth: 9 };
    let second = journal.lineage(run(1), NodeId::new(number_id(2)), all).await.unwrap();
    let seqs = |events: &[Stored]| events.iter().map(|stored| stored.seq).collect::<Vec<_>>();
    assert_eq!(seqs(&second.path), [3, 2]);
    assert_eq!(seqs(&second.checkpoints), [14, 4]);
    let grown: Vec<_> = second.children.iter().map(|it| (it.first.seq, it.newest.seq)).collect();
    assert_eq!(grown, [(7, 7), (6, 13)], "the newest branch first, each to its newest end");
    let nobody = journal.lineage(run(2), NodeId::new(number_id(2)), all).await.unwrap();
    assert!(nobody.path.is_empty() && nobody.children.is_empty());
}

/// Proves T14: the newest events are read without reading the earlier ones.
pub async fn newest_events_come_first(journal: Arc<dyn Journal>) {
    write(&*journal, opening(1)).await;
    write(&*journal, guided(1, 2, [advanced(1, 1, "a", 2), checkpointed(Some(2))])).await;
    let mut whole = log(&*journal, run(1)).await;
    whole.reverse();
    assert_eq!(journal.newest_events(run(1), 9).await.unwrap(), whole);
    assert_eq!(journal.newest_events(run(1), 3).await.unwrap(), whole[..3]);
    assert_eq!(journal.newest_events(run(9), 3).await.unwrap(), []);
}

/// Proves T3: a definition stays unchanged after it is pinned.
pub async fn a_pinned_definition_reads_back<S: StoreUnderTest>() {
    let (store, journal) = fresh::<S>().await;
    let long = "{\"text\": \"\u{fc}'\"}".repeat(20_000);
    let mut first = opening(1);
    first.pins = vec![pin("one", &long), pin("two", "2")];
    write(&*journal, first).await;
    let mut second = opening(2);
    second.pins = vec![pin("two", "another body"), pin("three", "")];
    write(&*journal, second).await;
    let mut refused = guided(2, 0, []);
    refused.pins = vec![pin("four", "4")];
    assert!(is_conflict(&append(&*journal, refused).await));
    drop(journal);

    let journal = store.open().await;
    let pinned = async |hash: &str| journal.pinned(hash.to_owned()).await.unwrap();
    assert_eq!(pinned("one").await, Some(long));
    assert_eq!(pinned("two").await.as_deref(), Some("2"));
    assert_eq!(pinned("three").await.as_deref(), Some(""));
    assert_eq!(pinned("four").await, None);
    assert_eq!(pinned("").await, None);
}

/// Proves T12: indexes are part of the append, for every opening of the store.
pub async fn a_second_opening_finds_the_nodes_of_the_first<S: StoreUnderTest>() {
    let (store, one) = fresh::<S>().await;
    let two = store.open().await;
    write(&*one, opening(1)).await;
    write(&*two, guided(1, 2, [advanced(1, 1, "a", 2)])).await;
    write(&*one, guided(1, 3, [advanced(1, 1, "b", 3)])).await;
    for journal in [&one, &two] {
        let first = place(&**journal, 1, 1).await.unwrap();
        assert_eq!((first.head, first.branches), (4, 2));
    }
}

/// Proves T4: a large node is found like any other.
pub async fn a_large_node_is_found(journal: Arc<dyn Journal>) {
    write(&*journal, opening(1)).await;
    let digest = "d".repeat(300_000);
    write(&*journal, guided(1, 2, [advanced(1, 1, &digest, 2)])).await;
    let key = AttemptKey {
        run: run(1),
        node: NodeId::new(number_id(1)),
        ack: AckId::new(number_id(1)),
        digest,
    };
    let attempt = found(&*journal, key).await;
    assert_eq!(attempt, Some(place(&*journal, 1, 2).await.unwrap().made));
}
