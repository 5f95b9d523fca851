//! Setting, showing and removing hooks.

use tokio::sync::Semaphore;
use trackway_domain::Access;
use trackway_engine::RunView;
use trackway_ports::{Hook, HookTarget, PortFuture, StoredEvent};
use trackway_runtime::{Error, HookDeliveryError, RunAddress};

use super::*;

/// Proves X2: a hook that is set in the middle gets the later updates; a removed one gets none.
#[test]
fn a_hook_can_be_set_and_removed_at_any_time() {
    let (world, postbox) = (TestWorld::with_sqlite_store(), Arc::new(RecordingMessenger::new()));
    world.run_to_completion(setup(&postbox), async |process| {
        let run = start(&process, "talks", Value::Null, None).await;
        wait_until_idle(&process, run).await;
        let set = process.set_hook(&local_run_address(run), new_test_hook("b")).await.unwrap();
        let newest = process.current_run_view(&local_run_address(run)).await.unwrap().seq;
        assert_eq!((set.run, &*set.id, set.delivered_through, set.due), (run, "b", newest, None));
        assert_eq!(set.target, HookTarget(json!({"to": "b"})));
        let made = NewHook { id: None, target: HookTarget(Value::Null) };
        let made = process.set_hook(&local_run_address(run), made).await.unwrap().id;
        process.set_hook(&local_run_address(run), new_test_hook("a")).await.unwrap();
        let hooks = process.list_hooks(&local_run_address(run)).await.unwrap();
        let names: Vec<_> = hooks.iter().map(|hook| &*hook.id).collect();
        assert_eq!(names, ["b", &*made, "a"]);
        for _ in 0..2 {
            process.remove_hook(&local_run_address(run), "b").await.unwrap();
        }
        assert_eq!(process.find_hook(&local_run_address(run), "b").await.unwrap(), None);
        process.deliver_message(answer_delivery(run, "answer", json!(7))).await.unwrap();
        wait_until_ended(&process, run).await;
        process.wait_until_quiet().await;
        assert!(postbox.delivered_lines(run, "b").is_empty());
        assert_eq!(postbox.delivered_lines(run, "a"), AFTER);
        assert_eq!(postbox.delivered_lines(run, &made), AFTER);
        // An ended run has no more updates.
        process.set_hook(&local_run_address(run), new_test_hook("late")).await.unwrap();
        process.wait_until_quiet().await;
        assert!(postbox.delivered_lines(run, "late").is_empty());
    });
}

/// Proves X6: another tenant's run does not exist, and neither do its hooks.
#[test]
fn hooks_of_another_tenant_do_not_exist() {
    let (world, postbox) = (TestWorld::with_memory_store(), Arc::new(RecordingMessenger::new()));
    world.run_to_completion(setup(&postbox), async |process| {
        let run = start(&process, "talks", Value::Null, Some(new_test_hook("h"))).await;
        wait_until_idle(&process, run).await;
        let other =
            RunAddress { access: Access::own_only(Caller::new("other", "user")), ..local_run_address(run) };
        let elsewhere = RunAddress { workflow: Some("counts".to_owned()), ..local_run_address(run) };
        for address in [&other, &elsewhere] {
            let unknown = |error: Error| matches!(error, Error::UnknownRun { .. });
            assert!(unknown(process.set_hook(address, new_test_hook("x")).await.unwrap_err()));
            assert!(unknown(process.find_hook(address, "h").await.unwrap_err()));
            assert!(unknown(process.list_hooks(address).await.unwrap_err()));
            assert!(unknown(process.remove_hook(address, "h").await.unwrap_err()));
        }
        assert_eq!(process.list_hooks(&local_run_address(run)).await.unwrap().len(), 1);
    });
}

fn refused<T: std::fmt::Debug>(result: Result<T, Error>) -> String {
    match result.unwrap_err() {
        Error::HookRefused { reason } => reason,
        other => panic!("the hook is not what is wrong: {other}"),
    }
}

