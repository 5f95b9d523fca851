//! The same message sent twice counts once, whenever the second arrives.

use futures_util::future::join_all;
use serde_json::{Value, json};
use trackway_domain::StateName;
use trackway_engine::MessageDeliveryOutcome;
use trackway_runtime::Error;
use trackway_testkit::{ProcessSetup, TestWorld};

use crate::support::{Probe, answer, event_names, start, start_as, wait_until_ended, wait_until_idle};

workflow!(Pays, "pays", |probe, ctx, _input: Value| -> u32 {
    let amount: u32 = ctx.ask("How much?").await;
    ctx.step("pay", |_| async {
        probe.mark(format!("paid {amount}"));
        Ok::<_, std::io::Error>(())
    })
    .await?;
    let tip: u32 = ctx.ask("And a tip?").await;
    Ok(amount + tip)
});

/// Proves L13, X2.
#[test]
fn a_start_that_is_sent_twice_starts_one_run_also_after_a_restart() {
    let (world, probe) = (TestWorld::with_sqlite_store(), Probe::new());
    let run = world.run_to_completion(registry![Pays(probe.clone())], async |process| {
        let first = start_as(&process, "s", "pays", json!(1)).await.unwrap();
        let again = start_as(&process, "s", "pays", json!(1)).await.unwrap();
        assert_eq!((first.is_repeat, again.is_repeat), (false, true));
        assert_eq!(first.view.submission, again.view.submission);
        let other = start_as(&process, "s", "pays", json!(2)).await;
        assert!(matches!(other, Err(Error::MessageReused { .. })), "{other:?}");
        first.view.submission.run
    });
    world.run_to_completion(registry![Pays(probe)], async |process| {
        let again = start_as(&process, "s", "pays", json!(1)).await.unwrap();
        assert!(again.is_repeat);
        assert_eq!(again.view.submission.run, run);
        let other = start_as(&process, "s", "pays", json!(2)).await;
        assert!(matches!(other, Err(Error::MessageReused { .. })), "{other:?}");
        assert_eq!(process.list_runs(Default::default(), None, 9).await.unwrap().len(), 1);
    });
}

workflow!(Reserves, "reserves", |probe, ctx, _input: Value| -> () {
    ctx.step("reserve", |_| async {
        probe.mark("reserved");
        Ok::<_, std::io::Error>(())
    })
    .await
    .map_err(Into::into)
});

/// Proves L13. Every one of them is begun before it is known which is the first; none but that does
/// anything.
#[test]
fn a_start_that_is_sent_many_times_at_once_starts_one_run() {
    for world in [TestWorld::with_sqlite_store(), TestWorld::with_memory_store()] {
        let probe = Probe::new();
        let setup = ProcessSetup { recover: false, ..registry![Reserves(probe.clone())].into() };
        world.run_to_completion(setup, async |process| {
            let process = &process;
            let starts = (0..32).map(|_| start_as(process, "s", "reserves", json!(1)));
            let started: Vec<_> = join_all(starts).await.into_iter().map(Result::unwrap).collect();
            let run = started[0].view.submission.run;
            assert!(started.iter().all(|one| one.view.submission.run == run));
            assert_eq!(started.iter().filter(|one| !one.is_repeat).count(), 1);
            // Each answer keeps its run in memory.
            drop(started);
            wait_until_ended(process, run).await;
            process.wait_until_quiet().await;
            assert_eq!(process.list_runs(Default::default(), None, 9).await.unwrap().len(), 1);
        });
        assert_eq!(probe.count("reserved"), 1);
    }
}

