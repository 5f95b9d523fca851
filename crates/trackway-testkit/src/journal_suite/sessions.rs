//! Sessions, the events' own times, and the removal of runs.

use std::sync::Arc;

use trackway_domain::{Access, Caller, ChildOutcome, StateName, Timestamp};
use trackway_ports::{
    AppendError, HookChange, HookTarget, Journal, OutboxChange, OutboxItem, RunFilter, RunRemoval,
    SessionRow, TimerChange,
};

use super::{StoreUnderTest, fresh, guided_samples::*, sample_appends::*};

async fn list_sessions(journal: &dyn Journal, user: &str, limit: usize) -> Vec<SessionRow> {
    journal.list_sessions(owner_access(user), limit).await.unwrap()
}

fn owner_access(user: &str) -> Access {
    Access::own_only(Caller::new("tenant", user))
}

fn session_ids(rows: &[SessionRow]) -> Vec<&str> {
    rows.iter().map(|row| row.id.as_str()).collect()
}

/// A run of that session whose one event was recorded at that time.
async fn append_first_event(journal: &dyn Journal, number: u128, name: &str, user: &str, moment: i64) {
    let mut append = numbered_append(run_id(number), 0, [1]);
    let mut row = run_row(number);
    row.session = session_id(name);
    row.caller = Caller::new("tenant", user);
    row.created_at = timestamp(moment);
    append.at = timestamp(moment);
    append.row = Some(row);
    append_accepted(journal, append).await;
}

/// Proves T11: a caller sees its own sessions, the one with the newest record first.
pub async fn sessions_are_listed_by_their_newest_record(journal: Arc<dyn Journal>) {
    append_first_event(&*journal, 1, "a", "user", 10).await;
    append_first_event(&*journal, 2, "b", "user", 20).await;
    append_first_event(&*journal, 3, "c", "user", 30).await;
    append_first_event(&*journal, 4, "a", "user", 15).await;
    append_first_event(&*journal, 5, "d", "other", 40).await;
    append_first_event(&*journal, 6, "c", "other", 50).await;
    assert_eq!(session_ids(&list_sessions(&*journal, "user", ALL).await), ["c", "b", "a"]);
    assert_eq!(session_ids(&list_sessions(&*journal, "other", ALL).await), ["c", "d"]);
    assert!(list_sessions(&*journal, "nobody", ALL).await.is_empty());
    let elsewhere =
        journal.list_sessions(Access::own_only(Caller::new("elsewhere", "user")), ALL).await.unwrap();
    assert!(elsewhere.is_empty());

    // An event without a change of the run's row also updates the session.
    let mut later = numbered_append(run_id(1), 1, [2]);
    later.at = timestamp(60);
    append_accepted(&*journal, later).await;
    let listed = list_sessions(&*journal, "user", 2).await;
    assert_eq!(session_ids(&listed), ["a", "c"]);
    let expected = SessionRow {
        id: session_id("a"),
        workflows: vec![run_row(1).workflow, run_row(4).workflow],
        created_at: timestamp(10),
        updated_at: timestamp(60),
    };
    assert_eq!(listed[0], expected);
    assert!(list_sessions(&*journal, "user", 0).await.is_empty());

    let of = |name: &str, user: &str| journal.list_session_runs(owner_access(user), session_id(name));
    let runs: Vec<_> = of("a", "user").await.unwrap().iter().map(|row| row.id).collect();
    assert_eq!(runs, [run_id(4), run_id(1)]);
    assert_eq!(of("c", "other").await.unwrap().len(), 1);
    assert!(of("a", "other").await.unwrap().is_empty());
}

