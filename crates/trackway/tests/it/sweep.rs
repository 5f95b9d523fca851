//! Every verb of the context, cancelling and deadlines, swept through a crash at every fault point. The
//! programs that come with Trackway are swept in its own crate.

use std::{io, path::Path, time::Duration};

use futures_util::future::Either;
use serde_json::{Value, json};
use trackway::{Artifact, RetryPolicy, reject};
use trackway_runtime::Registry;
use trackway_testkit::{Guest, Store, Subject, sweep, sweep_again};

use crate::kit::Probe;

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);

/// A side effect.
async fn does(probe: &Probe, key: String) -> io::Result<String> {
    probe.enter(&key);
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
        does(probe, attempt.idempotency_key).await
    });
    let charged = charged.retry(policy).await?;
    ctx.artifact(Artifact::text("a.txt", "two")?.finish()).await;
    ctx.sleep(SECOND).await;
    let form: Value = ctx.ask("Anything?").artifact(Artifact::data("form.json", json!({}))?).await;
    ctx.status(format!("rnd_{number:032x} {charged} {form}")).await;
    Ok(json!([form, ctx.now().await.since(moment).as_millis() as u64]))
});

workflow!(Juggles, "juggles", |probe, ctx, _input: Value| -> Value {
    let left = ctx.step("left", |attempt| does(probe, attempt.idempotency_key)).into_future();
    let right = ctx.step("right", |attempt| does(probe, attempt.idempotency_key)).into_future();
    let ((left, right), ()) = ctx.join(ctx.join(left, right), ctx.sleep(SECOND)).await;
    ctx.status(format!("{} {}", left?, right?)).await;
    // Nobody answers, so the timer wins.
    let quick = match ctx.select(ctx.ask::<u32>("Quick?").into_future(), ctx.sleep(MINUTE)).await {
        Either::Left(answer) => json!(answer),
        Either::Right(()) => json!("too late"),
    };
    let both = ctx.join(
        ctx.ask::<String>("One?").into_future(),
        ctx.authorize::<String>("Two?").into_future(),
    );
    let (one, two) = both.await;
    ctx.step("end", |attempt| does(probe, attempt.idempotency_key)).await?;
    Ok(json!([quick, one, two]))
});

workflow!(Raises, "raises", |probe, ctx, generations: u32| -> Value {
    ctx.status(format!("{generations} to go")).await;
    if generations == 0 {
        let answer: bool = ctx.ask("Shall I?").await;
        if !answer {
            reject("never")?;
        }
        let key = ctx.step("work", |attempt| does(probe, attempt.idempotency_key)).await?;
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
    ctx.step("work", |attempt| does(probe, attempt.idempotency_key)).await?;
    ctx.ask::<()>("Well?").await;
    Ok(())
});

fn programs(outside: &Path) -> Registry {
    let probe = Probe::writing(outside.join("ledger.txt"));
    registry![
        Says(probe.clone()),
        Juggles(probe.clone()),
        Raises(probe.clone()),
        Holds(probe.clone()),
        Hurries(probe),
    ]
}

fn subject(workflow: &str, input: Value) -> Subject {
    let answers = |workflow: &str, question: usize| match (workflow, question) {
        ("says", 0) => vec![json!({"any": "thing"})],
        ("juggles", 1) => vec![json!(1), json!("one")],
        ("juggles", 2) => vec![json!("two")],
        ("raises", 0) => vec![json!(true)],
        _ => Vec::new(),
    };
    Subject::new(Guest::new(workflow, input).answers(answers).patience(MINUTE), programs)
}

/// Proves L3, L4, L5, L8, L13, X2.
#[test]
fn a_program_that_says_and_does_everything_survives_a_crash_anywhere() {
    let says = subject("says", Value::Null);
    sweep(&says, Store::Sqlite);
    sweep(&says, Store::Memory);
    sweep_again(&says, Store::Sqlite, 0..30);
}

/// Proves L8, L12, L13, L14, X2.
#[test]
fn a_program_that_does_several_things_at_once_survives_a_crash_anywhere() {
    let juggles = subject("juggles", Value::Null);
    sweep(&juggles, Store::Sqlite);
    sweep(&juggles, Store::Memory);
    sweep_again(&juggles, Store::Memory, 0..60);
}

/// Proves L8, L13, L17, X2.
#[test]
fn a_program_with_children_and_theirs_survives_a_crash_anywhere() {
    let raises = subject("raises", json!(2));
    sweep(&raises, Store::Sqlite);
    sweep_again(&raises, Store::Memory, 0..60);
}

/// Proves L8, L10, L13, L17, X2.
#[test]
fn a_cancelled_family_survives_a_crash_anywhere() {
    let mut holds = subject("holds", json!(2));
    holds.guest = holds.guest.cancels_at("cancel me");
    holds.children_alike = false;
    sweep(&holds, Store::Sqlite);
    sweep(&holds, Store::Memory);
    sweep_again(&holds, Store::Memory, 0..60);
}

/// Proves L8, L10, L13, X2.
#[test]
fn a_deadline_survives_a_crash_anywhere() {
    let hurries = subject("hurries", Value::Null);
    sweep(&hurries, Store::Sqlite);
    sweep(&hurries, Store::Memory);
    sweep_again(&hurries, Store::Sqlite, 0..30);
}
