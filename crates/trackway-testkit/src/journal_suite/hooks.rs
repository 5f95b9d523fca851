//! Hooks: who receives a run's updates, what is due, and that no update is lost.

use std::sync::Arc;

use serde_json::{Value, json};
use trackway_domain::{Caller, RunId, Seq};
use trackway_ports::{Append, Hook, HookChange, HookTarget, Journal, Receipt, RunRow};

use super::{StoreUnderTest, fresh, samples::*};

fn set(id: &str, url: &str, after: Seq) -> HookChange {
    HookChange::Set { id: id.to_owned(), target: HookTarget(json!({ "url": url })), after }
}

fn told(id: &str, after: Seq) -> HookChange {
    HookChange::Told { id: id.to_owned(), after }
}

fn failed(id: &str, due: i64, since: i64, attempts: u32) -> HookChange {
    let (due, failing_since) = (at(due), at(since));
    HookChange::Failed { id: id.to_owned(), due, failing_since, attempts }
}

fn remove(id: &str) -> HookChange {
    HookChange::Remove { id: id.to_owned() }
}

/// An append of these changes to a run that has `head` events.
async fn change(
    journal: &dyn Journal,
    run: RunId,
    head: Seq,
    hooks: impl IntoIterator<Item = HookChange>,
) -> Receipt {
    let mut append = Append::new(run, head, at(5_000));
    append.hooks.extend(hooks);
    write(journal, append).await
}

async fn hook(journal: &dyn Journal, run: RunId, id: &str) -> Hook {
    journal.hook(run, id.to_owned()).await.unwrap().expect("the hook is there")
}

/// What is due at that moment: hook and moment, in order.
async fn due(journal: &dyn Journal, now: i64) -> Vec<(String, i64)> {
    let due = journal.claim_hooks(claim_at(now, ALL), Vec::new()).await.unwrap();
    due.into_iter().map(|it| (it.hook.id, it.hook.due.unwrap().millis())).collect()
}

fn names(hooks: &[Hook]) -> Vec<&str> {
    hooks.iter().map(|hook| hook.id.as_str()).collect()
}

/// Proves X2.
pub async fn a_hook_reads_back(journal: Arc<dyn Journal>) {
    write(&*journal, appending(run(1), 0, [1, 2])).await;
    let targets = [
        json!({"url": "https://example.com", "token": "'; DROP TABLE hooks; --"}),
        Value::Null,
        json!(["ü 🧭", 1e300, {"deep": [[[]]]}]),
    ];
    for (number, target) in targets.into_iter().enumerate() {
        let id = format!("ü {number} 🧭");
        let target = HookTarget(target);
        change(
            &*journal,
            run(1),
            2,
            [HookChange::Set { id: id.clone(), target: target.clone(), after: 2 }],
        )
        .await;
        let expected = Hook {
            run: run(1),
            id: id.clone(),
            target,
            after: 2,
            due: None,
            failing_since: None,
            attempts: 0,
        };
        assert_eq!(hook(&*journal, run(1), &id).await, expected);
    }
    assert_eq!(journal.hook(run(1), "other".to_owned()).await.unwrap(), None);
    assert_eq!(journal.hook(run(2), "ü 0 🧭".to_owned()).await.unwrap(), None);
}

/// Proves X2.
pub async fn hooks_are_listed_in_the_order_of_their_making(journal: Arc<dyn Journal>) {
    assert!(journal.hooks(run(1)).await.unwrap().is_empty());
    change(&*journal, run(1), 0, [set("z", "1", 0), set("a", "2", 0)]).await;
    change(&*journal, run(2), 0, [set("a", "other", 0)]).await;
    change(&*journal, run(1), 0, [set("m", "3", 0), set("z", "again", 0)]).await;
    let hooks = journal.hooks(run(1)).await.unwrap();
    assert_eq!(names(&hooks), ["z", "a", "m"]);
    assert_eq!(hooks[0].target, HookTarget(json!({"url": "again"})));
    // The same name at another run is another hook.
    assert_eq!(hook(&*journal, run(2), "a").await.target, HookTarget(json!({"url": "other"})));
}