/// Proves T16: imported events keep their times, and are listed by them.
pub async fn events_may_bring_their_own_times(journal: Arc<dyn Journal>) {
    append_first_event(&*journal, 1, "here", "user", 4_000).await;
    let mut brought = numbered_append(run_id(2), 0, [1, 2, 3]);
    brought.event_times = vec![timestamp(100), timestamp(-7), timestamp(300)];
    brought.row = Some(run_row(2));
    append_accepted(&*journal, brought).await;
    let times: Vec<Timestamp> = load_log(&*journal, run_id(2)).await.iter().map(|stored| stored.at).collect();
    assert_eq!(times, [timestamp(100), timestamp(-7), timestamp(300)]);
    let listed = list_sessions(&*journal, "user", ALL).await;
    assert_eq!(session_ids(&listed), ["here", "session"]);
    assert_eq!(listed[1].updated_at, timestamp(300));
}

/// Proves T17: nothing of a removed run is left, and the others are complete.
pub async fn a_removed_run_is_gone_with_all_it_had(journal: Arc<dyn Journal>) {
    for number in 1..=3 {
        append_full_run(&*journal, number).await;
    }
    let kept = (load_log(&*journal, run_id(2)).await, find_node(&*journal, 2, 1).await);
    journal
        .remove_runs(RunRemoval::removal_of_runs([(run_id(1), 3), (run_id(3), 3), (run_id(9), 7)]))
        .await
        .unwrap();

    for number in [1, 3] {
        assert!(load_log(&*journal, run_id(number)).await.is_empty());
        assert_eq!(journal.find_run(run_id(number)).await.unwrap(), None);
        assert_eq!(find_node(&*journal, number, 1).await, None);
        let key = attempt_key(number, 1, 1, "a");
        assert_eq!(journal.find_attempt(key).await.unwrap(), None);
        assert!(journal.list_hooks(run_id(number)).await.unwrap().is_empty());
        let own = message_claim(&Caller::new("tenant", "user"), &format!("m{number}"), run_id(number));
        assert_eq!(journal.find_message_claim(own.key).await.unwrap(), None);
        let hash = format!("of {number}");
        assert_eq!(journal.find_pinned_definition(hash).await.unwrap(), None);
    }
    assert_eq!(load_log(&*journal, run_id(2)).await, kept.0);
    assert_eq!(find_node(&*journal, 2, 1).await, kept.1);
    assert!(kept.1.is_some());
    let listed = journal.list_runs(RunFilter::default(), None, ALL).await.unwrap();
    assert_eq!(listed.iter().map(|row| row.id).collect::<Vec<_>>(), [run_id(2)]);
    let due: Vec<_> = journal.claim_due_timers(work_claim_at(99, ALL)).await.unwrap();
    assert_eq!(due.iter().map(|due| due.run).collect::<Vec<_>>(), [run_id(2)]);
    assert_eq!(journal.list_hooks(run_id(2)).await.unwrap().len(), 1);
    let own = message_claim(&Caller::new("tenant", "user"), "m2", run_id(2));
    assert_eq!(journal.find_message_claim(own.key.clone()).await.unwrap(), Some(own));
    assert_eq!(journal.find_pinned_definition("of 2".to_owned()).await.unwrap().as_deref(), Some("2"));
    assert_eq!(journal.find_pinned_definition("hash".to_owned()).await.unwrap().as_deref(), Some("all"));
    assert_eq!(journal.list_outbox(None, ALL).await.unwrap().len(), 1);
    assert_eq!(list_sessions(&*journal, "user", ALL).await[0].workflows.len(), 1);

    journal.remove_runs(RunRemoval::removal_of_runs([(run_id(2), 3)])).await.unwrap();
    assert_eq!(journal.find_pinned_definition("hash".to_owned()).await.unwrap(), None);
    assert!(list_sessions(&*journal, "user", ALL).await.is_empty());
    journal.remove_runs(RunRemoval::default()).await.unwrap();
}

