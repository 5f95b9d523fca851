//! Receivers that are down, refuse, or come back.

use std::time::Duration;

use trackway_domain::Timestamp;
use trackway_ports::{Clock as _, Hook};
use trackway_runtime::HookDeliveryError;

use super::*;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn receiver_down() -> Result<(), HookDeliveryError> {
    Err(HookDeliveryError::Transient { reason: "connection refused".to_owned() })
}

/// The hook, once this many failed attempts in a row are stored.
async fn wait_for_failures(process: &TestProcess, run: RunId, id: &str, attempts: u32) -> Hook {
    loop {
        let hook = process.find_hook(&local_run_address(run), id).await.unwrap().unwrap();
        if hook.attempts >= attempts {
            assert_eq!(hook.attempts, attempts);
            return hook;
        }
        tokio::task::yield_now().await;
    }
}

/// The hook, once it has no pending delivery.
async fn wait_until_delivered(process: &TestProcess, run: RunId, id: &str) -> Hook {
    loop {
        let hook = process.find_hook(&local_run_address(run), id).await.unwrap().unwrap();
        if hook.due.is_none() {
            return hook;
        }
        tokio::task::yield_now().await;
    }
}

/// Proves X2: pauses that double, no attempt before its moment, and then everything in order.
#[test]
fn a_receiver_that_was_down_is_told_everything_when_it_is_back() {
    for world in worlds() {
        let postbox = Arc::new(RecordingMessenger::new());
        postbox.set_verdict(|_| receiver_down());
        world.run_to_completion(setup(&postbox), async |process| {
            let begun = process.clock.now();
            let run = start(&process, "talks", Value::Null, Some(new_test_hook("h"))).await;
            wait_until_idle(&process, run).await;
            let mut pause = 1_000;
            for attempt in 1..=6 {
                postbox.wait_for_attempts(attempt as usize).await;
                let failed = wait_for_failures(&process, run, "h", attempt).await;
                assert_eq!((failed.delivered_through, failed.failing_since), (0, Some(begun)));
                let due = failed.due.unwrap();
                let waits = due.duration_since(process.clock.now()).as_millis();
                assert!((pause / 2..=pause).contains(&waits), "{waits} ms after {attempt}");
                process.clock.advance_to(Timestamp(due.millis() - 1));
                process.list_hooks(&local_run_address(run)).await.unwrap();
                assert_eq!(postbox.all_attempts().len(), attempt as usize, "not before its moment");
                if attempt == 6 {
                    postbox.set_verdict(|_| Ok(()));
                }
                process.clock.advance_to(due);
                pause *= 2;
            }
            process.wait_until_quiet().await;
            assert_eq!(postbox.delivered_lines(run, "h"), BEFORE);
            let first = postbox.all_attempts();
            assert!(first[..6].iter().all(|letter| letter.line == "submitted"), "in order");
        });
    }
}

/// Proves X2: the position of a receiver survives the process.
#[test]
fn a_restart_changes_nothing_about_the_next_attempt() {
    let (world, postbox) = (TestWorld::with_sqlite_store(), Arc::new(RecordingMessenger::new()));
    postbox.set_verdict(|_| receiver_down());
    let (run, before) = world.run_to_completion(setup(&postbox), async |process| {
        let run = start(&process, "talks", Value::Null, Some(new_test_hook("h"))).await;
        wait_until_idle(&process, run).await;
        wait_for_failures(&process, run, "h", 1).await;
        process.clock.advance(Duration::from_secs(1));
        (run, wait_for_failures(&process, run, "h", 2).await)
    });
    world.run_to_completion(setup(&postbox), async |process| {
        assert_eq!(process.find_hook(&local_run_address(run), "h").await.unwrap(), Some(before.clone()));
        process.clock.advance_to(before.due.unwrap());
        let third = wait_for_failures(&process, run, "h", 3).await;
        assert_eq!(third.failing_since, before.failing_since);
        assert_eq!(postbox.all_attempts().len(), 3);
    });
}

/// Proves X2: one that is down does not keep the others waiting.
#[test]
fn hooks_do_not_wait_for_each_other() {
    let (world, postbox) = (TestWorld::with_memory_store(), Arc::new(RecordingMessenger::new()));
    postbox.set_verdict(|letter| if letter.hook == "down" { receiver_down() } else { Ok(()) });
    world.run_to_completion(setup(&postbox), async |process| {
        let run = start(&process, "talks", Value::Null, Some(new_test_hook("up"))).await;
        process.set_hook(&local_run_address(run), new_test_hook("down")).await.unwrap();
        wait_until_idle(&process, run).await;
        process.deliver_message(answer_delivery(run, "answer", json!(7))).await.unwrap();
        wait_until_ended(&process, run).await;
        wait_until_delivered(&process, run, "up").await;
        assert_eq!(postbox.delivered_lines(run, "up"), [&BEFORE[..], &AFTER[..]].concat());
        assert!(postbox.delivered_lines(run, "down").is_empty());
    });
}

