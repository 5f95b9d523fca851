//! Sessions, the events' own times, and the removal of runs.

use std::sync::Arc;

use trackway_domain::{Access, Caller, ChildOutcome, StateName, Timestamp};
use trackway_ports::{
    AppendError, HookChange, HookTarget, Journal, OutboxChange, OutboxItem, Removal, RunFilter,
    SessionRow, TimerChange,
};

use super::{StoreUnderTest, fresh, samples::*, trees::*};

async fn sessions(journal: &dyn Journal, user: &str, limit: usize) -> Vec<SessionRow> {
    journal.sessions(owner(user), limit).await.unwrap()
}

fn owner(user: &str) -> Access {
    Access::own(Caller::new("tenant", user))
}

fn ids(rows: &[SessionRow]) -> Vec<&str> {
    rows.iter().map(|row| row.id.as_str()).collect()
}

/// A run of that session whose one event was recorded at that time.
async fn begin(journal: &dyn Journal, number: u128, name: &str, user: &str, moment: i64) {
    let mut append = appending(run(number), 0, [1]);
    let mut row = row(number);
    row.session = session(name);
    row.caller = Caller::new("tenant", user);
    row.created_at = at(moment);
    append.at = at(moment);
    append.row = Some(row);
    write(journal, append).await;
}

/// Proves T11: a caller sees its own sessions, the one with the newest record first.
pub async fn sessions_are_listed_by_their_newest_record(journal: Arc<dyn Journal>) {
    begin(&*journal, 1, "a", "user", 10).await;
    begin(&*journal, 2, "b", "user", 20).await;
    begin(&*journal, 3, "c", "user", 30).await;
    begin(&*journal, 4, "a", "user", 15).await;
    begin(&*journal, 5, "d", "other", 40).await;
    begin(&*journal, 6, "c", "other", 50).await;
    assert_eq!(ids(&sessions(&*journal, "user", ALL).await), ["c", "b", "a"]);
    assert_eq!(ids(&sessions(&*journal, "other", ALL).await), ["c", "d"]);
    assert!(sessions(&*journal, "nobody", ALL).await.is_empty());
    let elsewhere =
        journal.sessions(Access::own(Caller::new("elsewhere", "user")), ALL).await.unwrap();
    assert!(elsewhere.is_empty());

    // An event without a change of the run's row also updates the session.
    let mut later = appending(run(1), 1, [2]);
    later.at = at(60);
    write(&*journal, later).await;
    let listed = sessions(&*journal, "user", 2).await;
    assert_eq!(ids(&listed), ["a", "c"]);
    let expected = SessionRow {
        id: session("a"),
        workflows: vec![row(1).workflow, row(4).workflow],
        created_at: at(10),
        updated_at: at(60),
    };
    assert_eq!(listed[0], expected);
    assert!(sessions(&*journal, "user", 0).await.is_empty());

    let of = |name: &str, user: &str| journal.session_runs(owner(user), session(name));
    let runs: Vec<_> = of("a", "user").await.unwrap().iter().map(|row| row.id).collect();
    assert_eq!(runs, [run(4), run(1)]);
    assert_eq!(of("c", "other").await.unwrap().len(), 1);
    assert!(of("a", "other").await.unwrap().is_empty());
}

/// Proves T16: imported events keep their times, and are listed by them.
pub async fn events_may_bring_their_own_times(journal: Arc<dyn Journal>) {
    begin(&*journal, 1, "here", "user", 4_000).await;
    let mut brought = appending(run(2), 0, [1, 2, 3]);
    brought.stamps = vec![at(100), at(-7), at(300)];
    brought.row = Some(row(2));
    write(&*journal, brought).await;
    let times: Vec<Timestamp> =
        log(&*journal, run(2)).await.iter().map(|stored| stored.at).collect();
    assert_eq!(times, [at(100), at(-7), at(300)]);
    let listed = sessions(&*journal, "user", ALL).await;
    assert_eq!(ids(&listed), ["here", "session"]);
    assert_eq!(listed[1].updated_at, at(300));
}