/// Proves X2: what a removed run began elsewhere is still owed its release.
pub async fn a_release_outlives_its_run(journal: Arc<dyn Journal>) {
    let mut append = opening_append(1);
    let owed = OutboxItem::ReleaseStepNote {
        run: run_id(1),
        op: "step:call#0".parse().unwrap(),
        owner: Caller::new("tenant", "user"),
        note: serde_json::json!({ "task": "t-1" }),
        ended_at: timestamp(5),
    };
    append.outbox_changes = vec![OutboxChange::Add(outbox_id(1), owed.clone())];
    append_accepted(&*journal, append).await;
    journal.remove_runs(RunRemoval::removal_of_runs([(run_id(1), 2)])).await.unwrap();
    let left = journal.list_outbox(None, ALL).await.unwrap();
    assert_eq!(left.iter().map(|row| &row.item).collect::<Vec<_>>(), [&owed]);
}

/// A guided run with one of everything, pinned to its own definition and to a shared one.
async fn append_full_run(journal: &dyn Journal, number: u128) {
    let mut append = opening_append(number);
    append.events.push(advanced_event(1, 1, "a", 2));
    append.timer_changes = vec![TimerChange::Set(step_timer("t"), timestamp(7))];
    let child = run_id(number + 100);
    let owed = OutboxItem::NotifyParent {
        parent: child,
        child: run_id(number),
        outcome: ChildOutcome { state: StateName::Canceled, output: serde_json::Value::Null, message: None },
    };
    append.outbox_changes = vec![OutboxChange::Add(outbox_id(number), owed)];
    let target = HookTarget(serde_json::Value::Null);
    append.hook_changes = vec![HookChange::Set { id: "h".to_owned(), target, after: 0 }];
    append.message_claim =
        Some(message_claim(&Caller::new("tenant", "user"), &format!("m{number}"), run_id(number)));
    append.pins = vec![
        pinned_definition("hash", "all"),
        pinned_definition(&format!("of {number}"), &number.to_string()),
    ];
    append_accepted(journal, append).await;
}

/// Proves T16, T17: a removed run may be written again, at new positions.
pub async fn a_removed_run_may_be_written_anew<S: StoreUnderTest>() {
    let (store, journal) = fresh::<S>().await;
    append_accepted(&*journal, opening_append(1)).await;
    let before = append_accepted(&*journal, opening_append(2)).await;
    journal.remove_runs(RunRemoval::removal_of_runs([(run_id(2), 2)])).await.unwrap();
    let late = append_and_wait(&*journal, guided_append(2, 2, [advanced_event(1, 1, "a", 2)])).await;
    assert!(is_conflict(&late), "{late:?}");
    let again = append_accepted(&*journal, opening_append(2)).await;
    assert_eq!(again.first_position, before.first_position + 2);
    append_accepted(&*journal, guided_append(2, 2, [advanced_event(1, 1, "b", 2)])).await;
    assert_eq!(find_node(&*journal, 2, 1).await.unwrap().branch_count, 1);
    journal.remove_runs(RunRemoval::removal_of_runs([(run_id(1), 2), (run_id(2), 3)])).await.unwrap();
    journal.close_store().await;
    let journal = store.open_journal().await;
    let last = append_accepted(&*journal, opening_append(3)).await;
    assert_eq!(last.first_position, again.first_position + 3);
}

/// Proves T17: after closing, nothing can be removed.
pub async fn after_closing_nothing_is_removed<S: StoreUnderTest>() {
    let (store, journal) = fresh::<S>().await;
    append_accepted(&*journal, opening_append(1)).await;
    journal.close_store().await;
    assert!(journal.remove_runs(RunRemoval::removal_of_runs([(run_id(1), 2)])).await.is_err());
    let journal = store.open_journal().await;
    assert_eq!(load_log(&*journal, run_id(1)).await.len(), 2);
}