/// Proves X2: an update is tried for a day. Then the pending updates are skipped, and delivery starts again
/// with the next update.
#[test]
fn after_a_day_it_is_given_up_until_something_happens() {
    let (world, postbox) = (TestWorld::with_memory_store(), Arc::new(RecordingMessenger::new()));
    postbox.set_verdict(|_| receiver_down());
    world.run_to_completion(setup(&postbox), async |process| {
        let begun = process.clock.now();
        let run = start(&process, "talks", Value::Null, Some(new_test_hook("h"))).await;
        wait_until_idle(&process, run).await;
        let mut attempts = 0;
        let given_up = loop {
            attempts += 1;
            postbox.wait_for_attempts(attempts).await;
            let hook = loop {
                let hook = process.find_hook(&local_run_address(run), "h").await.unwrap().unwrap();
                if hook.attempts as usize == attempts || hook.due.is_none() {
                    break hook;
                }
                tokio::task::yield_now().await;
            };
            match hook.due {
                Some(due) => process.clock.advance_to(due),
                None => break hook,
            }
        };
        assert_eq!(process.clock.now(), begun + DAY, "the last attempt ends the day");
        assert!((100..250).contains(&attempts), "{attempts} attempts");
        let newest = process.current_run_view(&local_run_address(run)).await.unwrap().seq;
        assert_eq!((given_up.delivered_through, given_up.attempts), (newest, 0));
        postbox.set_verdict(|_| Ok(()));
        process.deliver_message(answer_delivery(run, "answer", json!(7))).await.unwrap();
        wait_until_ended(&process, run).await;
        process.wait_until_quiet().await;
        assert_eq!(postbox.delivered_lines(run, "h"), AFTER);
    });
}

/// Proves X6: what is refused is not tried again; the next update is.
#[test]
fn a_refused_delivery_is_not_repeated() {
    let (world, postbox) = (TestWorld::with_memory_store(), Arc::new(RecordingMessenger::new()));
    postbox.set_verdict(|_| Err(HookDeliveryError::Refused { reason: "a private address".to_owned() }));
    world.run_to_completion(setup(&postbox), async |process| {
        let run = start(&process, "talks", Value::Null, None).await;
        wait_until_idle(&process, run).await;
        process.set_hook(&local_run_address(run), new_test_hook("h")).await.unwrap();
        process.deliver_message(answer_delivery(run, "answer", json!("wrong"))).await.unwrap();
        wait_until_delivered(&process, run, "h").await;
        process.clock.advance(DAY);
        process.wait_until_quiet().await;
        assert_eq!(postbox.all_attempts().len(), 1);
        process.deliver_message(answer_delivery(run, "again", json!("wrong"))).await.unwrap();
        postbox.wait_for_attempts(2).await;
    });
}

/// Proves X2: a messenger that panics has not delivered, and takes nothing with it.
#[test]
fn a_panic_is_a_failed_attempt() {
    let (world, postbox) = (TestWorld::with_memory_store(), Arc::new(RecordingMessenger::new()));
    let mut first = true;
    postbox.set_verdict(move |_| match std::mem::take(&mut first) {
        true => std::panic::resume_unwind(Box::new("a fault of the messenger")),
        false => Ok(()),
    });
    world.run_to_completion(setup(&postbox), async |process| {
        let run = start(&process, "counts", json!(1), Some(new_test_hook("h"))).await;
        wait_until_ended(&process, run).await;
        let hook = wait_for_failures(&process, run, "h", 1).await;
        process.clock.advance_to(hook.due.unwrap());
        process.wait_until_quiet().await;
        assert_eq!(postbox.delivered_lines(run, "h").len(), 4);
    });
}

/// Proves X2: a hook that is set again immediately delivers to its new target what the old one missed.
#[test]
fn a_new_target_takes_over_what_was_not_told() {
    let (world, postbox) = (TestWorld::with_sqlite_store(), Arc::new(RecordingMessenger::new()));
    postbox.set_verdict(|letter| if letter.target["to"] == "h" { receiver_down() } else { Ok(()) });
    world.run_to_completion(setup(&postbox), async |process| {
        let run = start(&process, "talks", Value::Null, Some(new_test_hook("h"))).await;
        wait_until_idle(&process, run).await;
        wait_for_failures(&process, run, "h", 1).await;
        let target = trackway_ports::HookTarget(json!({"to": "elsewhere"}));
        let anew = NewHook { id: Some("h".to_owned()), target };
        process.set_hook(&local_run_address(run), anew).await.unwrap();
        process.wait_until_quiet().await;
        assert_eq!(postbox.delivered_lines(run, "h"), BEFORE);
        assert_eq!(process.list_hooks(&local_run_address(run)).await.unwrap().len(), 1);
    });
}
