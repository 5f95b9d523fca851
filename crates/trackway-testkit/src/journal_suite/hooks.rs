//! Hooks: who receives a run's updates, what is due, and that no update is lost.

use std::sync::Arc;

use serde_json::{Value, json};
use trackway_domain::{Caller, RunId, Seq};
use trackway_ports::{Append, AppendReceipt, Hook, HookChange, HookTarget, Journal, RunRow};

use super::{StoreUnderTest, fresh, sample_appends::*};

fn set_hook(id: &str, url: &str, after: Seq) -> HookChange {
    HookChange::Set { id: id.to_owned(), target: HookTarget(json!({ "url": url })), after }
}

fn delivered(id: &str, after: Seq) -> HookChange {
    HookChange::Delivered { id: id.to_owned(), after }
}

fn failed_attempt(id: &str, due: i64, since: i64, attempts: u32) -> HookChange {
    let (due, failing_since) = (timestamp(due), timestamp(since));
    HookChange::Failed { id: id.to_owned(), due, failing_since, attempts }
}

fn remove_hook(id: &str) -> HookChange {
    HookChange::Remove { id: id.to_owned() }
}

/// An append of these changes to a run that has `head` events.
async fn append_hook_changes(
    journal: &dyn Journal,
    run: RunId,
    head: Seq,
    hooks: impl IntoIterator<Item = HookChange>,
) -> AppendReceipt {
    let mut append = Append::new(run, head, timestamp(5_000));
    append.hook_changes.extend(hooks);
    append_accepted(journal, append).await
}

async fn find_hook(journal: &dyn Journal, run: RunId, id: &str) -> Hook {
    journal.find_hook(run, id.to_owned()).await.unwrap().expect("the hook is there")
}

/// What is due at that moment: hook and moment, in order.
async fn list_due_hooks(journal: &dyn Journal, now: i64) -> Vec<(String, i64)> {
    let due = journal.claim_due_hooks(work_claim_at(now, ALL), Vec::new()).await.unwrap();
    due.into_iter().map(|it| (it.hook.id, it.hook.due.unwrap().millis())).collect()
}

fn hook_ids(hooks: &[Hook]) -> Vec<&str> {
    hooks.iter().map(|hook| hook.id.as_str()).collect()
}

/// Proves X2.
pub async fn a_hook_reads_back(journal: Arc<dyn Journal>) {
    append_accepted(&*journal, numbered_append(run_id(1), 0, [1, 2])).await;
    let targets = [
        json!({"url": "https://example.com", "token": "'; DROP TABLE hooks; --"}),
        Value::Null,
        json!(["ü 🧭", 1e300, {"deep": [[[]]]}]),
    ];
    for (number, target) in targets.into_iter().enumerate() {
        let id = format!("ü {number} 🧭");
        let target = HookTarget(target);
        append_hook_changes(
            &*journal,
            run_id(1),
            2,
            [HookChange::Set { id: id.clone(), target: target.clone(), after: 2 }],
        )
        .await;
        let expected = Hook {
            run: run_id(1),
            id: id.clone(),
            target,
            delivered_through: 2,
            due: None,
            failing_since: None,
            attempts: 0,
        };
        assert_eq!(find_hook(&*journal, run_id(1), &id).await, expected);
    }
    assert_eq!(journal.find_hook(run_id(1), "other".to_owned()).await.unwrap(), None);
    assert_eq!(journal.find_hook(run_id(2), "ü 0 🧭".to_owned()).await.unwrap(), None);
}

/// Proves X2.
pub async fn hooks_are_listed_in_the_order_of_their_making(journal: Arc<dyn Journal>) {
    assert!(journal.list_hooks(run_id(1)).await.unwrap().is_empty());
    append_hook_changes(&*journal, run_id(1), 0, [set_hook("z", "1", 0), set_hook("a", "2", 0)]).await;
    append_hook_changes(&*journal, run_id(2), 0, [set_hook("a", "other", 0)]).await;
    append_hook_changes(&*journal, run_id(1), 0, [set_hook("m", "3", 0), set_hook("z", "again", 0)]).await;
    let hooks = journal.list_hooks(run_id(1)).await.unwrap();
    assert_eq!(hook_ids(&hooks), ["z", "a", "m"]);
    assert_eq!(hooks[0].target, HookTarget(json!({"url": "again"})));
    // The same name at another run is another hook.
    assert_eq!(find_hook(&*journal, run_id(2), "a").await.target, HookTarget(json!({"url": "other"})));
}