/// Proves X2: a removed hook stays removed, whatever changes still arrive.
pub async fn a_removed_hook_is_gone(journal: Arc<dyn Journal>) {
    write(&*journal, appending(run(1), 0, [1])).await;
    change(&*journal, run(1), 1, [set("a", "1", 0), set("b", "2", 0)]).await;
    change(&*journal, run(2), 0, [set("a", "3", 0)]).await;
    for _ in 0..2 {
        change(&*journal, run(1), 1, [remove("a")]).await;
        let late = change(&*journal, run(1), 1, [told("a", 1), failed("a", 9, 9, 1)]).await;
        assert!(!late.hooks);
        assert_eq!(names(&journal.hooks(run(1)).await.unwrap()), ["b"]);
        assert_eq!(names(&journal.hooks(run(2)).await.unwrap()), ["a"]);
    }
    assert_eq!(due(&*journal, 9_000).await, [("b".to_owned(), 5_000)]);
}

/// Proves X2: a crash cannot separate a run from the hook of its first message.
pub async fn a_hook_may_come_with_the_first_event(journal: Arc<dyn Journal>) {
    let mut first = appending(run(1), 0, [1, 2]);
    first.row = Some(row(1));
    first.hooks = vec![set("h", "1", 0)];
    let receipt = write(&*journal, first).await;
    assert!(receipt.hooks, "there is something to deliver");
    assert_eq!(due(&*journal, 5_000).await, [("h".to_owned(), 5_000)]);
    let mut later = appending(run(1), 2, [3]);
    later.hooks = vec![set("from here", "2", 2), set("not before", "3", 3)];
    assert!(write(&*journal, later).await.hooks);
    let all = ["h".to_owned(), "from here".to_owned()];
    assert_eq!(due(&*journal, 5_000).await, all.map(|id| (id, 5_000)));
    assert_eq!(hook(&*journal, run(1), "from here").await.after, 2);
}

/// Proves X2.
pub async fn a_refused_append_changes_no_hook(journal: Arc<dyn Journal>) {
    change(&*journal, run(1), 0, [set("kept", "1", 0)]).await;
    let mut behind = appending(run(1), 7, [1]);
    behind.hooks = vec![set("new", "2", 0), remove("kept"), failed("kept", 1, 1, 1)];
    assert!(is_conflict(&append(&*journal, behind).await));
    let hooks = journal.hooks(run(1)).await.unwrap();
    assert_eq!((names(&hooks), hooks[0].due, hooks[0].attempts), (vec!["kept"], None, 0));
}

/// Proves X2: an idle hook becomes due with the event, in one transaction.
pub async fn events_make_idle_hooks_due(journal: Arc<dyn Journal>) {
    change(&*journal, run(1), 0, [set("a", "1", 0), set("b", "2", 0)]).await;
    change(&*journal, run(2), 0, [set("other", "3", 0)]).await;
    assert!(due(&*journal, i64::MAX).await.is_empty());
    assert!(!write(&*journal, appending(run(3), 0, [1])).await.hooks, "a run without hooks");

    let mut unseen = appending(run(1), 0, [1]);
    unseen.tells = false;
    assert!(!write(&*journal, unseen).await.hooks, "nobody is told of it");
    assert!(!write(&*journal, writing_row_at(run(1), 1)).await.hooks, "no event, no news");
    assert!(due(&*journal, i64::MAX).await.is_empty());

    assert!(write(&*journal, appending(run(1), 1, [2])).await.hooks);
    let both = [("a".to_owned(), 5_000), ("b".to_owned(), 5_000)];
    assert_eq!(due(&*journal, i64::MAX).await, both);
    // A hook that is already due is already being served.
    assert!(!write(&*journal, appending(run(1), 2, [3])).await.hooks);
}

fn writing_row_at(run: RunId, head: Seq) -> Append {
    let mut append = Append::new(run, head, at(9_000));
    append.row = Some(trackway_ports::RunRow { id: run, ..row(1) });
    append
}

/// Proves X2: an event that came during the last delivery keeps the hook due.
pub async fn a_told_hook_is_idle_unless_there_is_more(journal: Arc<dyn Journal>) {
    write(&*journal, appending(run(1), 0, [1, 2])).await;
    assert!(change(&*journal, run(1), 2, [set("h", "1", 0)]).await.hooks);
    change(&*journal, run(1), 2, [failed("h", 8_000, 4_000, 1)]).await;

    let receipt = change(&*journal, run(1), 2, [told("h", 1)]).await;
    assert!(receipt.hooks, "event 2 is still to be delivered");
    let one = hook(&*journal, run(1), "h").await;
    assert_eq!((one.after, one.due), (1, Some(at(5_000))));
    assert_eq!((one.failing_since, one.attempts), (None, 0), "a success ends the failing");

    // Event 3 came while event 2 was delivered.
    write(&*journal, appending(run(1), 2, [3])).await;
    assert!(change(&*journal, run(1), 3, [told("h", 2)]).await.hooks);
    assert!(!change(&*journal, run(1), 3, [told("h", 3)]).await.hooks);
    let idle = hook(&*journal, run(1), "h").await;
    assert_eq!((idle.after, idle.due), (3, None));
    // The position never moves back.
    assert!(!change(&*journal, run(1), 3, [told("h", 1)]).await.hooks);
    assert_eq!(hook(&*journal, run(1), "h").await, idle);
}

