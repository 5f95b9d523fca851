//! Forks of runs that the engine drives.

use std::sync::Arc;

use serde_json::json;
use trackway_domain::{RunId, Seq, StateName};
use trackway_ports::RunRemoval;
use trackway_runtime::{Error, ForkRefusal};
use trackway_testkit::{CrashAt, TestProcess, TestWorld, load_full_log, local_run_address};

use super::definition_folder::{
    DefinitionFolder, answer_question, start_run, wait_until_ended, wait_until_idle,
};

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

async fn seqs(process: &TestProcess, run: RunId) -> Vec<(Seq, &'static str)> {
    let log = load_full_log(&*process.journal, run).await.unwrap();
    log.iter().map(|stored| (stored.seq, stored.event.event_name())).collect()
}

/// Proves T16: another answer to the same question, in another run, without doing anything again.
#[test]
fn a_fork_at_a_question_takes_another_answer() {
    let (shelf, world) = (DefinitionFolder::with_file("twice.yaml", TWICE), TestWorld::with_memory_store());
    world.run_to_completion(shelf.setup(), async |process| {
        let run = start_run(&process, "twice", json!({})).await;
        wait_until_idle(&process, run).await;
        answer_question(&process, run, json!({ "what": "left" })).await;
        assert_eq!(wait_until_ended(&process, run).await.state, StateName::Completed);
        let before = seqs(&process, run).await;
        // Without an event, the last question is open again; also for a finished run.
        let fork = process.fork_run(&local_run_address(run), None, None).await.unwrap();
        let id = fork.submission.run;
        assert_eq!(fork.submission.forked_from.as_ref().unwrap().run, run);
        assert_eq!(wait_until_idle(&process, id).await.state, StateName::InputRequired);
        answer_question(&process, id, json!({ "what": "right" })).await;
        assert_eq!(wait_until_ended(&process, id).await.output["next"]["what"], "right");
        assert_eq!(seqs(&process, run).await, before, "the original is not touched");
    });
    assert_eq!(shelf.calls(), ["first", "left", "right"]);
}

/// Proves T16: a fork works at any event before the end; for other events the error says which events exist.
#[test]
fn a_run_is_forked_where_it_could_go_on() {
    let (shelf, world) = (DefinitionFolder::with_file("twice.yaml", TWICE), TestWorld::with_memory_store());
    world.run_to_completion(shelf.setup(), async |process| {
        let run = start_run(&process, "twice", json!({})).await;
        wait_until_idle(&process, run).await;
        answer_question(&process, run, json!({ "what": "left" })).await;
        wait_until_ended(&process, run).await;
        let last = seqs(&process, run).await.len() as Seq;
        let refused = async |seq| match process.fork_run(&local_run_address(run), Some(seq), None).await {
            Err(Error::CannotFork { why, .. }) => why,
            other => panic!("{other:?}"),
        };
        assert_eq!(refused(0).await, ForkRefusal::NoEvent { at: 0, last });
        assert_eq!(refused(last + 1).await, ForkRefusal::NoEvent { at: last + 1, last });
        assert_eq!(refused(last).await, ForkRefusal::Ended { at: last, last: last - 1 });
        // From its first event, everything is done again.
        let whole = process.fork_run(&local_run_address(run), Some(1), None).await.unwrap().submission.run;
        assert_eq!(wait_until_idle(&process, whole).await.state, StateName::InputRequired);
        // Before its end, nothing is.
        let end =
            process.fork_run(&local_run_address(run), Some(last - 1), None).await.unwrap().submission.run;
        assert_eq!(wait_until_ended(&process, end).await.state, StateName::Completed);
    });
    assert_eq!(shelf.calls(), ["first", "left", "first"]);
}

/// Proves T16, D1: a recorded fork continues, even if the process dies before it is driven.
#[test]
fn a_fork_outlives_the_process_that_made_it() {
    let (shelf, world) = (DefinitionFolder::with_file("twice.yaml", TWICE), TestWorld::with_memory_store());
    let run = world.run_to_completion(shelf.setup(), async |process| {
        let run = start_run(&process, "twice", json!({})).await;
        wait_until_idle(&process, run).await;
        answer_question(&process, run, json!({ "what": "left" })).await;
        wait_until_ended(&process, run).await;
        run
    });
    let faults = Arc::new(CrashAt::at_point("effect:drive", 1));
    let died = world.run_process(shelf.setup().with_faults(faults), async |process| {
        let after = seqs(&process, run).await.iter().find(|(_, name)| *name == "resumed").unwrap().0;
        process.fork_run(&local_run_address(run), Some(after), None).await.unwrap();
        std::future::pending::<()>().await
    });
    assert!(died.is_none());
    world.run_to_completion(shelf.setup(), async |process| {
        let rows = process.list_runs(Default::default(), None, 10).await.unwrap();
        let fork = rows.iter().find(|row| row.id != run).unwrap();
        assert_eq!(wait_until_ended(&process, fork.id).await.output["next"]["what"], "left");
    });
    assert_eq!(shelf.calls(), ["first", "left", "left"]);
}

/// Proves T16, T3: a fork keeps the definition that it is pinned to, also when the original is gone.
#[test]
fn a_fork_is_pinned_itself() {
    let (shelf, world) = (DefinitionFolder::with_file("twice.yaml", TWICE), TestWorld::with_memory_store());
    world.run_to_completion(shelf.setup(), async |process| {
        let run = start_run(&process, "twice", json!({})).await;
        wait_until_idle(&process, run).await;
        let fork = process.fork_run(&local_run_address(run), None, None).await.unwrap();
        wait_until_idle(&process, fork.submission.run).await;
        let head = load_full_log(&*process.journal, run).await.unwrap().len() as u64;
        process.journal.remove_runs(RunRemoval::removal_of_runs([(run, head)])).await.unwrap();
        let hash = fork.submission.workflow.version.clone();
        assert!(process.journal.find_pinned_definition(hash).await.unwrap().is_some());
    });
}