/// Proves X2: a removed hook stays removed, whatever changes still arrive.
pub async fn a_removed_hook_is_gone(journal: Arc<dyn Journal>) {
    append_accepted(&*journal, numbered_append(run_id(1), 0, [1])).await;
    append_hook_changes(&*journal, run_id(1), 1, [set_hook("a", "1", 0), set_hook("b", "2", 0)]).await;
    append_hook_changes(&*journal, run_id(2), 0, [set_hook("a", "3", 0)]).await;
    for _ in 0..2 {
        append_hook_changes(&*journal, run_id(1), 1, [remove_hook("a")]).await;
        let late =
            append_hook_changes(&*journal, run_id(1), 1, [delivered("a", 1), failed_attempt("a", 9, 9, 1)])
                .await;
        assert!(!late.has_due_hook);
        assert_eq!(hook_ids(&journal.list_hooks(run_id(1)).await.unwrap()), ["b"]);
        assert_eq!(hook_ids(&journal.list_hooks(run_id(2)).await.unwrap()), ["a"]);
    }
    assert_eq!(list_due_hooks(&*journal, 9_000).await, [("b".to_owned(), 5_000)]);
}

/// Proves X2: a crash cannot separate a run from the hook of its first message.
pub async fn a_hook_may_come_with_the_first_event(journal: Arc<dyn Journal>) {
    let mut first = numbered_append(run_id(1), 0, [1, 2]);
    first.row = Some(run_row(1));
    first.hook_changes = vec![set_hook("h", "1", 0)];
    let receipt = append_accepted(&*journal, first).await;
    assert!(receipt.has_due_hook, "there is something to deliver");
    assert_eq!(list_due_hooks(&*journal, 5_000).await, [("h".to_owned(), 5_000)]);
    let mut later = numbered_append(run_id(1), 2, [3]);
    later.hook_changes = vec![set_hook("from here", "2", 2), set_hook("not before", "3", 3)];
    assert!(append_accepted(&*journal, later).await.has_due_hook);
    let all = ["h".to_owned(), "from here".to_owned()];
    assert_eq!(list_due_hooks(&*journal, 5_000).await, all.map(|id| (id, 5_000)));
    assert_eq!(find_hook(&*journal, run_id(1), "from here").await.delivered_through, 2);
}

/// Proves X2.
pub async fn a_refused_append_changes_no_hook(journal: Arc<dyn Journal>) {
    append_hook_changes(&*journal, run_id(1), 0, [set_hook("kept", "1", 0)]).await;
    let mut behind = numbered_append(run_id(1), 7, [1]);
    behind.hook_changes = vec![set_hook("new", "2", 0), remove_hook("kept"), failed_attempt("kept", 1, 1, 1)];
    assert!(is_conflict(&append_and_wait(&*journal, behind).await));
    let hooks = journal.list_hooks(run_id(1)).await.unwrap();
    assert_eq!((hook_ids(&hooks), hooks[0].due, hooks[0].attempts), (vec!["kept"], None, 0));
}