/// Proves L13, L16, X2.
#[test]
fn an_answer_that_is_sent_twice_resumes_once_and_is_answered_the_same() {
    let (world, probe) = (TestWorld::with_sqlite_store(), Probe::new());
    let (run, told) = world.run_to_completion(registry![Pays(probe.clone())], async |process| {
        let run = start(&process, "pays", Value::Null).await;
        wait_until_idle(&process, run).await;
        let wrong = answer(&process, run, "wrong", "much").await.unwrap();
        let first = answer(&process, run, "a", 5).await.unwrap();
        // The next question is already open, and 5 would be a valid tip.
        wait_until_idle(&process, run).await;
        let again = answer(&process, run, "a", 5).await.unwrap();
        assert!(!first.is_repeat && again.is_repeat);
        assert_eq!(first.delivered, again.delivered);
        let again = answer(&process, run, "wrong", "much").await.unwrap();
        assert_eq!(wrong.delivered, again.delivered);
        let other = answer(&process, run, "a", 6).await;
        assert!(matches!(other, Err(Error::MessageReused { .. })), "{other:?}");
        (run, first.delivered)
    });
    world.run_to_completion(registry![Pays(probe.clone())], async |process| {
        let again = answer(&process, run, "a", 5).await.unwrap();
        assert!(again.is_repeat);
        assert_eq!(again.delivered, told);
        assert_eq!(again.view.state, StateName::InputRequired, "the tip is still open");
        answer(&process, run, "tip", 1).await.unwrap();
        assert_eq!(wait_until_ended(&process, run).await.output, json!(6));
        let again = answer(&process, run, "a", 5).await.unwrap();
        assert_eq!(again.delivered, told, "also after the end");
        let resumed = event_names(&process, run).await;
        assert_eq!(resumed.iter().filter(|name| **name == "resumed").count(), 2);
    });
    assert_eq!(probe.count("paid 5"), 1);
}

/// Proves L13, L16.
#[test]
fn an_answer_that_is_sent_many_times_at_once_is_one_request() {
    for world in [TestWorld::with_sqlite_store(), TestWorld::with_memory_store()] {
        world.run_to_completion(registry![Pays(Probe::new())], async |process| {
            let run = start(&process, "pays", Value::Null).await;
            wait_until_idle(&process, run).await;
            let process = &process;
            let sent = join_all((0..32).map(|_| answer(process, run, "a", 5))).await;
            let sent: Vec<_> = sent.into_iter().map(Result::unwrap).collect();
            assert!(sent.iter().all(|one| one.delivered == sent[0].delivered));
            assert_eq!(sent.iter().filter(|one| !one.is_repeat).count(), 1);
            let MessageDeliveryOutcome::Answer { order, primary, .. } = sent[0].delivered else { panic!() };
            assert_eq!((order, primary), (1, true));
            let all = event_names(process, run).await;
            assert_eq!(all.iter().filter(|name| **name == "resumed" || **name == "late-answer").count(), 1);
        });
    }
}

/// Proves L13, X5.
#[test]
fn a_message_id_belongs_to_the_run_that_it_was_first_sent_to() {
    TestWorld::with_memory_store().run_to_completion(registry![Pays(Probe::new())], async |process| {
        let (one, two) =
            (start(&process, "pays", Value::Null).await, start(&process, "pays", Value::Null).await);
        for run in [one, two] {
            wait_until_idle(&process, run).await;
        }
        answer(&process, one, "a", 5).await.unwrap();
        let reused = answer(&process, two, "a", 5).await;
        assert!(matches!(reused, Err(Error::MessageReused { run, .. }) if run == one), "{reused:?}");
        assert_eq!(wait_until_idle(&process, two).await.state, StateName::InputRequired);
        // Sent to both at once, one of them takes it.
        let both = futures_util::future::join(answer(&process, one, "b", 5), answer(&process, two, "b", 5));
        let (first, second) = both.await;
        assert_ne!(first.is_ok(), second.is_ok());
        let refused = first.err().or(second.err()).unwrap();
        assert!(matches!(refused, Error::MessageReused { .. }), "{refused}");
    });
}

/// Proves X5.
#[test]
fn what_cannot_be_started_leaves_nothing_behind() {
    TestWorld::with_memory_store().run_to_completion(registry![Pays(Probe::new())], async |process| {
        let unknown = start_as(&process, "u", "prays", Value::Null).await;
        let Err(Error::UnknownWorkflow { known, .. }) = unknown else { panic!("{unknown:?}") };
        assert_eq!(known, ["pays"]);
        let deep = (0..200).fold(json!(1), |inner, _| json!([inner]));
        let deep = start_as(&process, "d", "pays", deep).await;
        assert!(matches!(deep, Err(Error::InvalidInput { .. })), "{deep:?}");
        assert_eq!(process.list_runs(Default::default(), None, 9).await.unwrap(), []);
        // The id of a message that was refused is still free.
        start_as(&process, "d", "pays", Value::Null).await.unwrap();
    });
}
