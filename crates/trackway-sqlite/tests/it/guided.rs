//! Damage in guided runs and in their index: the index leads to the right event or to none, is made anew
//! from the events, and never touches another run.

use std::{fs, path::Path};

use trackway_domain::NodeId;
use trackway_ports::{Journal, NodePlace, ReadError, Stored};
use trackway_sqlite::SqliteJournal;
use trackway_testkit::journal_suite::trees::*;

use crate::helpers::*;

/// The digest of every attempt in that run.
fn digest(number: u128) -> String {
    format!("the-digest-of-an-attempt-in-{number:03}")
}

/// Opens node 1, and goes on from it to 2 and 3, and from 2 to 4.
async fn grow(journal: &dyn Journal, number: u128) {
    let digest = &digest(number);
    append(journal, opening(number)).await.unwrap();
    append(journal, guided(number, 2, [advanced(1, 1, digest, 2)])).await.unwrap();
    append(journal, guided(number, 3, [advanced(1, 2, digest, 3)])).await.unwrap();
    append(journal, guided(number, 4, [advanced(2, 3, digest, 4)])).await.unwrap();
}

type Look = (Vec<Result<Option<NodePlace>, ReadError>>, Vec<Result<Option<Stored>, ReadError>>);

async fn look(journal: &dyn Journal, number: u128) -> Look {
    let mut places = Vec::new();
    for node in 1..=4 {
        places.push(journal.node(run(number), NodeId::new(number_id(node))).await);
    }
    let mut attempts = Vec::new();
    for (node, ack) in [(1, 1), (1, 2), (2, 3)] {
        attempts.push(journal.attempt(attempt_key(number, node, ack, &digest(number))).await);
    }
    (places, attempts)
}

/// A node is the right one or not found, so that the log is read; an attempt is the right one. Or this
/// run is said to be damaged.
#[track_caller]
fn check(number: u128, found: Look, right: &Look) {
    for (found, right) in found.0.into_iter().zip(&right.0) {
        match found {
            Ok(None) => {}
            Ok(Some(found)) => {
                let right = right.as_ref().unwrap().as_ref().unwrap();
                assert_eq!((found.made, found.branches), (right.made.clone(), right.branches));
            }
            Err(ReadError::Damaged { run: of, .. }) => assert_eq!(of, run(number)),
            Err(other) => panic!("{other}"),
        }
    }
    for (found, right) in found.1.into_iter().zip(&right.1) {
        match found {
            Ok(found) => assert_eq!(&found, right.as_ref().unwrap()),
            Err(ReadError::Damaged { run: of, .. }) => assert_eq!(of, run(number)),
            Err(other) => panic!("{other}"),
        }
    }
}

/// Two grown runs in a closed store, and what is right.
async fn two_runs(folder: &Path) -> [Look; 2] {
    let journal = SqliteJournal::open(folder).unwrap();
    grow(&journal, 1).await;
    grow(&journal, 2).await;
    let right = [look(&journal, 1).await, look(&journal, 2).await];
    journal.close().await;
    right
}

#[track_caller]
fn same(left: &Look, right: &Look) {
    assert_eq!(format!("{left:?}"), format!("{right:?}"));
}

/// Proves T12: rows of the index that are gone, or lead elsewhere, are made anew from the events.
#[tokio::test]
async fn an_index_comes_back_from_the_events() {
    let here = format!("WHERE run = '{}'", run(1));
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
        let found = look(&journal, 1).await;
        assert!(found.0.iter().any(|place| place.as_ref().unwrap().is_none()), "{damage}");
        check(1, found, &right[0]);
        same(&look(&journal, 2).await, &right[1]);
        journal.reindex(run(1)).await.unwrap();
        same(&look(&journal, 1).await, &right[0]);
        same(&look(&journal, 2).await, &right[1]);
    }
}

/// Proves T4, T12: an attempt whose row alone is lost is still recognised, for as long as it is lost: the
/// row of its node knows that there was one, and the log has it.
#[tokio::test]
async fn an_attempt_without_its_row_is_no_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let right = two_runs(folder.path()).await;
    let lost = format!("DELETE FROM attempts WHERE run = '{}' AND seq IN (3, 5)", run(1));
    execute(folder.path(), &lost);
    let journal = SqliteJournal::open(folder.path()).unwrap();
    same(&look(&journal, 1).await, &right[0]);
    same(&look(&journal, 2).await, &right[1]);
    let never = attempt_key(1, 1, 3, "never made");
    assert_eq!(journal.attempt(never).await.unwrap(), None);
    // Other attempts at the same node change nothing about it.
    append(&journal, guided(1, 5, [advanced(1, 4, "later", 5)])).await.unwrap();
    let found = look(&journal, 1).await;
    assert_eq!(format!("{:?}", found.1), format!("{:?}", right[0].1));
    assert_eq!(found.0[0].as_ref().unwrap().as_ref().unwrap().branches, 3);
    journal.reindex(run(1)).await.unwrap();
    let found = look(&journal, 1).await;
    assert_eq!(format!("{:?}", found.1), format!("{:?}", right[0].1));
}