/// Proves X2: an idle hook becomes due with the event, in one transaction.
pub async fn events_make_idle_hooks_due(journal: Arc<dyn Journal>) {
    append_hook_changes(&*journal, run_id(1), 0, [set_hook("a", "1", 0), set_hook("b", "2", 0)]).await;
    append_hook_changes(&*journal, run_id(2), 0, [set_hook("other", "3", 0)]).await;
    assert!(list_due_hooks(&*journal, i64::MAX).await.is_empty());
    assert!(
        !append_accepted(&*journal, numbered_append(run_id(3), 0, [1])).await.has_due_hook,
        "a run without hooks"
    );

    let mut unseen = numbered_append(run_id(1), 0, [1]);
    unseen.notifies_hooks = false;
    assert!(!append_accepted(&*journal, unseen).await.has_due_hook, "nobody is told of it");
    assert!(!append_accepted(&*journal, row_append_at(run_id(1), 1)).await.has_due_hook, "no event, no news");
    assert!(list_due_hooks(&*journal, i64::MAX).await.is_empty());

    assert!(append_accepted(&*journal, numbered_append(run_id(1), 1, [2])).await.has_due_hook);
    let both = [("a".to_owned(), 5_000), ("b".to_owned(), 5_000)];
    assert_eq!(list_due_hooks(&*journal, i64::MAX).await, both);
    // A hook that is already due is already being served.
    assert!(!append_accepted(&*journal, numbered_append(run_id(1), 2, [3])).await.has_due_hook);
}

fn row_append_at(run: RunId, head: Seq) -> Append {
    let mut append = Append::new(run, head, timestamp(9_000));
    append.row = Some(trackway_ports::RunRow { id: run, ..run_row(1) });
    append
}

/// Proves X2: an event that came during the last delivery keeps the hook due.
pub async fn a_told_hook_is_idle_unless_there_is_more(journal: Arc<dyn Journal>) {
    append_accepted(&*journal, numbered_append(run_id(1), 0, [1, 2])).await;
    assert!(append_hook_changes(&*journal, run_id(1), 2, [set_hook("h", "1", 0)]).await.has_due_hook);
    append_hook_changes(&*journal, run_id(1), 2, [failed_attempt("h", 8_000, 4_000, 1)]).await;

    let receipt = append_hook_changes(&*journal, run_id(1), 2, [delivered("h", 1)]).await;
    assert!(receipt.has_due_hook, "event 2 is still to be delivered");
    let one = find_hook(&*journal, run_id(1), "h").await;
    assert_eq!((one.delivered_through, one.due), (1, Some(timestamp(5_000))));
    assert_eq!((one.failing_since, one.attempts), (None, 0), "a success ends the failing");

    // Event 3 came while event 2 was delivered.
    append_accepted(&*journal, numbered_append(run_id(1), 2, [3])).await;
    assert!(append_hook_changes(&*journal, run_id(1), 3, [delivered("h", 2)]).await.has_due_hook);
    assert!(!append_hook_changes(&*journal, run_id(1), 3, [delivered("h", 3)]).await.has_due_hook);
    let idle = find_hook(&*journal, run_id(1), "h").await;
    assert_eq!((idle.delivered_through, idle.due), (3, None));
    // The position never moves back.
    assert!(!append_hook_changes(&*journal, run_id(1), 3, [delivered("h", 1)]).await.has_due_hook);
    assert_eq!(find_hook(&*journal, run_id(1), "h").await, idle);
}

/// Proves X2.
pub async fn a_failed_attempt_is_due_again_later(journal: Arc<dyn Journal>) {
    append_accepted(&*journal, numbered_append(run_id(1), 0, [1])).await;
    append_hook_changes(&*journal, run_id(1), 1, [set_hook("h", "1", 0)]).await;
    for attempts in 1..=3_u32 {
        let moment = 10_000 * i64::from(attempts);
        let receipt =
            append_hook_changes(&*journal, run_id(1), 1, [failed_attempt("h", moment, 7_000, attempts)])
                .await;
        assert!(!receipt.has_due_hook, "nothing to do before its moment");
        let hook = find_hook(&*journal, run_id(1), "h").await;
        assert_eq!((hook.delivered_through, hook.due), (0, Some(timestamp(moment))));
        assert_eq!((hook.failing_since, hook.attempts), (Some(timestamp(7_000)), attempts));
        assert!(list_due_hooks(&*journal, moment - 1).await.is_empty());
        assert_eq!(list_due_hooks(&*journal, moment).await.len(), 1);
    }
    // An event does not bring the next attempt forward.
    assert!(!append_accepted(&*journal, numbered_append(run_id(1), 1, [2])).await.has_due_hook);
    assert_eq!(find_hook(&*journal, run_id(1), "h").await.due, Some(timestamp(30_000)));
}

