//! Guided runs: finding nodes and attempts, and the definitions that runs are pinned to.

use std::sync::Arc;

use trackway_domain::{AckId, Event, NodeId};
use trackway_ports::{AttemptKey, Journal, LineageLimits, NodeLineage, NodeWithAttempt, StoredEvent};

use super::{StoreUnderTest, fresh, guided_samples::*, sample_appends::*};

async fn branch_count(journal: &dyn Journal, number: u128) -> u32 {
    find_node(journal, 1, number).await.unwrap().branch_count
}

async fn find_attempt_both_ways(journal: &dyn Journal, key: AttemptKey) -> Option<StoredEvent> {
    let found = journal.find_attempt(key.clone()).await.unwrap();
    let place = journal.find_node(key.run, key.node).await.unwrap();
    let both = place.map(|place| NodeWithAttempt { node: place, attempt: found.clone() });
    assert_eq!(journal.find_node_and_attempt(key).await.unwrap(), both, "one look says what two say");
    found
}

/// Proves T4, T12: one read finds everything that an answer needs, whatever else the run has.
pub async fn a_node_is_found_with_its_run(journal: Arc<dyn Journal>) {
    append_accepted(&*journal, opening_append(1)).await;
    let whole = load_log(&*journal, run_id(1)).await;
    let first = find_node(&*journal, 1, 1).await.unwrap();
    assert_eq!(first.defining_event, whole[1]);
    assert_eq!((first.head, first.branch_count), (2, 0));
    assert_eq!(first.row, run_row(1));

    append_accepted(&*journal, guided_append(1, 2, [advanced_event(1, 1, "a", 2), numbered_event(7)])).await;
    let whole = load_log(&*journal, run_id(1)).await;
    let second = find_node(&*journal, 1, 2).await.unwrap();
    assert_eq!(second.defining_event, whole[2]);
    assert_eq!((second.head, second.branch_count), (4, 0));
    let first = find_node(&*journal, 1, 1).await.unwrap();
    assert_eq!(first.defining_event, whole[1]);
    assert_eq!((first.head, first.branch_count), (4, 1));
}

/// Issue 11, S-M5: a node tells whether its run waits to be adopted.
pub async fn a_node_of_an_imported_run_says_so(journal: Arc<dyn Journal>) {
    append_accepted(&*journal, opening_append(1)).await;
    let is_unadopted = async || find_node(&*journal, 1, 1).await.unwrap().is_unadopted;
    assert!(!is_unadopted().await);
    append_accepted(&*journal, guided_append(1, 2, [Event::Imported])).await;
    assert!(is_unadopted().await);
    append_accepted(&*journal, guided_append(1, 3, [Event::Adopted])).await;
    assert!(!is_unadopted().await);
}

/// Proves T5: nodes of another run are not found in this one.
pub async fn a_node_belongs_to_its_run(journal: Arc<dyn Journal>) {
    append_accepted(&*journal, opening_append(1)).await;
    append_accepted(&*journal, opening_append(2)).await;
    append_accepted(&*journal, guided_append(2, 2, [advanced_event(1, 1, "a", 2)])).await;
    assert_eq!(find_node(&*journal, 1, 2).await, None);
    assert_eq!(find_node(&*journal, 3, 1).await, None);
    assert_eq!(find_node(&*journal, 1, 1).await.unwrap().branch_count, 0);
    assert_eq!(find_node(&*journal, 2, 1).await.unwrap().branch_count, 1);
    assert_eq!(find_attempt_both_ways(&*journal, attempt_key(1, 1, 1, "a")).await, None);
    assert!(find_attempt_both_ways(&*journal, attempt_key(2, 1, 1, "a")).await.is_some());
}