/// Proves T17: events that are recorded after the decision to remove a run are not lost.
pub async fn a_run_that_has_moved_on_is_not_removed(journal: Arc<dyn Journal>) {
    for number in 1..=3 {
        append_accepted(&*journal, opening_append(number)).await;
    }
    append_accepted(&*journal, guided_append(2, 2, [advanced_event(1, 1, "a", 2)])).await;
    let outcome = journal
        .remove_runs(RunRemoval::removal_of_runs([(run_id(1), 2), (run_id(2), 2), (run_id(3), 2)]))
        .await;
    let Err(AppendError::Conflict { run: of, expected: 2 }) = outcome else { panic!("{outcome:?}") };
    assert_eq!(of, run_id(2));
    for (number, events) in [(1, 2), (2, 3), (3, 2)] {
        assert_eq!(load_log(&*journal, run_id(number)).await.len(), events);
        assert!(find_node(&*journal, number, 1).await.is_some());
    }
    // The refused removal changed no cached state.
    append_accepted(&*journal, guided_append(1, 2, [advanced_event(1, 1, "a", 2)])).await;
    journal.remove_runs(RunRemoval::removal_of_runs([(run_id(1), 3), (run_id(2), 3)])).await.unwrap();
    assert!(load_log(&*journal, run_id(2)).await.is_empty());
}

/// Proves T17: a session that has another run by now is not removed.
pub async fn a_session_with_another_run_is_not_removed(journal: Arc<dyn Journal>) {
    append_first_event(&*journal, 1, "a", "user", 10).await;
    append_first_event(&*journal, 2, "a", "other", 10).await;
    append_first_event(&*journal, 3, "a", "user", 20).await;
    let whose = Some((Caller::new("tenant", "user"), session_id("a")));
    let removal = |runs: &[u128]| RunRemoval {
        session: whose.clone(),
        ..RunRemoval::removal_of_runs(runs.iter().map(|number| (run_id(*number), 1)))
    };
    let outcome = journal.remove_runs(removal(&[1])).await;
    let Err(AppendError::Conflict { run: of, expected: 0 }) = outcome else { panic!("{outcome:?}") };
    assert_eq!(of, run_id(3));
    assert_eq!(list_sessions(&*journal, "user", ALL).await[0].workflows.len(), 2);
    journal.remove_runs(removal(&[1, 3])).await.unwrap();
    assert!(list_sessions(&*journal, "user", ALL).await.is_empty());
    assert_eq!(list_sessions(&*journal, "other", ALL).await.len(), 1);
}

/// Proves T16: appends that belong together are all written or none.
pub async fn appends_that_belong_together_share_their_fate<S: StoreUnderTest>() {
    let (store, journal) = fresh::<S>().await;
    append_accepted(&*journal, opening_append(2)).await;
    let mut pinned = opening_append(1);
    pinned.pins = vec![pinned_definition("own", "body")];
    let outcome = journal.append_all(vec![pinned.clone(), opening_append(2), opening_append(3)]).await;
    assert!(
        matches!(&outcome, Err(AppendError::Conflict { run: of, expected: 0 }) if *of == run_id(2)),
        "{outcome:?}"
    );
    for number in [1, 3] {
        assert!(load_log(&*journal, run_id(number)).await.is_empty());
        assert_eq!(find_node(&*journal, number, 1).await, None);
    }
    assert_eq!(journal.find_pinned_definition("own".to_owned()).await.unwrap(), None);
    journal.append_all(vec![pinned, opening_append(3)]).await.unwrap();
    for number in 1..=3 {
        append_accepted(&*journal, guided_append(number, 2, [advanced_event(1, 1, "a", 2)])).await;
    }
    journal.append_all(Vec::new()).await.unwrap();
    journal.close_store().await;
    assert!(journal.append_all(vec![opening_append(4)]).await.is_err());
    let journal = store.open_journal().await;
    for number in 1..=3 {
        assert_eq!(load_log(&*journal, run_id(number)).await.len(), 3);
    }
    assert_eq!(journal.find_pinned_definition("own".to_owned()).await.unwrap().as_deref(), Some("body"));
}