/// Proves X2: updates that the old target did not get go to the new one, at once.
pub async fn a_hook_set_anew_keeps_its_place_but_not_its_failures(journal: Arc<dyn Journal>) {
    append_accepted(&*journal, numbered_append(run_id(1), 0, [1, 2, 3])).await;
    append_hook_changes(&*journal, run_id(1), 3, [set_hook("h", "1", 1)]).await;
    append_hook_changes(&*journal, run_id(1), 3, [failed_attempt("h", 90_000, 5_000, 1)]).await;
    append_hook_changes(&*journal, run_id(1), 3, [failed_attempt("h", 91_000, 5_000, 2)]).await;
    assert!(append_hook_changes(&*journal, run_id(1), 3, [set_hook("h", "2", 3)]).await.has_due_hook);
    let anew = find_hook(&*journal, run_id(1), "h").await;
    assert_eq!((anew.delivered_through, anew.due), (1, Some(timestamp(5_000))));
    assert_eq!((anew.failing_since, anew.attempts), (None, 0));
    // The old target's third attempt was in progress.
    append_hook_changes(&*journal, run_id(1), 3, [failed_attempt("h", 92_000, 5_000, 3)]).await;
    assert_eq!(find_hook(&*journal, run_id(1), "h").await, anew);
    append_hook_changes(&*journal, run_id(1), 3, [delivered("h", 3)]).await;
    assert!(
        !append_hook_changes(&*journal, run_id(1), 3, [set_hook("h", "3", 0)]).await.has_due_hook,
        "all was delivered"
    );
    assert_eq!(find_hook(&*journal, run_id(1), "h").await.due, None);
}

/// Proves X2.
pub async fn hooks_are_due_earliest_first_in_pages(journal: Arc<dyn Journal>) {
    assert_eq!(journal.next_hook_due(timestamp(i64::MIN)).await.unwrap(), None);
    for (number, moment) in [(1, 300), (2, 100), (3, 200)] {
        append_accepted(&*journal, numbered_append(run_id(number), 0, [1])).await;
        let id = moment.to_string();
        append_hook_changes(&*journal, run_id(number), 1, [set_hook(&id, "1", 0)]).await;
        append_hook_changes(&*journal, run_id(number), 1, [failed_attempt(&id, moment, 0, 1)]).await;
    }
    append_hook_changes(&*journal, run_id(4), 0, [set_hook("idle", "1", 0)]).await;
    let all = [100, 200, 300].map(|moment: i64| (moment.to_string(), moment));
    assert_eq!(list_due_hooks(&*journal, 1_000).await, all);
    assert_eq!(list_due_hooks(&*journal, 200).await, all[..2]);
    let page = journal.claim_due_hooks(work_claim_at(1_000, 2), Vec::new()).await.unwrap();
    let page: Vec<Hook> = page.into_iter().map(|due| due.hook).collect();
    assert_eq!(hook_ids(&page), ["100", "200"]);
    for (now, next) in
        [(0, Some(timestamp(100))), (99, Some(timestamp(100))), (100, Some(timestamp(200))), (300, None)]
    {
        assert_eq!(journal.next_hook_due(timestamp(now)).await.unwrap(), next, "at {now}");
    }
}

/// Proves X6: so that no tenant waits for the hooks of another.
pub async fn hooks_of_some_tenants_are_left_out(journal: Arc<dyn Journal>) {
    for (number, tenant) in [(1, "a"), (2, "b"), (3, "a"), (4, "c")] {
        let mut append = numbered_append(run_id(number), 0, [1]);
        append.row = Some(RunRow { caller: Caller::new(tenant, "u"), ..run_row(number) });
        append_accepted(&*journal, append).await;
        append_hook_changes(&*journal, run_id(number), 1, [set_hook(&number.to_string(), "1", 0)]).await;
    }
    for (except, left) in
        [(vec![], "1 a, 2 b, 3 a, 4 c"), (vec!["a"], "2 b, 4 c"), (vec!["b", "c"], "1 a, 3 a")]
    {
        let except = except.into_iter().map(str::to_owned).collect();
        let due = journal.claim_due_hooks(work_claim_at(9_000, ALL), except).await.unwrap();
        let due: Vec<_> = due.iter().map(|due| format!("{} {}", due.hook.id, due.tenant)).collect();
        assert_eq!(due.join(", "), left);
    }
}