/// Proves T17: nothing of a removed run is left, and the others are complete.
pub async fn a_removed_run_is_gone_with_all_it_had(journal: Arc<dyn Journal>) {
    for number in 1..=3 {
        fill(&*journal, number).await;
    }
    let kept = (log(&*journal, run(2)).await, place(&*journal, 2, 1).await);
    journal.remove(Removal::of([(run(1), 3), (run(3), 3), (run(9), 7)])).await.unwrap();

    for number in [1, 3] {
        assert!(log(&*journal, run(number)).await.is_empty());
        assert_eq!(journal.run(run(number)).await.unwrap(), None);
        assert_eq!(place(&*journal, number, 1).await, None);
        let key = attempt_key(number, 1, 1, "a");
        assert_eq!(journal.attempt(key).await.unwrap(), None);
        assert!(journal.hooks(run(number)).await.unwrap().is_empty());
        let own = claim(&Caller::new("tenant", "user"), &format!("m{number}"), run(number));
        assert_eq!(journal.claim(own.key).await.unwrap(), None);
        let hash = format!("of {number}");
        assert_eq!(journal.pinned(hash).await.unwrap(), None);
    }
    assert_eq!(log(&*journal, run(2)).await, kept.0);
    assert_eq!(place(&*journal, 2, 1).await, kept.1);
    assert!(kept.1.is_some());
    let listed = journal.runs(RunFilter::default(), None, ALL).await.unwrap();
    assert_eq!(listed.iter().map(|row| row.id).collect::<Vec<_>>(), [run(2)]);
    let due: Vec<_> = journal.claim_timers(claim_at(99, ALL)).await.unwrap();
    assert_eq!(due.iter().map(|due| due.run).collect::<Vec<_>>(), [run(2)]);
    assert_eq!(journal.hooks(run(2)).await.unwrap().len(), 1);
    let own = claim(&Caller::new("tenant", "user"), "m2", run(2));
    assert_eq!(journal.claim(own.key.clone()).await.unwrap(), Some(own));
    assert_eq!(journal.pinned("of 2".to_owned()).await.unwrap().as_deref(), Some("2"));
    assert_eq!(journal.pinned("hash".to_owned()).await.unwrap().as_deref(), Some("all"));
    assert_eq!(journal.outbox(None, ALL).await.unwrap().len(), 1);
    assert_eq!(sessions(&*journal, "user", ALL).await[0].workflows.len(), 1);

    journal.remove(Removal::of([(run(2), 3)])).await.unwrap();
    assert_eq!(journal.pinned("hash".to_owned()).await.unwrap(), None);
    assert!(sessions(&*journal, "user", ALL).await.is_empty());
    journal.remove(Removal::default()).await.unwrap();
}

/// A guided run with one of everything, pinned to its own definition and to a shared one.
async fn fill(journal: &dyn Journal, number: u128) {
    let mut append = opening(number);
    append.events.push(advanced(1, 1, "a", 2));
    append.timers = vec![TimerChange::Set(timer("t"), at(7))];
    let child = run(number + 100);
    let owed = OutboxItem::TellParent {
        parent: child,
        child: run(number),
        outcome: ChildOutcome {
            state: StateName::Canceled,
            output: serde_json::Value::Null,
            message: None,
        },
    };
    append.outbox = vec![OutboxChange::Add(outbox_id(number), owed)];
    let target = HookTarget(serde_json::Value::Null);
    append.hooks = vec![HookChange::Set { id: "h".to_owned(), target, after: 0 }];
    append.claim = Some(claim(&Caller::new("tenant", "user"), &format!("m{number}"), run(number)));
    append.pins = vec![pin("hash", "all"), pin(&format!("of {number}"), &number.to_string())];
    write(journal, append).await;
}

/// Proves T16, T17: a removed run may be written again, at new positions.
pub async fn a_removed_run_may_be_written_anew<S: StoreUnderTest>() {
    let (store, journal) = fresh::<S>().await;
    write(&*journal, opening(1)).await;
    let before = write(&*journal, opening(2)).await;
    journal.remove(Removal::of([(run(2), 2)])).await.unwrap();
    let late = append(&*journal, guided(2, 2, [advanced(1, 1, "a", 2)])).await;
    assert!(is_conflict(&late), "{late:?}");
    let again = write(&*journal, opening(2)).await;
    assert_eq!(again.first, before.first + 2);
    write(&*journal, guided(2, 2, [advanced(1, 1, "b", 2)])).await;
    assert_eq!(place(&*journal, 2, 1).await.unwrap().branches, 1);
    journal.remove(Removal::of([(run(1), 2), (run(2), 3)])).await.unwrap();
    journal.close().await;
    let journal = store.open().await;
    let last = write(&*journal, opening(3)).await;
    assert_eq!(last.first, again.first + 3);
}

