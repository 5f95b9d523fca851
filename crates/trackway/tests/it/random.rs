//! Random commands against random programs in processes that die at random: whatever happens, every run
//! ends once, nothing that was acknowledged is lost, and nothing that was recorded is done again.
//!
//! Everything is drawn from a seed; a failure names it.

mod chaos;

use std::{io, time::Duration};

use futures_util::future::Either;
use serde_json::{Value, json};
use trackway::{Artifact, reject};
use trackway_testkit::TestWorld;

use self::chaos::Chaos;

const SECOND: Duration = Duration::from_secs(1);

// Does what its plan says, number by number.
workflow!(Wild, "wild", |probe, ctx, plan: Vec<u64>| -> Value {
    let mut children = Vec::new();
    for (place, what) in plan.iter().enumerate() {
        let step = || {
            ctx.step("step", |attempt| async move {
                probe.mark(attempt.idempotency_key);
                tokio::task::yield_now().await;
                Ok::<_, io::Error>(())
            })
        };
        match what % 8 {
            0 => ctx.status(format!("at {place}")).await,
            1 => ctx.artifact(Artifact::text("log.txt", place.to_string())?.extend()).await,
            2 => step().await?,
            3 => ctx.sleep(SECOND * (*what as u32 % 100)).await,
            4 => drop(ctx.ask::<u64>("How many?").await),
            5 => {
                let asked = ctx.ask::<bool>("Quick?").into_future();
                if let Either::Right(()) = ctx.select(asked, ctx.sleep(30 * SECOND)).await {
                    ctx.status("too late").await;
                }
            }
            6 => {
                let rest: Vec<_> = plan[place + 1..].iter().copied().take(3).collect();
                children.push(ctx.child_named::<Value>("wild", json!(rest)).await?);
            }
            _ => {
                let (done, ()) = ctx.join(step().into_future(), ctx.sleep(SECOND)).await;
                done?;
            }
        }
    }
    let outcomes = ctx.join_all(children.into_iter().map(|child| child.outcome())).await;
    match plan.iter().sum::<u64>() % 5 {
        0 => reject("the plan says so").map(|never| match never {}),
        1 => Err(io::Error::other("the plan says so").into()),
        _ => Ok(json!(outcomes)),
    }
});

fn holds(world: TestWorld, seed: u64) {
    let failed = std::panic::catch_unwind(|| {
        let mut chaos = Chaos::new(world, seed);
        for _ in 0..4 {
            chaos.process(|probe| registry![Wild(probe)]);
        }
        chaos.end(|probe| registry![Wild(probe)]);
    });
    if let Err(panic) = failed {
        eprintln!("seed {seed}");
        std::panic::resume_unwind(panic);
    }
}

/// Proves L8, L10, L13, L17, X2.
#[test]
fn whatever_happens_in_memory_every_run_ends_once_and_nothing_is_lost() {
    for seed in 0..60 {
        holds(TestWorld::with_memory_store(), seed);
    }
}

/// Proves L8, L10, L13, L17, X2.
#[test]
fn whatever_happens_on_disk_every_run_ends_once_and_nothing_is_lost() {
    for seed in 1_000..1_030 {
        holds(TestWorld::with_sqlite_store(), seed);
    }
}
