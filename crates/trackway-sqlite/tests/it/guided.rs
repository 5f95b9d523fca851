//! Damage in guided runs and in their index: if the index finds nothing the log is read, and no damage
//! affects another run. `flips` covers every byte of the keys.

use std::path::Path;

use trackway_domain::NodeId;
use trackway_ports::{Journal, LineageLimits, NodeLineage, ReadError, StoredEvent, StoredNode};
use trackway_sqlite::SqliteJournal;
use trackway_testkit::{journal_suite::guided_samples::*, load_full_log};

use crate::helpers::*;

/// The digest of every attempt in that run.
fn digest(number: u128) -> String {
    format!("the-digest-of-an-attempt-in-{number:03}")
}

/// Opens node 1, and advances from it to 2 and 3, and from 2 to 4.
async fn grow(journal: &dyn Journal, number: u128) {
    let digest = &digest(number);
    append(journal, opening_append(number)).await.unwrap();
    append(journal, guided_append(number, 2, [advanced_event(1, 1, digest, 2)])).await.unwrap();
    append(journal, guided_append(number, 3, [advanced_event(1, 2, digest, 3)])).await.unwrap();
    append(journal, guided_append(number, 4, [advanced_event(2, 3, digest, 4)])).await.unwrap();
}

type Look = (Vec<Result<Option<StoredNode>, ReadError>>, Vec<Result<Option<StoredEvent>, ReadError>>);

async fn look(journal: &dyn Journal, number: u128) -> Look {
    let mut places = Vec::new();
    for node in 1..=4 {
        places.push(journal.find_node(run_id(number), NodeId::new(numbered_uuid(node))).await);
    }
    let mut attempts = Vec::new();
    for (node, ack) in [(1, 1), (1, 2), (2, 3)] {
        attempts.push(journal.find_attempt(attempt_key(number, node, ack, &digest(number))).await);
    }
    (places, attempts)
}

/// Two runs in a closed store, and the expected reads.
async fn two_runs(folder: &Path) -> [Look; 2] {
    let journal = SqliteJournal::open(folder).unwrap();
    grow(&journal, 1).await;
    grow(&journal, 2).await;
    let right = [look(&journal, 1).await, look(&journal, 2).await];
    journal.close_store().await;
    right
}

#[track_caller]
fn same(left: &Look, right: &Look) {
    assert_eq!(format!("{left:?}"), format!("{right:?}"));
}

/// Proves T12: missing or wrong rows of the index hide nothing; later events do not make a damaged row look
/// valid.
#[tokio::test]
async fn a_damaged_index_hides_nothing() {
    let here = format!("WHERE run = '{}'", run_id(1));
    for damage in [
        "DELETE FROM nodes WHERE_HERE; DELETE FROM attempts WHERE_HERE",
        "UPDATE nodes SET seq = 3 WHERE_HERE; UPDATE attempts SET seq = 5 WHERE_HERE",
        "UPDATE nodes SET seq = seq + 1 WHERE_HERE; UPDATE attempts SET seq = seq + 1 WHERE_HERE",
        "UPDATE nodes SET seq = -1 WHERE_HERE; UPDATE attempts SET seq = 0 WHERE_HERE",
        "UPDATE nodes SET branches = -1 WHERE_HERE; UPDATE attempts SET digest = 'x' WHERE_HERE",
        "UPDATE nodes SET seq = 0 WHERE_HERE; UPDATE attempts SET seq = 99 WHERE_HERE",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let right = two_runs(folder.path()).await;
        execute(folder.path(), &damage.replace("WHERE_HERE", &here));
        let journal = SqliteJournal::open(folder.path()).unwrap();
        same(&look(&journal, 1).await, &right[0]);
        same(&look(&journal, 2).await, &right[1]);
        append(&journal, guided_append(1, 5, [repinned_event(1, "other")])).await.unwrap();
        append(&journal, guided_append(1, 6, [advanced_event(1, 4, "later", 5)])).await.unwrap();
        let first = find_node(&journal, 1, 1).await.unwrap();
        assert_eq!((first.defining_event.seq, first.head, first.branch_count), (6, 7, 3), "{damage}");
        let limits = LineageLimits { path: 9, checkpoints: 9, children: 9, depth: 9 };
        let lineage =
            journal.load_node_lineage(run_id(1), NodeId::new(numbered_uuid(4)), limits).await.unwrap();
        let log = load_full_log(&journal, run_id(1)).await.unwrap();
        assert_eq!(
            lineage,
            NodeLineage::lineage_from_events(&log, NodeId::new(numbered_uuid(4)), limits),
            "{damage}"
        );
    }
}

