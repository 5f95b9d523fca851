//! Which sessions are removed, and which are never removed.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use trackway_domain::{Caller, Event, RunId, Timestamp};
use trackway_ports::{Append, Journal, PortFuture};
use trackway_testkit::{GuidedRunBuilder, InterceptedJournal, JournalInterceptor};

use super::session_store::{SessionStore, ticket_session};
use crate::PruneRequest;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn prune(now: Timestamp, dry_run: bool) -> PruneRequest {
    PruneRequest { now, older_than: 60 * DAY, dry_run }
}

async fn pruned_session_ids(store: &SessionStore, prune: PruneRequest) -> Vec<String> {
    let removed = prune.prune_sessions(&store.journal).await.unwrap();
    removed.into_iter().map(|session| session.session_id.to_string()).collect()
}

/// Proves T17.
#[tokio::test]
async fn only_finished_sessions_of_that_age_are_removed() {
    let place = SessionStore::with_finished_session().await;
    let ada = Caller::new("acme", "ada");
    let done = |number, session: &str| {
        GuidedRunBuilder::new_guided_run(number, session, "review")
            .open_node("a")
            .advance_node("a", "end")
            .complete_run()
    };
    let trails = [
        done(10, "of-another-caller").with_caller(&ada),
        GuidedRunBuilder::new_guided_run(11, "under-way", "review").open_node("a"),
        // Completed once, and continued in another branch.
        done(12, "forked").advance_node("a", "b"),
        // The branch that was made last is complete, an older one is not.
        GuidedRunBuilder::new_guided_run(17, "half-done", "review")
            .open_node("a")
            .advance_node("a", "b")
            .advance_node("a", "end")
            .complete_run(),
        GuidedRunBuilder::new_guided_run(13, "stopped", "review").open_node("a").with_event(Event::Canceled),
        done(14, "half"),
        GuidedRunBuilder::new_guided_run(15, "half", "review").open_node("a"),
    ];
    for trail in &trails {
        trail.append_to_journal(&*place.journal).await;
    }
    let mut young = done(16, "young");
    young.began = young.began + 30 * DAY;
    young.append_to_journal(&*place.journal).await;
    let now = trails[0].began + 61 * DAY;

    let expected = ["ticket-7", "of-another-caller", "stopped"];
    assert_eq!(pruned_session_ids(&place, prune(now, true)).await, expected, "a dry run");
    assert_eq!(pruned_session_ids(&place, prune(now, true)).await, expected, "which removed nothing");
    assert_eq!(pruned_session_ids(&place, prune(now, false)).await, expected);
    assert!(pruned_session_ids(&place, prune(now, false)).await.is_empty());
    assert!(place.sessions().load_session(&ticket_session()).await.is_err());
    let left = place.sessions().list_sessions(10).await.unwrap();
    let mut left: Vec<_> = left.iter().map(|session| session.session_id.as_str()).collect();
    left.sort_unstable();
    assert_eq!(left, ["forked", "half", "half-done", "under-way", "young"]);
}

/// Proves T17: a run whose start was never answered is removed after ninety days, however short the rule
/// is.
#[tokio::test]
async fn unanswered_start_is_pruned_after_90_days() {
    let place = SessionStore::empty().await;
    let lost = GuidedRunBuilder::new_guided_run(1, "lost", "review").open_node("a");
    lost.append_to_journal(&*place.journal).await;
    GuidedRunBuilder::new_guided_run(2, "noted", "review")
        .open_node("a")
        .block_attempt("a")
        .append_to_journal(&*place.journal)
        .await;
    let at = |days: u32| lost.began + days * DAY;
    let now = |days| PruneRequest { now: at(days), older_than: Duration::ZERO, dry_run: false };
    assert!(pruned_session_ids(&place, now(89)).await.is_empty());
    assert_eq!(pruned_session_ids(&place, now(91)).await, ["lost"]);
    assert!(pruned_session_ids(&place, now(1_000)).await.is_empty(), "somebody worked on the other");
}

/// Proves T17: the age is that of the newest record, and exact.
#[tokio::test]
async fn the_newest_record_counts() {
    let place = SessionStore::with_finished_session().await;
    let view = place.sessions().load_session(&ticket_session()).await.unwrap();
    // The note on the session was written last.
    let last = view.session_notes().last().unwrap().at;
    let almost = Timestamp((last + 60 * DAY).millis() - 1);
    assert!(pruned_session_ids(&place, prune(almost, false)).await.is_empty());
    assert_eq!(pruned_session_ids(&place, prune(last + 60 * DAY, false)).await, ["ticket-7"]);
}

/// Proves T17: a session that is imported again after its removal is complete.
#[tokio::test]
async fn a_removed_session_can_be_imported_again() {
    let place = SessionStore::with_finished_session().await;
    let bundle = place.bundle().await;
    let before = place.sessions().render_session_markdown(&ticket_session()).await.unwrap();
    let now = Timestamp(i64::MAX);
    assert_eq!(pruned_session_ids(&place, prune(now, false)).await, ["ticket-7"]);
    place.sessions().import_bundle(bundle.as_bytes(), None).await.unwrap();
    assert_eq!(place.sessions().render_session_markdown(&ticket_session()).await.unwrap(), before);
}

/// Another process that writes at one moment: before the n-th read or removal that is not of one run.
#[derive(Debug)]
struct Intruder {
    journal: Arc<dyn Journal>,
    left: AtomicUsize,
    writes: Mutex<Option<Append>>,
}

impl JournalInterceptor for Intruder {
    fn before_read(&self, run: Option<RunId>) -> PortFuture<'_, ()> {
        let is_now = run.is_none() && self.left.fetch_sub(1, Ordering::SeqCst) == 1;
        let append = self.writes.lock().unwrap().take_if(|_| is_now);
        Box::pin(async move {
            if let Some(append) = append {
                self.journal.append_all(vec![append]).await.unwrap();
            }
        })
    }
}

/// Proves T17: any record up to the removal itself, in a run of the session or in a new one, keeps the
/// session.
#[tokio::test]
async fn session_changed_before_removal_stays() {
    let finished = || {
        GuidedRunBuilder::new_guided_run(1, "s", "review")
            .open_node("a")
            .advance_node("a", "end")
            .complete_run()
    };
    let goes_on = finished().advance_node("a", "b").to_append();
    let mut going_on = Append::new(finished().run_id(), 5, goes_on.at);
    going_on.events = goes_on.events[5..].to_vec();
    let another =
        GuidedRunBuilder::new_guided_run(2, "s", "review").open_node("a").advance_node("a", "b").to_append();
    // Two pages of all rows, the rows of the session, and the removal.
    for moment in 1..=4 {
        for append in [&going_on, &another] {
            let place = SessionStore::empty().await;
            finished().append_to_journal(&*place.journal).await;
            let intruder = Intruder {
                journal: place.journal.clone(),
                left: AtomicUsize::new(moment),
                writes: Mutex::new(Some(append.clone())),
            };
            let intruder = Arc::new(intruder);
            let tapped: Arc<dyn Journal> =
                Arc::new(InterceptedJournal::new(place.journal.clone(), intruder.clone()));
            let removed = prune(Timestamp(i64::MAX), false).prune_sessions(&tapped).await.unwrap();
            assert!(intruder.writes.lock().unwrap().is_none(), "moment {moment} came");
            assert!(removed.is_empty(), "moment {moment}: {removed:?}");
            let id = trackway_domain::SessionId::new("s").unwrap();
            let view = place.sessions().load_session(&id).await.unwrap();
            assert!(!view.can_be_removed(Timestamp(i64::MAX)));
        }
    }
}
