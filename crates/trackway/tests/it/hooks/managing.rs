//! Setting, showing and removing hooks.

use tokio::sync::Semaphore;
use trackway_domain::Access;
use trackway_engine::RunView;
use trackway_ports::{Hook, HookTarget, PortFuture, Stored};
use trackway_runtime::{Error, RunAddress, Undelivered};

use super::*;

/// Proves X2: set in the middle, told of what comes after; removed, told of nothing more.
#[test]
fn a_hook_can_be_set_and_removed_at_any_time() {
    let (world, postbox) = (World::sqlite(), Arc::new(Postbox::new()));
    world.run(setup(&postbox), async |process| {
        let run = start(&process, "talks", Value::Null, None).await;
        settled(&process, run).await;
        let set = process.set_hook(&at(run), hook("b")).await.unwrap();
        let newest = process.view(&at(run)).await.unwrap().seq;
        assert_eq!((set.run, &*set.id, set.after, set.due), (run, "b", newest, None));
        assert_eq!(set.target, HookTarget(json!({"to": "b"})));
        let made = NewHook { id: None, target: HookTarget(Value::Null) };
        let made = process.set_hook(&at(run), made).await.unwrap().id;
        process.set_hook(&at(run), hook("a")).await.unwrap();
        let hooks = process.hooks(&at(run)).await.unwrap();
        let names: Vec<_> = hooks.iter().map(|hook| &*hook.id).collect();
        assert_eq!(names, ["b", &*made, "a"]);
        for _ in 0..2 {
            process.remove_hook(&at(run), "b").await.unwrap();
        }
        assert_eq!(process.hook(&at(run), "b").await.unwrap(), None);
        process.deliver(answer_to(run, "answer", json!(7))).await.unwrap();
        ended(&process, run).await;
        process.quiet().await;
        assert!(postbox.lines(run, "b").is_empty());
        assert_eq!(postbox.lines(run, "a"), AFTER);
        assert_eq!(postbox.lines(run, &made), AFTER);
        // An ended run has no more updates.
        process.set_hook(&at(run), hook("late")).await.unwrap();
        process.quiet().await;
        assert!(postbox.lines(run, "late").is_empty());
    });
}

/// Proves X6: another tenant's run does not exist, and neither do its hooks.
#[test]
fn hooks_of_another_tenant_do_not_exist() {
    let (world, postbox) = (World::memory(), Arc::new(Postbox::new()));
    world.run(setup(&postbox), async |process| {
        let run = start(&process, "talks", Value::Null, Some(hook("h"))).await;
        settled(&process, run).await;
        let other = RunAddress { access: Access::own(Caller::new("other", "user")), ..at(run) };
        let elsewhere = RunAddress { workflow: Some("counts".to_owned()), ..at(run) };
        for address in [&other, &elsewhere] {
            let unknown = |error: Error| matches!(error, Error::UnknownRun { .. });
            assert!(unknown(process.set_hook(address, hook("x")).await.unwrap_err()));
            assert!(unknown(process.hook(address, "h").await.unwrap_err()));
            assert!(unknown(process.hooks(address).await.unwrap_err()));
            assert!(unknown(process.remove_hook(address, "h").await.unwrap_err()));
        }
        assert_eq!(process.hooks(&at(run)).await.unwrap().len(), 1);
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
    let (world, postbox) = (World::memory(), Arc::new(Postbox::new()));
    world.run(setup(&postbox), async |process| {
        let run = start(&process, "talks", Value::Null, None).await;
        settled(&process, run).await;
        let large = HookTarget(json!("x".repeat(64 * 1024)));
        let large = NewHook { id: None, target: large };
        let table = [
            (hook(""), "empty"),
            (hook(&"x".repeat(257)), "longer"),
            (hook("a\nb"), "control"),
            (large, "larger"),
        ];
        for (new, why) in table {
            let reason = refused(process.set_hook(&at(run), new.clone()).await);
            assert!(reason.contains(why), "{reason}");
            let mut answer = answer_to(run, "answer", json!(7));
            answer.hook = Some(new);
            assert!(refused(process.deliver(answer).await).contains(why));
        }
        for number in 0..100 {
            process.set_hook(&at(run), hook(&format!("{number}"))).await.unwrap();
        }
        assert!(refused(process.set_hook(&at(run), hook("more")).await).contains("100"));
        process.set_hook(&at(run), hook("7")).await.unwrap();
        assert_eq!(process.hooks(&at(run)).await.unwrap().len(), 100);
        let view = process.view(&at(run)).await.unwrap();
        assert_eq!(view.state, StateName::InputRequired, "no answer was taken");
    });
}

/// Proves X6: where nobody tells anything, nobody is promised it.
#[test]
fn without_a_messenger_no_hook_can_be_set() {
    let world = World::memory();
    world.run(registry![Talks(Probe::new())], async |process| {
        let submit = Submit {
            workflow: "talks".to_owned(),
            input: Value::Null,
            caller: Caller::local(),
            session: None,
            message: None,
            hook: Some(hook("h")),
        };
        refused(process.submit(submit).await);
        let run = start(&process, "talks", Value::Null, None).await;
        refused(process.set_hook(&at(run), hook("h")).await);
        assert!(process.hooks(&at(run)).await.unwrap().is_empty());
        process.remove_hook(&at(run), "h").await.unwrap();
    });
}

/// A receiver that takes nothing until it is opened.
#[derive(Debug)]
struct Gated {
    postbox: Postbox,
    /// One permit for each waiting delivery.
    waiting: Semaphore,
    gate: Semaphore,
}

impl Messenger for Gated {
    fn deliver<'a>(
        &'a self,
        hook: &'a Hook,
        stored: &'a Stored,
        view: &'a RunView,
    ) -> PortFuture<'a, Result<(), Undelivered>> {
        Box::pin(async move {
            self.waiting.add_permits(1);
            let _open = self.gate.acquire().await.unwrap();
            self.postbox.deliver(hook, stored, view).await
        })
    }
}

/// Proves X2: a hook that begins anew while it is served is told with the run as of each update, though
/// more events than a page were passed over.
#[test]
fn a_hook_that_is_set_again_while_it_is_served_shows_the_run_as_it_is() {
    for world in worlds() {
        let (waiting, gate) = (Semaphore::new(0), Semaphore::new(0));
        let gated = Arc::new(Gated { postbox: Postbox::new(), waiting, gate });
        world.run(setup(&gated), async |process| {
            let run = start(&process, "long", json!(200), Some(hook("h"))).await;
            drop(gated.waiting.acquire().await.unwrap());
            settled(&process, run).await;
            process.remove_hook(&at(run), "h").await.unwrap();
            process.set_hook(&at(run), hook("h")).await.unwrap();
            process.deliver(answer_to(run, "answer", json!(7))).await.unwrap();
            ended(&process, run).await;
            gated.gate.add_permits(1);
            process.quiet().await;
            let lines = gated.postbox.lines(run, "h");
            assert_eq!(lines[lines.len() - 2..], ["working", "completed."]);
            let letters = gated.postbox.letters();
            assert!(letters.iter().all(|letter| letter.view_seq == letter.seq), "{letters:?}");
        });
    }
}