/// Proves T4, T12: an attempt whose own row is lost is still recognised: the row of its node counts it, and
/// the log has it.
#[tokio::test]
async fn an_attempt_without_its_row_is_no_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let right = two_runs(folder.path()).await;
    let lost = format!("DELETE FROM attempts WHERE run = '{}' AND seq IN (3, 5)", run_id(1));
    execute(folder.path(), &lost);
    let journal = SqliteJournal::open(folder.path()).unwrap();
    same(&look(&journal, 1).await, &right[0]);
    same(&look(&journal, 2).await, &right[1]);
    let never = attempt_key(1, 1, 3, "never made");
    assert_eq!(journal.find_attempt(never).await.unwrap(), None);
    // Other attempts at the same node do not change that.
    append(&journal, guided_append(1, 5, [advanced_event(1, 4, "later", 5)])).await.unwrap();
    let found = look(&journal, 1).await;
    assert_eq!(format!("{:?}", found.1), format!("{:?}", right[0].1));
    assert_eq!(found.0[0].as_ref().unwrap().as_ref().unwrap().branch_count, 3);
}

/// Proves T12: damage in a body is reported for its own run; nodes before and after it are found.
#[tokio::test]
async fn a_damaged_event_hides_no_other_node() {
    let folder = tempfile::tempdir().unwrap();
    let right = two_runs(folder.path()).await;
    execute(
        folder.path(),
        &format!("UPDATE events SET body = body || ' ' WHERE run = '{}' AND seq = 3", run_id(1)),
    );
    let journal = SqliteJournal::open(folder.path()).unwrap();
    let (places, attempts) = look(&journal, 1).await;
    let found: Vec<bool> = places.iter().map(|place| matches!(place, Ok(Some(_)))).collect();
    assert_eq!(found, [true, false, true, true]);
    assert!(matches!(places[1], Err(ReadError::Damaged { seq: 3, .. })), "{places:?}");
    assert!(matches!(attempts[2], Ok(Some(_))));
    same(&look(&journal, 2).await, &right[1]);
    // Without the index, nodes after the damage are found too; a node that may be in the damaged part is
    // uncertain.
    execute(folder.path(), &format!("DELETE FROM nodes WHERE run = '{}'", run_id(1)));
    assert!(find_node(&journal, 1, 4).await.is_some());
    for lost in [2, 9] {
        let error = journal.find_node(run_id(1), NodeId::new(numbered_uuid(lost))).await.unwrap_err();
        assert!(matches!(error, ReadError::Damaged { seq: 3, .. }), "{error}");
    }
}

/// Proves T3: a damaged definition is reported, and the next run that pins it repairs it.
#[tokio::test]
async fn a_damaged_definition_is_reported_and_mended() {
    let (folder, journal) = fresh_store();
    let mut first = opening_append(1);
    first.pins = vec![pinned_definition("hash", "the body"), pinned_definition("other", "2")];
    append(&journal, first).await.unwrap();
    execute(folder.path(), "UPDATE definitions SET body = 'the b0dy' WHERE hash = 'hash'");
    let error = journal.find_pinned_definition("hash".to_owned()).await.unwrap_err();
    assert!(matches!(error, ReadError::DamagedBlob { .. }), "{error}");
    assert_eq!(journal.find_pinned_definition("other".to_owned()).await.unwrap().as_deref(), Some("2"));
    let mut second = opening_append(2);
    second.pins = vec![pinned_definition("hash", "the body")];
    append(&journal, second).await.unwrap();
    assert_eq!(journal.find_pinned_definition("hash".to_owned()).await.unwrap().as_deref(), Some("the body"));
}
