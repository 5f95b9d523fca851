//! Children at the moment of their start: a cancel that comes then, and somebody who looks then.

use std::sync::Arc;

use serde_json::json;
use trackway_domain::StateName;
use trackway_runtime::Error;
use trackway_testkit::{Gate, Setup, World, at};

use super::{Careless, Doubles, Generations, Parent, child_of};
use crate::kit::{Probe, answer, ended, log, settled, start, until};

/// Proves L10, L17.
#[test]
fn a_child_that_is_just_being_started_is_cancelled_with_its_parent() {
    for cancel_while_starting in [true, false] {
        let (world, probe) = (World::memory(), Probe::new());
        let gate = Arc::new(Gate::new());
        let setup = Setup::from(registry![Generations(probe.clone()), Careless(probe.clone())])
            .tap(gate.clone());
        world.run(setup, async |process| {
            // The child's own first append is withheld; or the parent's record of the start is.
            gate.hold(move |append| {
                let begins = append.expected == 0;
                let child = append.row.as_ref().is_some_and(|row| row.parent.is_some());
                if cancel_while_starting { begins && child } else { !append.outbox.is_empty() }
            });
            let run = start(&process, "careless", "waits").await;
            gate.withheld(1).await;
            let canceling = tokio::spawn({
                let process = process.clone();
                async move { process.cancel(&at(run)).await }
            });
            if cancel_while_starting {
                canceling.await.unwrap().unwrap();
                gate.release();
            } else {
                gate.withheld(2).await;
                gate.release();
                canceling.await.unwrap().unwrap();
            }
            process.quiet().await;
            for row in process.runs(Default::default(), None, 10).await.unwrap() {
                assert_eq!(row.state, StateName::Canceled);
            }
        });
        if !cancel_while_starting {
            assert_eq!(probe.count("at the bottom"), 0, "it was never started");
        }
    }
}

/// Proves L8, L17, X5.
///
/// A parent's stream names a child before the child exists: whoever looks at once must not be told
/// nonsense, and must not disturb the start.
#[test]
fn a_child_can_be_looked_at_while_it_is_being_started() {
    let (world, probe) = (World::memory(), Probe::new());
    let gate = Arc::new(Gate::new());
    let setup = Setup::from(registry![Doubles(probe.clone()), Parent(probe)]).tap(gate.clone());
    world.run(setup, async |process| {
        gate.hold(|append| {
            append.expected == 0 && append.row.as_ref().is_some_and(|row| row.parent.is_some())
        });
        let run = start(&process, "parent", json!([99])).await;
        gate.withheld(1).await;
        let child =
            child_of(&until(&process, run, |event| child_of(event).is_some()).await.event).unwrap();
        let looking = tokio::spawn({
            let process = process.clone();
            async move { process.view(&at(child)).await }
        });
        let unknown = tokio::spawn({
            let process = process.clone();
            async move {
                let mut watch = process.watch(&at(child), 0).await?;
                watch.next().await
            }
        });
        tokio::task::yield_now().await;
        gate.release();
        // Either it is not there yet, or it is; nothing else is true.
        match looking.await.unwrap() {
            Ok(view) => assert_eq!(view.submission.run, child),
            Err(error) => {
                assert!(matches!(error, Error::UnknownRun { .. }), "{error}")
            }
        }
        match unknown.await.unwrap() {
            Ok(stored) => assert_eq!(stored.unwrap().seq, 1),
            Err(error) => {
                assert!(matches!(error, Error::UnknownRun { .. }), "{error}")
            }
        }
        settled(&process, child).await;
        answer(&process, child, "a", json!({"number": 1})).await.unwrap();
        assert_eq!(ended(&process, run).await.state, StateName::Completed);
    });
}

/// Proves L8, L17, X2.
///
/// Somebody reads the child's log while it is being written for the first time: the record is in the
/// store, but the runtime has not been told yet. It must not be counted twice.
#[test]
fn a_child_that_is_started_under_a_reader_keeps_its_log_and_its_view_together() {
    let (world, probe) = (World::memory(), Probe::new());
    let gate = Arc::new(Gate::new());
    let setup = Setup::from(registry![Doubles(probe.clone()), Parent(probe)]).tap(gate.clone());
    world.run(setup, async |process| {
        gate.hold(|append| append.events.iter().any(|event| child_of(event).is_some()));
        let run = start(&process, "parent", json!([99])).await;
        gate.withheld(1).await;
        let child = gate.peek(|append| append.events.iter().find_map(child_of)).unwrap();
        gate.hold_reads(child);
        let looking = tokio::spawn({
            let process = process.clone();
            async move { process.view(&at(child)).await }
        });
        gate.reading(1).await;
        gate.hold_answers(move |append| append.run == child && append.expected == 0);
        gate.release();
        // The start must wait for the reader. If it does not, this is when it is written.
        while !process.faults.reached().contains(&"effect:errand") {
            tokio::task::yield_now().await;
        }
        let early = async {
            for _ in 0..100_000 {
                tokio::task::yield_now().await;
            }
        };
        let (written, early) = (std::pin::pin!(gate.unanswered(1)), std::pin::pin!(early));
        futures_util::future::select(written, early).await;
        gate.release_reads();
        gate.unanswered(1).await;
        gate.release_answers();
        let looked = looking.await.unwrap();
        assert!(looked.is_ok() || matches!(looked, Err(Error::UnknownRun { .. })), "{looked:?}");
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