/// Proves X2.
pub async fn a_failed_attempt_is_due_again_later(journal: Arc<dyn Journal>) {
    write(&*journal, appending(run(1), 0, [1])).await;
    change(&*journal, run(1), 1, [set("h", "1", 0)]).await;
    for attempts in 1..=3_u32 {
        let moment = 10_000 * i64::from(attempts);
        let receipt = change(&*journal, run(1), 1, [failed("h", moment, 7_000, attempts)]).await;
        assert!(!receipt.hooks, "nothing to do before its moment");
        let hook = hook(&*journal, run(1), "h").await;
        assert_eq!((hook.after, hook.due), (0, Some(at(moment))));
        assert_eq!((hook.failing_since, hook.attempts), (Some(at(7_000)), attempts));
        assert!(due(&*journal, moment - 1).await.is_empty());
        assert_eq!(due(&*journal, moment).await.len(), 1);
    }
    // An event does not bring the next attempt forward.
    assert!(!write(&*journal, appending(run(1), 1, [2])).await.hooks);
    assert_eq!(hook(&*journal, run(1), "h").await.due, Some(at(30_000)));
}

/// Proves X2: updates that the old target did not get go to the new one, at once.
pub async fn a_hook_set_anew_keeps_its_place_but_not_its_failures(journal: Arc<dyn Journal>) {
    write(&*journal, appending(run(1), 0, [1, 2, 3])).await;
    change(&*journal, run(1), 3, [set("h", "1", 1)]).await;
    change(&*journal, run(1), 3, [failed("h", 90_000, 5_000, 1)]).await;
    change(&*journal, run(1), 3, [failed("h", 91_000, 5_000, 2)]).await;
    assert!(change(&*journal, run(1), 3, [set("h", "2", 3)]).await.hooks);
    let anew = hook(&*journal, run(1), "h").await;
    assert_eq!((anew.after, anew.due), (1, Some(at(5_000))));
    assert_eq!((anew.failing_since, anew.attempts), (None, 0));
    // The old target's third attempt was in progress.
    change(&*journal, run(1), 3, [failed("h", 92_000, 5_000, 3)]).await;
    assert_eq!(hook(&*journal, run(1), "h").await, anew);
    change(&*journal, run(1), 3, [told("h", 3)]).await;
    assert!(!change(&*journal, run(1), 3, [set("h", "3", 0)]).await.hooks, "all was delivered");
    assert_eq!(hook(&*journal, run(1), "h").await.due, None);
}

/// Proves X2.
pub async fn hooks_are_due_earliest_first_in_pages(journal: Arc<dyn Journal>) {
    assert_eq!(journal.next_hook(at(i64::MIN)).await.unwrap(), None);
    for (number, moment) in [(1, 300), (2, 100), (3, 200)] {
        write(&*journal, appending(run(number), 0, [1])).await;
        let id = moment.to_string();
        change(&*journal, run(number), 1, [set(&id, "1", 0)]).await;
        change(&*journal, run(number), 1, [failed(&id, moment, 0, 1)]).await;
    }
    change(&*journal, run(4), 0, [set("idle", "1", 0)]).await;
    let all = [100, 200, 300].map(|moment: i64| (moment.to_string(), moment));
    assert_eq!(due(&*journal, 1_000).await, all);
    assert_eq!(due(&*journal, 200).await, all[..2]);
    let page = journal.claim_hooks(claim_at(1_000, 2), Vec::new()).await.unwrap();
    let page: Vec<Hook> = page.into_iter().map(|due| due.hook).collect();
    assert_eq!(names(&page), ["100", "200"]);
    for (now, next) in [(0, Some(at(100))), (99, Some(at(100))), (100, Some(at(200))), (300, None)]
    {
        assert_eq!(journal.next_hook(at(now)).await.unwrap(), next, "at {now}");
    }
}

