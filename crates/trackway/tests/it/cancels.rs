//! Cancelling: it reaches the running code, and every watcher sees it once.

use std::{
    future::poll_fn,
    sync::{Arc, Mutex, mpsc},
    task::Poll,
};

use serde_json::Value;
use trackway::{Ctx, Stop, Workflow};
use trackway_domain::StateName;
use trackway_runtime::Error;
use trackway_testkit::{TestWorld, local_run_address};

use crate::support::{Probe, answer, start, visible_updates, wait_until_ended, wait_until_idle};

workflow!(Endless, "endless", |probe, ctx, how: String| -> () {
    let _gone = probe.guard("gone");
    match how.as_str() {
        "step" => {
            ctx.step("for ever", |_| async {
                let _dropped = probe.guard("step dropped");
                probe.mark("running");
                std::future::pending::<Result<(), std::io::Error>>().await
            })
            .await?;
        }
        "question" => ctx.ask::<()>("Well?").await,
        "sleep" => ctx.sleep(std::time::Duration::from_secs(3_600)).await,
        _ => {
            probe.mark("running");
            std::future::pending().await
        }
    }
    probe.mark("went on");
    Ok(())
});

/// Proves L10, L13.
#[test]
fn cancelling_drops_the_running_code_and_answers_with_the_run_canceled() {
    for how in ["step", "code"] {
        let (world, probe) = (TestWorld::with_sqlite_store(), Probe::new());
        world.run_to_completion(registry![Endless(probe.clone())], async |process| {
            let run = start(&process, "endless", how).await;
            probe.wait_for_mark("running", 1).await;
            let view = process.cancel_run(&local_run_address(run)).await.unwrap();
            assert_eq!(view.state, StateName::Canceled);
            probe.wait_for_mark("gone", 1).await;
            process.wait_until_quiet().await;
            let told = visible_updates(&process, run).await;
            assert_eq!(told.last().unwrap(), "canceled.");
            assert_eq!(told.iter().filter(|line| line.ends_with('.')).count(), 1);
        });
        assert_eq!(probe.count("step dropped"), usize::from(how == "step"));
        assert_eq!(probe.count("went on"), 0);
    }
}

/// Proves L10, L13.
#[test]
fn a_waiting_run_can_be_cancelled_and_then_takes_nothing_more() {
    for how in ["question", "sleep"] {
        let (world, probe) = (TestWorld::with_sqlite_store(), Probe::new());
        world.run_to_completion(registry![Endless(probe.clone())], async |process| {
            let run = start(&process, "endless", how).await;
            probe.wait_for_mark("gone", 1).await;
            process.wait_until_quiet().await;
            assert_eq!(process.cancel_run(&local_run_address(run)).await.unwrap().state, StateName::Canceled);
            let again = process.cancel_run(&local_run_address(run)).await;
            assert!(matches!(again, Err(Error::Ended { state: StateName::Canceled, .. })));
            let late = answer(&process, run, "late", Value::Null).await;
            assert!(matches!(late, Err(Error::Ended { .. })));
            assert_eq!(visible_updates(&process, run).await.last().unwrap(), "canceled.");
            assert_eq!(process.journal.next_timer_due(Default::default()).await.unwrap(), None);
        });
        assert_eq!(probe.count("went on"), 0);
    }
}

/// A future that signals when it is polled, and blocks inside the poll.
struct Blocks {
    polled: mpsc::Sender<()>,
    go_on: Mutex<mpsc::Receiver<()>>,
    probe: Probe,
}

impl Workflow for Blocks {
    const NAME: &'static str = "blocks";
    const DESCRIPTION: &'static str = "Is in the middle of a poll when it is cancelled.";
    type Input = Value;
    type Output = ();

    async fn run(self: Arc<Self>, ctx: Ctx, _input: Value) -> Result<(), Stop> {
        let _gone = self.probe.guard("gone");
        ctx.status("soon").await;
        poll_fn(|_| {
            if self.probe.count("block") > 0 && self.probe.count("blocked") == 0 {
                self.probe.mark("blocked");
                let _ = self.polled.send(());
                let _ = self.go_on.lock().unwrap().recv();
            }
            Poll::Pending::<()>
        })
        .await;
        Ok(())
    }
}

/// Proves L10.
///
/// The stop must not be lost when it comes while the program is being polled.
#[test]
fn a_cancel_that_comes_in_the_middle_of_a_poll_reaches_the_program() {
    let probe = Probe::new();
    let (polled, was_polled) = mpsc::channel();
    let (go_on, receiver) = mpsc::channel();
    let blocks = Blocks { polled, go_on: Mutex::new(receiver), probe: probe.clone() };
    TestWorld::with_memory_store().run_to_completion(registry![blocks], async |process| {
        let run = start(&process, "blocks", Value::Null).await;
        crate::support::wait_for_event(&process, run, |event| event.event_name() == "status").await;
        probe.mark("block");
        // Only an unrelated message makes the driver poll the program.
        answer(&process, run, "m", "hello").await.unwrap();
        was_polled.recv().unwrap();
        process.cancel_run(&local_run_address(run)).await.unwrap();
        go_on.send(()).unwrap();
        probe.wait_for_mark("gone", 1).await;
        process.wait_until_quiet().await;
    });
}

/// Proves L10, L13, X2.
#[test]
fn a_cancel_that_was_acknowledged_is_kept_over_a_restart() {
    let (world, probe) = (TestWorld::with_sqlite_store(), Probe::new());
    let run = world.run_to_completion(registry![Endless(probe.clone())], async |process| {
        let run = start(&process, "endless", "step").await;
        probe.wait_for_mark("running", 1).await;
        process.cancel_run(&local_run_address(run)).await.unwrap();
        run
    });
    world.run_to_completion(registry![Endless(probe.clone())], async |process| {
        assert_eq!(wait_until_ended(&process, run).await.state, StateName::Canceled);
        process.wait_until_quiet().await;
    });
    assert_eq!(probe.count("running"), 1);
}

/// Proves L10, L13.
#[test]
fn of_many_cancels_at_once_one_cancels() {
    TestWorld::with_memory_store().run_to_completion(registry![Endless(Probe::new())], async |process| {
        let run = start(&process, "endless", "question").await;
        wait_until_idle(&process, run).await;
        let (address, process) = (local_run_address(run), &process);
        let all = futures_util::future::join_all((0..32).map(|_| process.cancel_run(&address))).await;
        assert_eq!(all.iter().filter(|result| result.is_ok()).count(), 1);
        let ended = |result: &Result<_, Error>| matches!(result, Err(Error::Ended { .. }));
        assert_eq!(all.iter().filter(|result| ended(result)).count(), 31);
        assert_eq!(visible_updates(process, run).await.iter().filter(|line| *line == "canceled.").count(), 1);
    });
}