/// Proves T6: each answer that advances is a branch; blocked answers and notes are not.
pub async fn branches_are_counted(journal: Arc<dyn Journal>) {
    append_accepted(&*journal, opening_append(1)).await;
    append_accepted(&*journal, guided_append(1, 2, [blocked_event(1, 1, "bad")])).await;
    append_accepted(&*journal, guided_append(1, 3, [checkpoint_event(Some(1))])).await;
    assert_eq!(branch_count(&*journal, 1).await, 0);
    append_accepted(&*journal, guided_append(1, 4, [advanced_event(1, 1, "a", 2)])).await;
    append_accepted(
        &*journal,
        guided_append(1, 5, [advanced_event(1, 1, "b", 3), advanced_event(3, 9, "c", 4)]),
    )
    .await;
    append_accepted(&*journal, guided_append(1, 7, [advanced_event(1, 2, "a", 5)])).await;
    assert_eq!(branch_count(&*journal, 1).await, 3);
    assert_eq!(branch_count(&*journal, 2).await, 0);
    assert_eq!(branch_count(&*journal, 3).await, 1);
    // A refused append does not count.
    assert!(is_conflict(
        &append_and_wait(&*journal, guided_append(1, 7, [advanced_event(1, 3, "a", 6)])).await
    ));
    assert_eq!(branch_count(&*journal, 1).await, 3);
    assert_eq!(find_node(&*journal, 1, 6).await, None);
}

/// Proves T4, T6: an attempt is found only by its complete key, advanced or not.
pub async fn an_attempt_is_found_by_its_key(journal: Arc<dyn Journal>) {
    append_accepted(&*journal, opening_append(1)).await;
    append_accepted(
        &*journal,
        guided_append(1, 2, [blocked_event(1, 1, "bad"), advanced_event(1, 1, "a", 2)]),
    )
    .await;
    let whole = load_log(&*journal, run_id(1)).await;
    let bad = find_attempt_both_ways(&*journal, attempt_key(1, 1, 1, "bad")).await;
    assert_eq!(bad.as_ref(), Some(&whole[2]));
    let good = find_attempt_both_ways(&*journal, attempt_key(1, 1, 1, "a")).await;
    assert_eq!(good.as_ref(), Some(&whole[3]));
    for other in [
        attempt_key(1, 1, 1, "b"),
        attempt_key(1, 1, 2, "a"),
        attempt_key(1, 2, 1, "a"),
        attempt_key(2, 1, 1, "a"),
    ] {
        assert_eq!(find_attempt_both_ways(&*journal, other).await, None);
    }
}

/// Proves T3: a node that switches to another definition keeps its id and its branches.
pub async fn a_repinned_node_keeps_its_branches(journal: Arc<dyn Journal>) {
    append_accepted(&*journal, opening_append(1)).await;
    append_accepted(&*journal, guided_append(1, 2, [advanced_event(1, 1, "a", 2)])).await;
    append_accepted(&*journal, guided_append(1, 3, [repinned_event(1, "other")])).await;
    let first = find_node(&*journal, 1, 1).await.unwrap();
    assert_eq!((first.defining_event.seq, first.head, first.branch_count), (4, 4, 1));
    assert_eq!(trackway_ports::node_in_event(&first.defining_event.event).unwrap().definition, "other");
    append_accepted(&*journal, guided_append(1, 4, [advanced_event(1, 1, "b", 3)])).await;
    assert_eq!(branch_count(&*journal, 1).await, 2);
    assert_eq!(find_node(&*journal, 1, 1).await.unwrap().defining_event.seq, 4);
}

/// Proves T12, T14: the path to a node, its checkpoints and its branches are derived from the log,
/// within the limits, also if a node changed its definition.
pub async fn a_lineage_is_what_the_log_says(journal: Arc<dyn Journal>) {
    append_accepted(&*journal, opening_append(1)).await;
    let next = [
        advanced_event(1, 1, "a", 2),
        checkpoint_event(Some(2)),
        blocked_event(2, 2, "bad"),
        advanced_event(2, 3, "b", 3),
        advanced_event(2, 4, "c", 4),
        advanced_event(3, 5, "d", 5),
        checkpoint_event(Some(5)),
        checkpoint_event(None),
        repinned_event(2, "other"),
        advanced_event(5, 6, "e", 6),
        advanced_event(3, 7, "f", 7),
        checkpoint_event(Some(2)),
    ];
    append_accepted(&*journal, guided_append(1, 2, next)).await;
    let whole = load_log(&*journal, run_id(1)).await;
    let limits = [(9, 9, 9, 9), (2, 1, 1, 1), (1, 0, 0, 0), (3, 2, 2, 0)];
    for number in 1..=7 {
        for (path, checkpoints, children, depth) in limits {
            let limits = LineageLimits { path, checkpoints, children, depth };
            let node = NodeId::new(numbered_uuid(number));
            let found = journal.load_node_lineage(run_id(1), node, limits).await.unwrap();
            assert_eq!(found, NodeLineage::lineage_from_events(&whole, node, limits), "{number} {limits:?}");
        }
    }
    let all = LineageLimits { path: 9, checkpoints: 9, children: 9, depth: 9 };
    let second = journal.load_node_lineage(run_id(1), NodeId::new(numbered_uuid(2)), all).await.unwrap();
    let seqs = |events: &[StoredEvent]| events.iter().map(|stored| stored.seq).collect::<Vec<_>>();
    assert_eq!(seqs(&second.path), [3, 2]);
    assert_eq!(seqs(&second.checkpoints), [14, 4]);
    let grown: Vec<_> = second.children.iter().map(|it| (it.first_event.seq, it.newest_event.seq)).collect();
    assert_eq!(grown, [(7, 7), (6, 13)], "the newest branch first, each to its newest end");
    let nobody = journal.load_node_lineage(run_id(2), NodeId::new(numbered_uuid(2)), all).await.unwrap();
    assert!(nobody.path.is_empty() && nobody.children.is_empty());
}

