//! Children at the moment of their start: with a cancel, a failing parent, or a reader at that moment.

use std::sync::Arc;

use serde_json::{Value, json};
use trackway::Stop;
use trackway_domain::StateName;
use trackway_testkit::{PausingInterceptor, ProcessSetup, TestWorld, local_run_address};

use super::{Doubles, Generations, Parent, child_of};
use crate::support::{
    Probe, answer, load_log, start, visible_updates, wait_for_event, wait_until_ended, wait_until_idle,
};

workflow!(Prepared, "prepared", |_probe, ctx, _input: Value| -> () {
    ctx.step("prepare", |_| async { Ok::<_, std::io::Error>(()) }).await?;
    ctx.child_named::<()>("generations", json!(0)).await?.output().await.ok();
    Ok(())
});

/// Proves L10, L17.
#[test]
fn a_child_that_is_just_being_started_is_cancelled_with_its_parent() {
    let (world, probe) = (TestWorld::with_memory_store(), Probe::new());
    let gate = Arc::new(PausingInterceptor::new());
    let setup = ProcessSetup::from(registry![Generations(probe.clone()), Prepared(probe)])
        .with_interceptor(gate.clone());
    world.run_to_completion(setup, async |process| {
        gate.pause_appends(|append| !append.started_runs.is_empty() || !append.outbox_changes.is_empty());
        let run = start(&process, "prepared", Value::Null).await;
        gate.wait_for_paused_appends(1).await;
        let canceling = tokio::spawn({
            let process = process.clone();
            async move { process.cancel_run(&local_run_address(run)).await }
        });
        gate.wait_for_paused_appends(2).await;
        gate.resume_appends();
        canceling.await.unwrap().unwrap();
        process.wait_until_quiet().await;
        let rows = process.list_runs(Default::default(), None, 10).await.unwrap();
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
        let (world, probe) = (TestWorld::with_sqlite_store(), Probe::new());
        world.run_to_completion(registry![Doubles(probe.clone()), Hasty(probe)], async |process| {
            let run = start(&process, "hasty", how).await;
            let seen = wait_for_event(&process, run, |event| child_of(event).is_some()).await;
            let child = child_of(&seen.event).unwrap();
            let view = process.current_run_view(&local_run_address(child)).await.unwrap();
            assert_eq!(view.submission.parent, Some(run), "it exists when it is announced");
            let parent = wait_until_ended(&process, run).await;
            let announced: Vec<_> = parent.message_history().flat_map(|it| it.references.clone()).collect();
            assert_eq!(announced, [child.to_string()]);
            if how == "completes" {
                wait_until_idle(&process, child).await;
                answer(&process, child, "a", json!({"number": 1})).await.unwrap();
                assert_eq!(wait_until_ended(&process, child).await.state, StateName::Completed);
            } else {
                wait_until_ended(&process, child).await;
                assert_eq!(visible_updates(&process, child).await.last().unwrap(), "canceled.");
            }
            process.wait_until_quiet().await;
        });
    }
}

/// Proves L8, L17, X5.
///
/// A reader that knows a child's id looks for it before the append that starts it is durable. The child
/// exists as soon as the append is durable, and its log and its view agree.
#[test]
fn a_child_can_be_looked_at_while_it_is_being_started() {
    let (world, probe) = (TestWorld::with_memory_store(), Probe::new());
    let gate = Arc::new(PausingInterceptor::new());
    let setup =
        ProcessSetup::from(registry![Doubles(probe.clone()), Parent(probe)]).with_interceptor(gate.clone());
    world.run_to_completion(setup, async |process| {
        gate.pause_appends(|append| !append.started_runs.is_empty());
        let starting = tokio::spawn({
            let process = process.clone();
            async move { start(&process, "parent", json!([99])).await }
        });
        gate.wait_for_paused_appends(1).await;
        let child = gate.find_in_paused_appends(|append| append.events.iter().find_map(child_of)).unwrap();
        let looking = tokio::spawn({
            let process = process.clone();
            async move { process.current_run_view(&local_run_address(child)).await }
        });
        tokio::task::yield_now().await;
        assert!(!looking.is_finished(), "nothing is shown before it is committed");
        gate.resume_appends();
        let run = starting.await.unwrap();
        assert_eq!(looking.await.unwrap().unwrap().submission.run, child);
        wait_until_idle(&process, child).await;
        let log = load_log(&process, child).await;
        let view = process.current_run_view(&local_run_address(child)).await.unwrap();
        assert_eq!((view.seq as usize, view.pos), (log.len(), log.last().unwrap().pos));
        let mut watch = process.watch_run(&local_run_address(child), 0).await.unwrap();
        for stored in log {
            assert_eq!(watch.next_event().await.unwrap().unwrap(), stored);
        }
        answer(&process, child, "a", json!({"number": 1})).await.unwrap();
        assert_eq!(wait_until_ended(&process, run).await.state, StateName::Completed);
    });
}