/// Proves T12: damage in a body is said of its own run; what lies before and behind is found.
#[tokio::test]
async fn a_damaged_event_hides_no_other_node() {
    let folder = tempfile::tempdir().unwrap();
    let right = two_runs(folder.path()).await;
    execute(
        folder.path(),
        &format!("UPDATE events SET body = body || ' ' WHERE run = '{}' AND seq = 3", run(1)),
    );
    let journal = SqliteJournal::open(folder.path()).unwrap();
    for _ in 0..2 {
        let (places, attempts) = look(&journal, 1).await;
        let damaged = |error: &ReadError| matches!(error, ReadError::Damaged { seq: 3, .. });
        let found: Vec<bool> = places.iter().map(|place| matches!(place, Ok(Some(_)))).collect();
        assert_eq!(found, [true, false, true, true]);
        if let Err(error) = &places[1] {
            assert!(damaged(error), "{error}");
        }
        assert!(matches!(attempts[2], Ok(Some(_))));
        same(&look(&journal, 2).await, &right[1]);
        // A new index passes over the damage: node 2 is not in it, and those behind it are.
        journal.reindex(run(1)).await.unwrap();
    }
    assert!(matches!(journal.node(run(1), NodeId::new(number_id(2))).await, Ok(None)));
}

/// Places in the file at which this text lies.
fn occurrences(bytes: &[u8], text: &str) -> Vec<usize> {
    let found = bytes.windows(text.len()).enumerate();
    found.filter(|(_, window)| *window == text.as_bytes()).map(|(at, _)| at).collect()
}

/// Every byte that is worth flipping: those of the run's keys in all tables and indexes, of its digests,
/// and of the values that lie around them.
fn places_to_flip(bytes: &[u8], number: u128) -> Vec<usize> {
    let (key, digest) = (run(number).to_string(), digest(number));
    let mut places: Vec<usize> = occurrences(bytes, &key)
        .into_iter()
        .flat_map(|at| [at - 3, at - 2, at - 1, at, at + 20, at + key.len(), at + key.len() + 40])
        .collect();
    for at in occurrences(bytes, &digest) {
        places.extend([at + 5, at + digest.len(), at + digest.len() + 1]);
    }
    places.retain(|place| *place < bytes.len());
    places
}

/// Proves T12: whatever byte of a run's data is flipped, nothing panics, no answer is another node's, and
/// what another run has is as it was.
#[tokio::test]
async fn a_flipped_byte_stays_in_its_run() {
    let folder = tempfile::tempdir().unwrap();
    let right = {
        let journal = SqliteJournal::open(folder.path()).unwrap();
        grow(&journal, 1).await;
        // What the other run has lies on other pages.
        for number in 100..160 {
            grow(&journal, number).await;
        }
        grow(&journal, 2).await;
        let right = [look(&journal, 1).await, look(&journal, 2).await];
        journal.close().await;
        right
    };
    let path = folder.path().join("trackway.db");
    let whole = fs::read(&path).unwrap();
    let places = places_to_flip(&whole, 1);
    assert!(places.len() > 60, "only {}", places.len());
    let mut mended = 0;
    for place in places {
        for bit in [0x01, 0x80] {
            let mut bytes = whole.clone();
            bytes[place] ^= bit;
            for beside in ["trackway.db-wal", "trackway.db-shm"] {
                // What an earlier round left belongs to another file.
                let _ = fs::remove_file(folder.path().join(beside));
            }
            fs::write(&path, bytes).unwrap();
            let journal = SqliteJournal::open_read_only(folder.path()).unwrap();
            check(1, look(&journal, 1).await, &right[0]);
            // A damaged key may lead the search for others astray; it is mended for who asks.
            let other = look(&journal, 2).await;
            drop(journal);
            let is_right = format!("{other:?}") == format!("{:?}", right[1]);
            check(2, other, &right[1]);
            if !is_right {
                let journal = SqliteJournal::open(folder.path()).unwrap();
                // Refused where not a key but a page itself is broken; the store goes on.
                let is_made = journal.reindex(run(2)).await.is_ok();
                // The table of runs is its own key, and not mended by this.
                if is_made && journal.run(run(2)).await.unwrap().is_some() {
                    same(&look(&journal, 2).await, &right[1]);
                    mended += 1;
                }
                append(&journal, opening(3)).await.unwrap();
                journal.close().await;
            }
        }
    }
    assert!(mended > 0, "no key was led astray");
}

/// Proves T3: a damaged definition is said to be so, and mended by the next run that brings it.
#[tokio::test]
async fn a_damaged_definition_is_reported_and_mended() {
    let folder = tempfile::tempdir().unwrap();
    let journal = SqliteJournal::open(folder.path()).unwrap();
    let mut first = opening(1);
    first.pins = vec![pin("hash", "the body"), pin("other", "2")];
    append(&journal, first).await.unwrap();
    execute(folder.path(), "UPDATE definitions SET body = 'the b0dy' WHERE hash = 'hash'");
    let error = journal.pinned("hash".to_owned()).await.unwrap_err();
    assert!(matches!(error, ReadError::DamagedBlob { .. }), "{error}");
    assert_eq!(journal.pinned("other".to_owned()).await.unwrap().as_deref(), Some("2"));
    let mut second = opening(2);
    second.pins = vec![pin("hash", "the body")];
    append(&journal, second).await.unwrap();
    assert_eq!(journal.pinned("hash".to_owned()).await.unwrap().as_deref(), Some("the body"));
}