/// Proves X6: names, targets and numbers have bounds, and what is refused leaves nothing behind.
#[test]
fn a_hook_beyond_the_bounds_is_refused() {
    let (world, postbox) = (TestWorld::with_memory_store(), Arc::new(RecordingMessenger::new()));
    world.run_to_completion(setup(&postbox), async |process| {
        let run = start(&process, "talks", Value::Null, None).await;
        wait_until_idle(&process, run).await;
        let large = HookTarget(json!("x".repeat(64 * 1024)));
        let large = NewHook { id: None, target: large };
        let table = [
            (new_test_hook(""), "empty"),
            (new_test_hook(&"x".repeat(257)), "longer"),
            (new_test_hook("a\nb"), "control"),
            (large, "larger"),
        ];
        for (new, why) in table {
            let reason = refused(process.set_hook(&local_run_address(run), new.clone()).await);
            assert!(reason.contains(why), "{reason}");
            let mut answer = answer_delivery(run, "answer", json!(7));
            answer.hook = Some(new);
            assert!(refused(process.deliver_message(answer).await).contains(why));
        }
        for number in 0..100 {
            process.set_hook(&local_run_address(run), new_test_hook(&format!("{number}"))).await.unwrap();
        }
        assert!(
            refused(process.set_hook(&local_run_address(run), new_test_hook("more")).await).contains("100")
        );
        process.set_hook(&local_run_address(run), new_test_hook("7")).await.unwrap();
        assert_eq!(process.list_hooks(&local_run_address(run)).await.unwrap().len(), 100);
        let view = process.current_run_view(&local_run_address(run)).await.unwrap();
        assert_eq!(view.state, StateName::InputRequired, "no answer was taken");
    });
}

/// Proves X6: without a messenger, no hook is accepted.
#[test]
fn without_a_messenger_no_hook_can_be_set() {
    let world = TestWorld::with_memory_store();
    world.run_to_completion(registry![Talks(Probe::new())], async |process| {
        let submit = SubmitRunRequest {
            hook: Some(new_test_hook("h")),
            ..SubmitRunRequest::new("talks", Value::Null, Caller::local_without_auth())
        };
        refused(process.submit_run(submit).await);
        let run = start(&process, "talks", Value::Null, None).await;
        refused(process.set_hook(&local_run_address(run), new_test_hook("h")).await);
        assert!(process.list_hooks(&local_run_address(run)).await.unwrap().is_empty());
        process.remove_hook(&local_run_address(run), "h").await.unwrap();
    });
}

/// A receiver that takes nothing until it is opened.
#[derive(Debug)]
struct Gated {
    postbox: RecordingMessenger,
    /// One permit for each waiting delivery.
    waiting: Semaphore,
    gate: Semaphore,
}

impl HookMessenger for Gated {
    fn deliver_hook_update<'a>(
        &'a self,
        hook: &'a Hook,
        stored: &'a StoredEvent,
        view: &'a RunView,
    ) -> PortFuture<'a, Result<(), HookDeliveryError>> {
        Box::pin(async move {
            self.waiting.add_permits(1);
            let _open = self.gate.acquire().await.unwrap();
            self.postbox.deliver_hook_update(hook, stored, view).await
        })
    }
}

/// Proves X2: a hook that is set again while it is served delivers the run as it was at each update, although
/// more events than a page were skipped.
#[test]
fn a_hook_that_is_set_again_while_it_is_served_shows_the_run_as_it_is() {
    for world in worlds() {
        let (waiting, gate) = (Semaphore::new(0), Semaphore::new(0));
        let gated = Arc::new(Gated { postbox: RecordingMessenger::new(), waiting, gate });
        world.run_to_completion(setup(&gated), async |process| {
            let run = start(&process, "long", json!(200), Some(new_test_hook("h"))).await;
            drop(gated.waiting.acquire().await.unwrap());
            wait_until_idle(&process, run).await;
            process.remove_hook(&local_run_address(run), "h").await.unwrap();
            process.set_hook(&local_run_address(run), new_test_hook("h")).await.unwrap();
            process.deliver_message(answer_delivery(run, "answer", json!(7))).await.unwrap();
            wait_until_ended(&process, run).await;
            gated.gate.add_permits(1);
            process.wait_until_quiet().await;
            let lines = gated.postbox.delivered_lines(run, "h");
            assert_eq!(lines[lines.len() - 2..], ["working", "completed."]);
            let letters = gated.postbox.successful_deliveries();
            assert!(letters.iter().all(|letter| letter.view_seq == letter.seq), "{letters:?}");
        });
    }
}
