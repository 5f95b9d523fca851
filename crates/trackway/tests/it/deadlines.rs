//! The deadline of a whole run, in each state that the run can be in.

use std::time::Duration;

use serde_json::Value;
use trackway_domain::StateName;
use trackway_testkit::{ProcessSetup, TestWorld, local_run_address};

use crate::support::{Probe, answer, start, start_as, visible_updates, wait_until_ended, wait_until_idle};

const MINUTE: Duration = Duration::from_secs(60);

workflow!(Hurries, "hurries", "1", Some(MINUTE), |probe, ctx, what: String| -> () {
    let _gone = probe.guard("gone");
    match what.as_str() {
        "submitted" => {
            probe.mark("running");
            std::future::pending().await
        }
        "working" => {
            ctx.status("working").await;
            ctx.step("for ever", |_| async {
                probe.mark("stepping");
                std::future::pending::<Result<(), std::io::Error>>().await
            })
            .await?;
        }
        "asking" => ctx.ask::<()>("Well?").await,
        "authorizing" => ctx.authorize::<()>("Well?").await,
        "sleeping" => ctx.sleep(2 * MINUTE).await,
        "ending" => return Ok(()),
        _ => {}
    }
    Ok(())
});

/// Proves L10, L12, X2.
#[test]
fn a_run_that_has_not_ended_by_its_deadline_fails_whatever_it_does() {
    let expected: [(&str, &[&str]); 5] = [
        ("submitted", &["submitted"]),
        ("working", &["submitted", "working", "working: working"]),
        ("asking", &["submitted", "working", "input-required: Well?", "working"]),
        ("authorizing", &["submitted", "working", "auth-required: Well?", "working"]),
        ("sleeping", &["submitted", "working"]),
    ];
    for (what, before) in expected {
        let (world, probe) = (TestWorld::with_memory_store(), Probe::new());
        let setup = ProcessSetup { recover: false, ..registry![Hurries(probe.clone())].into() };
        world.run_to_completion(setup, async |process| {
            let run = start(&process, "hurries", what).await;
            match what {
                "submitted" => probe.wait_for_mark("running", 1).await,
                "working" => probe.wait_for_mark("stepping", 1).await,
                "asking" | "authorizing" | "sleeping" => probe.wait_for_mark("gone", 1).await,
                _ => {}
            }
            process.clock.advance(MINUTE);
            wait_until_ended(&process, run).await;
            let mut expected: Vec<_> = before.iter().map(|line| (*line).to_owned()).collect();
            expected.push("failed: the run's deadline has passed.".into());
            assert_eq!(visible_updates(&process, run).await, expected, "{what}");
            process.wait_until_quiet().await;
            assert_eq!(probe.count("gone"), 1, "{what}: the program is dropped");
        });
    }
}

/// Proves L10, X2.
#[test]
fn a_deadline_that_passes_while_no_process_runs_fails_the_run_at_the_next_start() {
    let world = TestWorld::with_sqlite_store();
    let run = world.run_to_completion(registry![Hurries(Probe::new())], async |process| {
        let run = start(&process, "hurries", "asking").await;
        wait_until_idle(&process, run).await;
        run
    });
    world.clock.advance(MINUTE);
    world.run_to_completion(registry![Hurries(Probe::new())], async |process| {
        assert_eq!(wait_until_ended(&process, run).await.state, StateName::Failed);
        let late = answer(&process, run, "late", Value::Null).await;
        assert!(matches!(late, Err(trackway_runtime::Error::Ended { .. })), "{late:?}");
    });
}

/// Proves L10, L13.
#[test]
fn the_deadline_of_a_run_that_has_ended_does_nothing() {
    let world = TestWorld::with_memory_store();
    world.run_to_completion(registry![Hurries(Probe::new())], async |process| {
        let run = start_as(&process, "m", "hurries", "ending").await.unwrap().view.submission.run;
        wait_until_ended(&process, run).await;
        process.clock.advance(MINUTE);
        // A run that is started now sees its own deadline only.
        let other = start(&process, "hurries", "asking").await;
        wait_until_idle(&process, other).await;
        process.clock.advance(MINUTE);
        wait_until_ended(&process, other).await;
        assert_eq!(visible_updates(&process, run).await, ["submitted", "working", "completed."]);
        assert_eq!(
            process.current_run_view(&local_run_address(run)).await.unwrap().state,
            StateName::Completed
        );
    });
}