/// Proves T14: the newest events are read without reading the earlier ones.
pub async fn newest_events_come_first(journal: Arc<dyn Journal>) {
    append_accepted(&*journal, opening_append(1)).await;
    append_accepted(
        &*journal,
        guided_append(1, 2, [advanced_event(1, 1, "a", 2), checkpoint_event(Some(2))]),
    )
    .await;
    let mut whole = load_log(&*journal, run_id(1)).await;
    whole.reverse();
    assert_eq!(journal.list_newest_events(run_id(1), 9).await.unwrap(), whole);
    assert_eq!(journal.list_newest_events(run_id(1), 3).await.unwrap(), whole[..3]);
    assert_eq!(journal.list_newest_events(run_id(9), 3).await.unwrap(), []);
}

/// Proves T3: a definition stays unchanged after it is pinned.
pub async fn a_pinned_definition_reads_back<S: StoreUnderTest>() {
    let (store, journal) = fresh::<S>().await;
    let long = "{\"text\": \"\u{fc}'\"}".repeat(20_000);
    let mut first = opening_append(1);
    first.pins = vec![pinned_definition("one", &long), pinned_definition("two", "2")];
    append_accepted(&*journal, first).await;
    let mut second = opening_append(2);
    second.pins = vec![pinned_definition("two", "another body"), pinned_definition("three", "")];
    append_accepted(&*journal, second).await;
    let mut refused = guided_append(2, 0, []);
    refused.pins = vec![pinned_definition("four", "4")];
    assert!(is_conflict(&append_and_wait(&*journal, refused).await));
    drop(journal);

    let journal = store.open_journal().await;
    let pinned = async |hash: &str| journal.find_pinned_definition(hash.to_owned()).await.unwrap();
    assert_eq!(pinned("one").await, Some(long));
    assert_eq!(pinned("two").await.as_deref(), Some("2"));
    assert_eq!(pinned("three").await.as_deref(), Some(""));
    assert_eq!(pinned("four").await, None);
    assert_eq!(pinned("").await, None);
}

/// Proves T12: indexes are part of the append, for every opening of the store.
pub async fn a_second_opening_finds_the_nodes_of_the_first<S: StoreUnderTest>() {
    let (store, one) = fresh::<S>().await;
    let two = store.open_journal().await;
    append_accepted(&*one, opening_append(1)).await;
    append_accepted(&*two, guided_append(1, 2, [advanced_event(1, 1, "a", 2)])).await;
    append_accepted(&*one, guided_append(1, 3, [advanced_event(1, 1, "b", 3)])).await;
    for journal in [&one, &two] {
        let first = find_node(&**journal, 1, 1).await.unwrap();
        assert_eq!((first.head, first.branch_count), (4, 2));
    }
}

/// Proves T4: a large node is found like any other.
pub async fn a_large_node_is_found(journal: Arc<dyn Journal>) {
    append_accepted(&*journal, opening_append(1)).await;
    let digest = "d".repeat(300_000);
    append_accepted(&*journal, guided_append(1, 2, [advanced_event(1, 1, &digest, 2)])).await;
    let key = AttemptKey {
        run: run_id(1),
        node: NodeId::new(numbered_uuid(1)),
        ack: AckId::new(numbered_uuid(1)),
        digest,
    };
    let attempt = find_attempt_both_ways(&*journal, key).await;
    assert_eq!(attempt, Some(find_node(&*journal, 1, 2).await.unwrap().defining_event));
}
