//! Forks of runs that the engine drives.

use std::sync::Arc;

use serde_json::json;
use trackway_domain::{RunId, Seq, StateName};
use trackway_ports::Removal;
use trackway_runtime::{CannotFork, Error};
use trackway_testkit::{CrashAt, Process, World, at, whole_log};

use super::kit::{Shelf, answer, ended, settled, start};

const TWICE: &str = r#"
id: twice
name: Twice
description: Does something, asks, and does what was answered.
version: "1"
steps:
  - { id: first, tool: { name: do, args: { what: first } } }
  - id: which
    ask: { message: "What next?", schema: { type: object, required: [what] } }
    save: next
  - { id: second, tool: { name: do, args: { what: "=next.what" } } }
"#;

async fn seqs(process: &Process, run: RunId) -> Vec<(Seq, &'static str)> {
    let log = whole_log(&*process.journal, run).await.unwrap();
    log.iter().map(|stored| (stored.seq, stored.event.name())).collect()
}

/// Proves T16: another answer to the same question, in another run, without doing anything again.
#[test]
fn a_fork_at_a_question_takes_another_answer() {
    let (shelf, world) = (Shelf::with("twice.yaml", TWICE), World::memory());
    world.run(shelf.setup(), async |process| {
        let run = start(&process, "twice", json!({})).await;
        settled(&process, run).await;
        answer(&process, run, json!({ "what": "left" })).await;
        assert_eq!(ended(&process, run).await.state, StateName::Completed);
        let before = seqs(&process, run).await;
        // Where nothing is said, the last question is open again; also of a finished run.
        let fork = process.fork(&at(run), None, None).await.unwrap();
        let id = fork.submission.run;
        assert_eq!(fork.submission.forked_from.as_ref().unwrap().run, run);
        assert_eq!(settled(&process, id).await.state, StateName::InputRequired);
        answer(&process, id, json!({ "what": "right" })).await;
        assert_eq!(ended(&process, id).await.output["next"]["what"], "right");
        assert_eq!(seqs(&process, run).await, before, "the original is not touched");
    });
    assert_eq!(shelf.calls(), ["first", "left", "right"]);
}

/// Proves T16: at any event that it had not ended at; where it has no such event, it says which it has.
#[test]
fn a_run_is_forked_where_it_could_go_on() {
    let (shelf, world) = (Shelf::with("twice.yaml", TWICE), World::memory());
    world.run(shelf.setup(), async |process| {
        let run = start(&process, "twice", json!({})).await;
        settled(&process, run).await;
        answer(&process, run, json!({ "what": "left" })).await;
        ended(&process, run).await;
        let last = seqs(&process, run).await.len() as Seq;
        let refused = async |seq| match process.fork(&at(run), Some(seq), None).await {
            Err(Error::CannotFork { why, .. }) => why,
            other => panic!("{other:?}"),
        };
        assert_eq!(refused(0).await, CannotFork::NoEvent { at: 0, last });
        assert_eq!(refused(last + 1).await, CannotFork::NoEvent { at: last + 1, last });
        assert_eq!(refused(last).await, CannotFork::Ended { at: last, last: last - 1 });
        // From its very beginning, everything is done again.
        let whole = process.fork(&at(run), Some(1), None).await.unwrap().submission.run;
        assert_eq!(settled(&process, whole).await.state, StateName::InputRequired);
        // Before its end, nothing is.
        let end = process.fork(&at(run), Some(last - 1), None).await.unwrap().submission.run;
        assert_eq!(ended(&process, end).await.state, StateName::Completed);
    });
    assert_eq!(shelf.calls(), ["first", "left", "first"]);
}

/// Proves T16, D1: a fork that is recorded goes on, also where the process dies before it is driven.
#[test]
fn a_fork_outlives_the_process_that_made_it() {
    let (shelf, world) = (Shelf::with("twice.yaml", TWICE), World::memory());
    let run = world.run(shelf.setup(), async |process| {
        let run = start(&process, "twice", json!({})).await;
        settled(&process, run).await;
        answer(&process, run, json!({ "what": "left" })).await;
        ended(&process, run).await;
        run
    });
    let faults = Arc::new(CrashAt::point("effect:drive", 1));
    let died = world.process(shelf.setup().faults(faults), async |process| {
        let after =
            seqs(&process, run).await.iter().find(|(_, name)| *name == "resumed").unwrap().0;
        process.fork(&at(run), Some(after), None).await.unwrap();
        std::future::pending::<()>().await
    });
    assert!(died.is_none());
    world.run(shelf.setup(), async |process| {
        let rows = process.runs(Default::default(), None, 10).await.unwrap();
        let fork = rows.iter().find(|row| row.id != run).unwrap();
        assert_eq!(ended(&process, fork.id).await.output["next"]["what"], "left");
    });
    assert_eq!(shelf.calls(), ["first", "left", "left"]);
}

/// Proves T16, T3: a fork keeps the definition that it is pinned to, also when the original is gone.
#[test]
fn a_fork_is_pinned_itself() {
    let (shelf, world) = (Shelf::with("twice.yaml", TWICE), World::memory());
    world.run(shelf.setup(), async |process| {
        let run = start(&process, "twice", json!({})).await;
        settled(&process, run).await;
        let fork = process.fork(&at(run), None, None).await.unwrap();
        settled(&process, fork.submission.run).await;
        let head = whole_log(&*process.journal, run).await.unwrap().len() as u64;
        process.journal.remove(Removal::of([(run, head)])).await.unwrap();
        let hash = fork.submission.workflow.version.clone();
        assert!(process.journal.pinned(hash).await.unwrap().is_some());
    });
}
