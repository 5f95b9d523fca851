//! The memory journal beyond the port, and the interceptors that let it die and wait.

use std::{
    sync::mpsc::{Receiver, TryRecvError, channel},
    task::{Context, Waker},
};

use trackway_domain::Event;
use uuid::Uuid;

use super::*;
use crate::{InterceptedJournal, PausingInterceptor, ProcessLife, ProcessLifeInterceptor};

fn run() -> RunId {
    RunId::new(Uuid::from_u128(1))
}

/// Appends one event and returns a receiver for its outcome.
fn append(journal: &dyn Journal, expected: Seq) -> Receiver<AppendOutcome> {
    let (sender, receiver) = channel();
    let mut append = Append::new(run(), expected, Timestamp(0));
    append.events.push(Event::Started);
    journal.append(append, Box::new(move |outcome| sender.send(outcome).unwrap()));
    receiver
}

/// Proves X2: the next process has everything that was acknowledged before a death, and nothing
/// after.
#[tokio::test]
async fn a_dead_journal_commits_and_answers_nothing() {
    let (journal, life) = (MemoryJournal::new(), ProcessLife::new());
    let mortal = InterceptedJournal::new(
        Arc::new(journal.clone()),
        Arc::new(ProcessLifeInterceptor::new(life.clone())),
    );
    assert!(append(&mortal, 0).try_recv().unwrap().is_ok());
    life.end_process();
    let unanswered = append(&mortal, 1);
    assert!(matches!(unanswered.try_recv(), Err(TryRecvError::Empty)));
    let mut read = mortal.list_events(run(), 0, 10);
    let mut context = Context::from_waker(Waker::noop());
    assert!(read.as_mut().poll(&mut context).is_pending());

    let next = journal.reopen_as_next_process();
    assert_eq!(next.list_events(run(), 0, 10).await.unwrap().len(), 1);
    assert!(append(&next, 1).try_recv().unwrap().is_ok());
}

/// Proves L8: an append that is not committed yet has no answer and cannot be read.
#[tokio::test]
async fn held_appends_wait_for_the_release() {
    let (journal, gate) = (MemoryJournal::new(), Arc::new(PausingInterceptor::new()));
    let gated = InterceptedJournal::new(Arc::new(journal), gate.clone());
    gate.pause_appends(|_| true);
    let waiting = append(&gated, 0);
    assert!(matches!(waiting.try_recv(), Err(TryRecvError::Empty)));
    assert!(gated.list_events(run(), 0, 10).await.unwrap().is_empty());
    gate.resume_appends();
    assert!(waiting.try_recv().unwrap().is_ok());
    assert_eq!(gated.list_events(run(), 0, 10).await.unwrap().len(), 1);
}

#[tokio::test]
async fn damage_ends_the_list_before_it() {
    let journal = MemoryJournal::new();
    for expected in 0..3 {
        append(&journal, expected);
    }
    journal.damage_event(run(), 2);
    assert_eq!(journal.list_events(run(), 0, 10).await.unwrap().len(), 1);
    let error = journal.list_events(run(), 1, 10).await.unwrap_err();
    assert!(matches!(error, ReadError::Damaged { seq: 2, .. }));
}

#[tokio::test]
async fn blobs_come_back_by_their_name() {
    use trackway_ports::Blobs as _;
    let blobs = MemoryBlobs::new();
    let name = blobs.store_blob(b"abc".to_vec()).await.unwrap();
    assert_eq!(blobs.store_blob(b"abc".to_vec()).await.unwrap(), name);
    assert_eq!(blobs.load_blob(name).await.unwrap(), b"abc");
    let error = blobs.load_blob(trackway_ports::BlobHash([0; 32])).await;
    assert!(matches!(error, Err(ReadError::DamagedBlob { .. })));
}
