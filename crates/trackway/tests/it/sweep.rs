//! Every verb of the context, cancelling and deadlines, swept through a crash at every fault point. The
//! programs that come with Trackway are swept in its own crate.

use std::{io, path::Path, time::Duration};

use futures_util::future::Either;
use serde_json::{Value, json};
use trackway::{Artifact, RetryPolicy, reject};
use trackway_runtime::ProgramRegistry;
use trackway_testkit::{ScriptedClient, StoreKind, SweepSubject, crash_sweep, seeded_crash_sweep};

use crate::support::Probe;

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);

/// A side effect.
async fn record_side_effect(probe: &Probe, key: String) -> io::Result<String> {
    probe.append_to_ledger(&key);
    tokio::task::yield_now().await;
    Ok(key)
}

workflow!(Says, "says", |probe, ctx, _input: Value| -> Value {
    ctx.status("begins").await;
    let (moment, number) = (ctx.now().await, ctx.random().await);
    ctx.status(format!("rnd_{number:032x} at {moment}")).await;
    ctx.artifact(Artifact::text("a.txt", "one")?.begin()).await;
    let policy = RetryPolicy { attempts: 3, backoff: SECOND, ..RetryPolicy::default() };
    let charged = ctx.step("charge", |attempt| async move {
        if attempt.number == 1 {
            return Err(io::Error::other("busy"));
        }
        record_side_effect(probe, attempt.idempotency_key).await
    });
    let charged = charged.retry(policy).await?;
    ctx.artifact(Artifact::text("a.txt", "two")?.finish()).await;
    ctx.sleep(SECOND).await;
    let form: Value = ctx.ask("Anything?").artifact(Artifact::data("form.json", json!({}))?).await;
    ctx.status(format!("rnd_{number:032x} {charged} {form}")).await;
    Ok(json!([form, ctx.now().await.duration_since(moment).as_millis() as u64]))
});

workflow!(Juggles, "juggles", |probe, ctx, _input: Value| -> Value {
    let left = ctx.step("left", |attempt| record_side_effect(probe, attempt.idempotency_key)).into_future();
    let right = ctx.step("right", |attempt| record_side_effect(probe, attempt.idempotency_key)).into_future();
    let ((left, right), ()) = ctx.join(ctx.join(left, right), ctx.sleep(SECOND)).await;
    ctx.status(format!("{} {}", left?, right?)).await;
    // Nobody answers, so the timer wins.
    let quick = match ctx.select(ctx.ask::<u32>("Quick?").into_future(), ctx.sleep(MINUTE)).await {
        Either::Left(answer) => json!(answer),
        Either::Right(()) => json!("too late"),
    };
    let both =
        ctx.join(ctx.ask::<String>("One?").into_future(), ctx.authorize::<String>("Two?").into_future());
    let (one, two) = both.await;
    ctx.step("end", |attempt| record_side_effect(probe, attempt.idempotency_key)).await?;
    Ok(json!([quick, one, two]))
});

workflow!(Raises, "raises", |probe, ctx, generations: u32| -> Value {
    ctx.status(format!("{generations} to go")).await;
    if generations == 0 {
        let answer: bool = ctx.ask("Shall I?").await;
        if !answer {
            reject("never")?;
        }
        let key = ctx.step("work", |attempt| record_side_effect(probe, attempt.idempotency_key)).await?;
        return Ok(json!(key));
    }
    let unknown = ctx.child_named::<Value>("nobody", Value::Null).await.is_err();
    let heir = ctx.child_named::<Value>("raises", json!(generations - 1)).await?;
    let spare = ctx.child_named::<Value>("raises", json!(0)).await?;
    let (heir, spare) = ctx.join(heir.outcome(), spare.outcome()).await;
    Ok(json!([unknown, heir.output, spare.output, spare.message]))
});

workflow!(Holds, "holds", |probe, ctx, generations: u32| -> () {
    let _gone = probe.guard("gone");
    ctx.status("begins").await;
    if generations == 0 {
        ctx.step("for ever", |_| std::future::pending::<io::Result<()>>()).await?;
    }
    let below = ctx.child_named::<()>("holds", json!(generations - 1)).await?;
    if generations == 2 {
        ctx.status("cancel me").await;
    }
    below.output().await?;
    Ok(())
});

workflow!(Hurries, "hurries", "1", Some(MINUTE), |probe, ctx, _input: Value| -> () {
    ctx.step("work", |attempt| record_side_effect(probe, attempt.idempotency_key)).await?;
    ctx.ask::<()>("Well?").await;
    Ok(())
});

fn programs(outside: &Path) -> ProgramRegistry {
    let probe = Probe::with_ledger(outside.join("ledger.txt"));
    registry![
        Says(probe.clone()),
        Juggles(probe.clone()),
        Raises(probe.clone()),
        Holds(probe.clone()),
        Hurries(probe),
    ]
}

fn sweep_subject(workflow: &str, input: Value) -> SweepSubject {
    let answers = |workflow: &str, question: usize| match (workflow, question) {
        ("says", 0) => vec![json!({"any": "thing"})],
        ("juggles", 1) => vec![json!(1), json!("one")],
        ("juggles", 2) => vec![json!("two")],
        ("raises", 0) => vec![json!(true)],
        _ => Vec::new(),
    };
    SweepSubject::new(
        ScriptedClient::new(workflow, input).with_answers(answers).with_patience(MINUTE),
        programs,
    )
}

/// Proves L3, L4, L5, L8, L13, X2.
#[test]
fn a_program_that_says_and_does_everything_survives_a_crash_anywhere() {
    let says = sweep_subject("says", Value::Null);
    crash_sweep(&says, StoreKind::Sqlite);
    crash_sweep(&says, StoreKind::Memory);
    seeded_crash_sweep(&says, StoreKind::Sqlite, 0..30);
}

/// Proves L8, L12, L13, L14, X2.
#[test]
fn a_program_that_does_several_things_at_once_survives_a_crash_anywhere() {
    let juggles = sweep_subject("juggles", Value::Null);
    crash_sweep(&juggles, StoreKind::Sqlite);
    crash_sweep(&juggles, StoreKind::Memory);
    seeded_crash_sweep(&juggles, StoreKind::Memory, 0..60);
}

/// Proves L8, L13, L17, X2.
#[test]
fn a_program_with_children_and_theirs_survives_a_crash_anywhere() {
    let raises = sweep_subject("raises", json!(2));
    crash_sweep(&raises, StoreKind::Sqlite);
    seeded_crash_sweep(&raises, StoreKind::Memory, 0..60);
}

/// Proves L8, L10, L13, L17, X2.
#[test]
fn a_cancelled_family_survives_a_crash_anywhere() {
    let mut holds = sweep_subject("holds", json!(2));
    holds.client = holds.client.cancel_at_status("cancel me");
    holds.has_deterministic_children = false;
    crash_sweep(&holds, StoreKind::Sqlite);
    crash_sweep(&holds, StoreKind::Memory);
    seeded_crash_sweep(&holds, StoreKind::Memory, 0..60);
}

/// Proves L8, L10, L13, X2.
#[test]
fn a_deadline_survives_a_crash_anywhere() {
    let hurries = sweep_subject("hurries", Value::Null);
    crash_sweep(&hurries, StoreKind::Sqlite);
    crash_sweep(&hurries, StoreKind::Memory);
    seeded_crash_sweep(&hurries, StoreKind::Sqlite, 0..30);
}
