//! The deadline of a whole run, in each state that the run can be in.

use std::time::Duration;

use serde_json::Value;
use trackway_domain::StateName;
use trackway_testkit::{Setup, World, at};

use crate::kit::{Probe, answer, ended, settled, start, start_as, told};

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
        let (world, probe) = (World::memory(), Probe::new());
        let setup = Setup { recover: false, ..registry![Hurries(probe.clone())].into() };
        world.run(setup, async |process| {
            let run = start(&process, "hurries", what).await;
            match what {
                "submitted" => probe.until("running", 1).await,
                "working" => probe.until("stepping", 1).await,
                "asking" | "authorizing" | "sleeping" => probe.until("gone", 1).await,
                _ => {}
            }
            process.clock.advance(MINUTE);
            ended(&process, run).await;
            let mut expected: Vec<_> = before.iter().map(|line| (*line).to_owned()).collect();
            expected.push("failed: the run's deadline has passed.".into());
            assert_eq!(told(&process, run).await, expected, "{what}");
            process.quiet().await;
            assert_eq!(probe.count("gone"), 1, "{what}: the program is dropped");
        });
    }
}

/// Proves L10, X2.
#[test]
fn a_deadline_that_passes_while_no_process_runs_fails_the_run_at_the_next_start() {
    let world = World::sqlite();
    let run = world.run(registry![Hurries(Probe::new())], async |process| {
        let run = start(&process, "hurries", "asking").await;
        settled(&process, run).await;
        run
    });
    world.clock.advance(MINUTE);
    world.run(registry![Hurries(Probe::new())], async |process| {
        assert_eq!(ended(&process, run).await.state, StateName::Failed);
        let late = answer(&process, run, "late", Value::Null).await;
        assert!(matches!(late, Err(trackway_runtime::Error::Ended { .. })), "{late:?}");
    });
}

/// Proves L10, L13.
#[test]
fn the_deadline_of_a_run_that_has_ended_does_nothing() {
    let world = World::memory();
    world.run(registry![Hurries(Probe::new())], async |process| {
        let run = start_as(&process, "m", "hurries", "ending").await.unwrap().view.submission.run;
        ended(&process, run).await;
        process.clock.advance(MINUTE);
        // A run that is started now sees its own deadline only.
        let other = start(&process, "hurries", "asking").await;
        settled(&process, other).await;
        process.clock.advance(MINUTE);
        ended(&process, other).await;
        assert_eq!(told(&process, run).await, ["submitted", "working", "completed."]);
        assert_eq!(process.view(&at(run)).await.unwrap().state, StateName::Completed);
    });
}
