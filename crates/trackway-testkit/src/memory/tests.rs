//! What the memory journal has beyond the port: dying, withholding, damage.

use std::{
    sync::mpsc::{Receiver, TryRecvError, channel},
    task::{Context, Waker},
};

use trackway_domain::Event;
use uuid::Uuid;

use super::*;

fn run() -> RunId {
    RunId::new(Uuid::from_u128(1))
}

/// Appends one event and returns where its outcome will arrive.
fn append(journal: &MemoryJournal, expected: Seq) -> Receiver<Outcome> {
    let (sender, receiver) = channel();
    let mut append = Append::new(run(), expected, Timestamp(0));
    append.events.push(Event::Started);
    journal.append(append, Box::new(move |outcome| sender.send(outcome).unwrap()));
    receiver
}

/// Proves X2: what was acknowledged before the death is there for the next process, nothing after is.
#[tokio::test]
async fn a_killed_journal_commits_and_answers_nothing() {
    let journal = MemoryJournal::new();
    assert!(append(&journal, 0).try_recv().unwrap().is_ok());
    journal.kill();
    let unanswered = append(&journal, 1);
    assert!(matches!(unanswered.try_recv(), Err(TryRecvError::Empty)));
    let mut read = journal.events(run(), 0, 10);
    let mut context = Context::from_waker(Waker::noop());
    assert!(read.as_mut().poll(&mut context).is_pending());

    let next = journal.reopen();
    assert_eq!(next.events(run(), 0, 10).await.unwrap().len(), 1);
    assert!(append(&next, 1).try_recv().unwrap().is_ok());
}

/// Proves L8: an append that is not committed yet has not been answered and cannot be read.
#[tokio::test]
async fn held_appends_wait_for_the_release() {
    let journal = MemoryJournal::new();
    journal.hold();
    let waiting = append(&journal, 0);
    assert!(matches!(waiting.try_recv(), Err(TryRecvError::Empty)));
    assert!(journal.events(run(), 0, 10).await.unwrap().is_empty());
    journal.release();
    assert!(waiting.try_recv().unwrap().is_ok());
    assert_eq!(journal.events(run(), 0, 10).await.unwrap().len(), 1);
}

/// Proves X2: an append that was withheld at the death never happened.
#[tokio::test]
async fn a_death_takes_what_was_held() {
    let journal = MemoryJournal::new();
    journal.hold();
    let waiting = append(&journal, 0);
    journal.kill();
    journal.release();
    assert!(matches!(waiting.try_recv(), Err(TryRecvError::Empty)));
    assert!(journal.reopen().events(run(), 0, 10).await.unwrap().is_empty());
}

#[tokio::test]
async fn damage_ends_the_list_before_it() {
    let journal = MemoryJournal::new();
    for expected in 0..3 {
        append(&journal, expected);
    }
    journal.damage(run(), 2);
    assert_eq!(journal.events(run(), 0, 10).await.unwrap().len(), 1);
    let error = journal.events(run(), 1, 10).await.unwrap_err();
    assert!(matches!(error, ReadError::Damaged { seq: 2, .. }));
}

#[tokio::test]
async fn blobs_come_back_by_their_name() {
    use trackway_ports::Blobs as _;
    let blobs = MemoryBlobs::new();
    let name = blobs.put(b"abc".to_vec()).await.unwrap();
    assert_eq!(blobs.put(b"abc".to_vec()).await.unwrap(), name);
    assert_eq!(blobs.get(name).await.unwrap(), b"abc");
    let error = blobs.get(trackway_ports::BlobHash([0; 32])).await;
    assert!(matches!(error, Err(ReadError::DamagedBlob { .. })));
}
