//! Children at the moment of their start: with a cancel, a failing parent, or a reader at that moment.

use std::sync::Arc;

use serde_json::{Value, json};
use trackway::Stop;
use trackway_domain::StateName;
use trackway_testkit::{Gate, Setup, World, at};

use super::{Doubles, Generations, Parent, child_of};
use crate::kit::{Probe, answer, ended, log, settled, start, told, until};

workflow!(Prepared, "prepared", |_probe, ctx, _input: Value| -> () {
    ctx.step("prepare", |_| async { Ok::<_, std::io::Error>(()) }).await?;
    ctx.child_named::<()>("generations", json!(0)).await?.output().await.ok();
    Ok(())
});

/// Proves L10, L17.
#[test]
fn a_child_that_is_just_being_started_is_cancelled_with_its_parent() {
    let (world, probe) = (World::memory(), Probe::new());
    let gate = Arc::new(Gate::new());
    let setup =
        Setup::from(registry![Generations(probe.clone()), Prepared(probe)]).tap(gate.clone());
    world.run(setup, async |process| {
        gate.hold(|append| !append.starts.is_empty() || !append.outbox.is_empty());
        let run = start(&process, "prepared", Value::Null).await;
        gate.withheld(1).await;
        let canceling = tokio::spawn({
            let process = process.clone();
            async move { process.cancel(&at(run)).await }
        });
        gate.withheld(2).await;
        gate.release();
        canceling.await.unwrap().unwrap();
        process.quiet().await;
        let rows = process.runs(Default::default(), None, 10).await.unwrap();
        assert_eq!(rows.len(), 2);
        for row in rows {
            assert_eq!(row.state, StateName::Canceled);
        }
    });
}

workflow!(Hasty, "hasty", |_probe, ctx, how: String| -> () {
    let child = ctx.child_named::<Value>("doubles", json!({"number": 99})).await?;
    drop(child);
    match how.as_str() {
        "fails" => Err(Stop::failed("f")),
        "rejects" => trackway::reject("no").map(|never| match never {}),
        _ => Ok(()),
    }
});

/// Proves L17: what a parent's message refers to is there, whatever becomes of the parent.
#[test]
fn a_child_that_was_announced_exists_even_where_its_parent_ends_at_once() {
    for how in ["fails", "rejects", "completes"] {
        let (world, probe) = (World::sqlite(), Probe::new());
        world.run(registry![Doubles(probe.clone()), Hasty(probe)], async |process| {
            let run = start(&process, "hasty", how).await;
            let seen = until(&process, run, |event| child_of(event).is_some()).await;
            let child = child_of(&seen.event).unwrap();
            let view = process.view(&at(child)).await.unwrap();
            assert_eq!(view.submission.parent, Some(run), "it exists when it is announced");
            let parent = ended(&process, run).await;
            let announced: Vec<_> = parent.history().flat_map(|it| it.references.clone()).collect();
            assert_eq!(announced, [child.to_string()]);
            if how == "completes" {
                settled(&process, child).await;
                answer(&process, child, "a", json!({"number": 1})).await.unwrap();
                assert_eq!(ended(&process, child).await.state, StateName::Completed);
            } else {
                ended(&process, child).await;
                assert_eq!(told(&process, child).await.last().unwrap(), "canceled.");
            }
            process.quiet().await;
        });
    }
}

/// Proves L8, L17, X5.
///
/// A reader that knows a child's id looks for it before the append that starts it is durable. The child
/// exists as soon as the append is durable, and its log and its view agree.
#[test]
fn a_child_can_be_looked_at_while_it_is_being_started() {
    let (world, probe) = (World::memory(), Probe::new());
    let gate = Arc::new(Gate::new());
    let setup = Setup::from(registry![Doubles(probe.clone()), Parent(probe)]).tap(gate.clone());
    world.run(setup, async |process| {
        gate.hold(|append| !append.starts.is_empty());
        let starting = tokio::spawn({
            let process = process.clone();
            async move { start(&process, "parent", json!([99])).await }
        });
        gate.withheld(1).await;
        let child = gate.peek(|append| append.events.iter().find_map(child_of)).unwrap();
        let looking = tokio::spawn({
            let process = process.clone();
            async move { process.view(&at(child)).await }
        });
        tokio::task::yield_now().await;
        assert!(!looking.is_finished(), "nothing is shown before it is committed");
        gate.release();
        let run = starting.await.unwrap();
        assert_eq!(looking.await.unwrap().unwrap().submission.run, child);
        settled(&process, child).await;
        let log = log(&process, child).await;
        let view = process.view(&at(child)).await.unwrap();
        assert_eq!((view.seq as usize, view.pos), (log.len(), log.last().unwrap().pos));
        let mut watch = process.watch(&at(child), 0).await.unwrap();
        for stored in log {
            assert_eq!(watch.next().await.unwrap().unwrap(), stored);
        }
        answer(&process, child, "a", json!({"number": 1})).await.unwrap();
        assert_eq!(ended(&process, run).await.state, StateName::Completed);
    });
}