/// Proves T17: after closing, nothing can be removed.
pub async fn after_closing_nothing_is_removed<S: StoreUnderTest>() {
    let (store, journal) = fresh::<S>().await;
    write(&*journal, opening(1)).await;
    journal.close().await;
    assert!(journal.remove(Removal::of([(run(1), 2)])).await.is_err());
    let journal = store.open().await;
    assert_eq!(log(&*journal, run(1)).await.len(), 2);
}

/// Proves T17: events that are recorded after the decision to remove a run are not lost.
pub async fn a_run_that_has_moved_on_is_not_removed(journal: Arc<dyn Journal>) {
    for number in 1..=3 {
        write(&*journal, opening(number)).await;
    }
    write(&*journal, guided(2, 2, [advanced(1, 1, "a", 2)])).await;
    let outcome = journal.remove(Removal::of([(run(1), 2), (run(2), 2), (run(3), 2)])).await;
    let Err(AppendError::Conflict { run: of, expected: 2 }) = outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!(of, run(2));
    for (number, events) in [(1, 2), (2, 3), (3, 2)] {
        assert_eq!(log(&*journal, run(number)).await.len(), events);
        assert!(place(&*journal, number, 1).await.is_some());
    }
    // The refused removal changed no cached state.
    write(&*journal, guided(1, 2, [advanced(1, 1, "a", 2)])).await;
    journal.remove(Removal::of([(run(1), 3), (run(2), 3)])).await.unwrap();
    assert!(log(&*journal, run(2)).await.is_empty());
}

/// Proves T17: a session that has another run by now is not removed.
pub async fn a_session_with_another_run_is_not_removed(journal: Arc<dyn Journal>) {
    begin(&*journal, 1, "a", "user", 10).await;
    begin(&*journal, 2, "a", "other", 10).await;
    begin(&*journal, 3, "a", "user", 20).await;
    let whose = Some((Caller::new("tenant", "user"), session("a")));
    let removal = |runs: &[u128]| Removal {
        session: whose.clone(),
        ..Removal::of(runs.iter().map(|number| (run(*number), 1)))
    };
    let outcome = journal.remove(removal(&[1])).await;
    let Err(AppendError::Conflict { run: of, expected: 0 }) = outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!(of, run(3));
    assert_eq!(sessions(&*journal, "user", ALL).await[0].workflows.len(), 2);
    journal.remove(removal(&[1, 3])).await.unwrap();
    assert!(sessions(&*journal, "user", ALL).await.is_empty());
    assert_eq!(sessions(&*journal, "other", ALL).await.len(), 1);
}

/// Proves T16: appends that belong together are all written or none.
pub async fn appends_that_belong_together_share_their_fate<S: StoreUnderTest>() {
    let (store, journal) = fresh::<S>().await;
    write(&*journal, opening(2)).await;
    let mut pinned = opening(1);
    pinned.pins = vec![pin("own", "body")];
    let outcome = journal.append_all(vec![pinned.clone(), opening(2), opening(3)]).await;
    assert!(
        matches!(&outcome, Err(AppendError::Conflict { run: of, expected: 0 }) if *of == run(2)),
        "{outcome:?}"
    );
    for number in [1, 3] {
        assert!(log(&*journal, run(number)).await.is_empty());
        assert_eq!(place(&*journal, number, 1).await, None);
    }
    assert_eq!(journal.pinned("own".to_owned()).await.unwrap(), None);
    journal.append_all(vec![pinned, opening(3)]).await.unwrap();
    for number in 1..=3 {
        write(&*journal, guided(number, 2, [advanced(1, 1, "a", 2)])).await;
    }
    journal.append_all(Vec::new()).await.unwrap();
    journal.close().await;
    assert!(journal.append_all(vec![opening(4)]).await.is_err());
    let journal = store.open().await;
    for number in 1..=3 {
        assert_eq!(log(&*journal, run(number)).await.len(), 3);
    }
    assert_eq!(journal.pinned("own".to_owned()).await.unwrap().as_deref(), Some("body"));
}