/// Proves X2.
pub async fn hooks_are_there_after_opening_again<S: StoreUnderTest>() {
    let (store, journal) = fresh::<S>().await;
    append_accepted(&*journal, numbered_append(run_id(1), 0, [1])).await;
    append_hook_changes(&*journal, run_id(1), 1, [set_hook("a", "1", 0), set_hook("b", "2", 1)]).await;
    append_hook_changes(&*journal, run_id(1), 1, [failed_attempt("a", 7_000, 6_000, 1)]).await;
    let before = journal.list_hooks(run_id(1)).await.unwrap();
    journal.close_store().await;
    drop(journal);
    let journal = store.open_journal().await;
    assert_eq!(journal.list_hooks(run_id(1)).await.unwrap(), before);
    assert!(
        append_accepted(&*journal, numbered_append(run_id(1), 1, [2])).await.has_due_hook,
        "the idle one is found"
    );
}

/// Proves X2: a process that cached the run without hooks sees a hook that another process set.
pub async fn a_hook_of_a_second_opening_is_woken_by_the_first<S: StoreUnderTest>() {
    let (store, one) = fresh::<S>().await;
    let two = store.open_journal().await;
    assert!(!append_accepted(&*one, numbered_append(run_id(1), 0, [1])).await.has_due_hook);
    append_hook_changes(&*two, run_id(1), 1, [set_hook("h", "1", 1)]).await;
    assert!(append_accepted(&*one, numbered_append(run_id(1), 1, [2])).await.has_due_hook);
    assert_eq!(list_due_hooks(&*two, 5_000).await.len(), 1);
}

/// Proves X2: while one task appends and another delivers, no update is lost.
pub async fn no_event_falls_between_telling_and_appending(journal: Arc<dyn Journal>) {
    const EVENTS: u64 = 60;
    append_hook_changes(&*journal, run_id(1), 0, [set_hook("h", "1", 0)]).await;
    let writer = Arc::clone(&journal);
    let writer = tokio::spawn(async move {
        for number in 0..EVENTS {
            let mut seen = load_log(&*writer, run_id(1)).await.len() as Seq;
            while is_conflict(&append_and_wait(&*writer, numbered_append(run_id(1), seen, [number])).await) {
                seen = load_log(&*writer, run_id(1)).await.len() as Seq;
            }
        }
    });
    loop {
        let finished = writer.is_finished();
        // Only a due hook is served.
        if find_hook(&*journal, run_id(1), "h").await.due.is_none() {
            if finished {
                break;
            }
            tokio::task::yield_now().await;
            continue;
        }
        let seen = load_log(&*journal, run_id(1)).await.len() as Seq;
        let head = load_log(&*journal, run_id(1)).await.len() as Seq;
        let mut tell = Append::new(run_id(1), head, timestamp(5_000));
        tell.hook_changes = vec![delivered("h", seen)];
        // A lost race causes one more delivery.
        let _ = append_and_wait(&*journal, tell).await;
    }
    writer.await.unwrap();
    let hook = find_hook(&*journal, run_id(1), "h").await;
    assert_eq!((hook.delivered_through, hook.due), (EVENTS, None));
}

/// Proves X6: secrets do not get into a log through a debug print.
pub async fn a_target_is_not_printed(journal: Arc<dyn Journal>) {
    let mut append = Append::new(run_id(1), 0, timestamp(0));
    append.hook_changes = vec![set_hook("h", "s3cret", 0)];
    assert!(!format!("{append:?}").contains("s3cret"));
    append_accepted(&*journal, append).await;
    assert!(!format!("{:?}", find_hook(&*journal, run_id(1), "h").await).contains("s3cret"));
}