/// Proves X6: so that no tenant waits for the hooks of another.
pub async fn hooks_of_some_tenants_are_left_out(journal: Arc<dyn Journal>) {
    for (number, tenant) in [(1, "a"), (2, "b"), (3, "a"), (4, "c")] {
        let mut append = appending(run(number), 0, [1]);
        append.row = Some(RunRow { caller: Caller::new(tenant, "u"), ..row(number) });
        write(&*journal, append).await;
        change(&*journal, run(number), 1, [set(&number.to_string(), "1", 0)]).await;
    }
    for (except, left) in
        [(vec![], "1 a, 2 b, 3 a, 4 c"), (vec!["a"], "2 b, 4 c"), (vec!["b", "c"], "1 a, 3 a")]
    {
        let except = except.into_iter().map(str::to_owned).collect();
        let due = journal.claim_hooks(claim_at(9_000, ALL), except).await.unwrap();
        let due: Vec<_> = due.iter().map(|due| format!("{} {}", due.hook.id, due.tenant)).collect();
        assert_eq!(due.join(", "), left);
    }
}

/// Proves X2.
pub async fn hooks_are_there_after_opening_again<S: StoreUnderTest>() {
    let (store, journal) = fresh::<S>().await;
    write(&*journal, appending(run(1), 0, [1])).await;
    change(&*journal, run(1), 1, [set("a", "1", 0), set("b", "2", 1)]).await;
    change(&*journal, run(1), 1, [failed("a", 7_000, 6_000, 1)]).await;
    let before = journal.hooks(run(1)).await.unwrap();
    journal.close().await;
    drop(journal);
    let journal = store.open().await;
    assert_eq!(journal.hooks(run(1)).await.unwrap(), before);
    assert!(write(&*journal, appending(run(1), 1, [2])).await.hooks, "the idle one is found");
}

/// Proves X2: a process that cached the run without hooks sees a hook that another process set.
pub async fn a_hook_of_a_second_opening_is_woken_by_the_first<S: StoreUnderTest>() {
    let (store, one) = fresh::<S>().await;
    let two = store.open().await;
    assert!(!write(&*one, appending(run(1), 0, [1])).await.hooks);
    change(&*two, run(1), 1, [set("h", "1", 1)]).await;
    assert!(write(&*one, appending(run(1), 1, [2])).await.hooks);
    assert_eq!(due(&*two, 5_000).await.len(), 1);
}

/// Proves X2: while one task appends and another delivers, no update is lost.
pub async fn no_event_falls_between_telling_and_appending(journal: Arc<dyn Journal>) {
    const EVENTS: u64 = 60;
    change(&*journal, run(1), 0, [set("h", "1", 0)]).await;
    let writer = Arc::clone(&journal);
    let writer = tokio::spawn(async move {
        for number in 0..EVENTS {
            let mut seen = log(&*writer, run(1)).await.len() as Seq;
            while is_conflict(&append(&*writer, appending(run(1), seen, [number])).await) {
                seen = log(&*writer, run(1)).await.len() as Seq;
            }
        }
    });
    loop {
        let finished = writer.is_finished();
        // Only a due hook is served.
        if hook(&*journal, run(1), "h").await.due.is_none() {
            if finished {
                break;
            }
            tokio::task::yield_now().await;
            continue;
        }
        let seen = log(&*journal, run(1)).await.len() as Seq;
        let head = log(&*journal, run(1)).await.len() as Seq;
        let mut tell = Append::new(run(1), head, at(5_000));
        tell.hooks = vec![told("h", seen)];
        // A lost race causes one more delivery.
        let _ = append(&*journal, tell).await;
    }
    writer.await.unwrap();
    let hook = hook(&*journal, run(1), "h").await;
    assert_eq!((hook.after, hook.due), (EVENTS, None));
}

/// Proves X6: secrets do not get into a log through a debug print.
pub async fn a_target_is_not_printed(journal: Arc<dyn Journal>) {
    let mut append = Append::new(run(1), 0, at(0));
    append.hooks = vec![set("h", "s3cret", 0)];
    assert!(!format!("{append:?}").contains("s3cret"));
    write(&*journal, append).await;
    assert!(!format!("{:?}", hook(&*journal, run(1), "h").await).contains("s3cret"));
}
