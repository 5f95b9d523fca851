//! Workflow definitions that the engine drives.

mod definition_folder;
mod forks;

use std::sync::Arc;

use serde_json::json;
use trackway_domain::{Event, StateName};
use trackway_runtime::{Error, ProgramRegistry, ReplayVerdict, replay_with_registered_program};
use trackway_testkit::{
    CrashAt, ProcessSetup, TestWorld, load_full_log, local_run_address, summarize_updates,
};

use definition_folder::{
    DefinitionFolder, answer_question, start_run, submit, wait_until_ended, wait_until_idle,
};

/// Every kind of step, nested in each other.
const EVERYTHING: &str = r#"
id: everything
name: Everything
description: Every kind of step.
version: "1"
steps:
  - id: who
    ask: { message: "Who is it?", schema: { type: object, required: [name] } }
    save: user
  - id: known
    switch:
      - when: "user.name == 'Ada'"
        steps: [{ id: hello, emit: { artifact: greeting, text: "Hi {{ user.name }}" } }]
      - else: true
        steps: [{ id: stranger, emit: { artifact: greeting, text: "Who?" } }]
  - id: all
    map:
      items: list
      itemVar: one
      limit: 2
      steps: [{ id: try, tool: { name: do, args: { what: "=one" } }, save: done }]
      output: done.did
    save: made
  - id: rounds
    loop: { type: for, count: 2, maxIterations: 2 }
    body: [{ id: again, tool: { name: do, args: { what: round } } }]
  - id: report
    emit: { artifact: report, data: "{'made': made}" }
"#;

const EVERYTHING_DONE: [&str; 5] = ["a", "b", "c", "round", "round"];

/// Proves T16: ask, switch, map, tool, loop and emit, with replays in between.
#[test]
fn every_kind_of_step_is_driven() {
    let (shelf, world) =
        (DefinitionFolder::with_file("everything.yaml", EVERYTHING), TestWorld::with_memory_store());
    let run = world.run_to_completion(shelf.setup(), async |process| {
        let run = start_run(&process, "everything", json!({ "list": ["a", "b", "c"] })).await;
        assert_eq!(wait_until_idle(&process, run).await.state, StateName::InputRequired);
        run
    });
    // Another process, without the file: the store has what the run needs.
    shelf.remove("everything.yaml");
    world.run_to_completion(shelf.setup(), async |process| {
        answer_question(&process, run, json!({ "name": "Ada" })).await;
        let view = wait_until_ended(&process, run).await;
        assert_eq!(view.state, StateName::Completed);
        assert_eq!(view.output["made"], json!(["a", "b", "c"]));
        let log = load_full_log(&*process.journal, run).await.unwrap();
        let told = summarize_updates(&log);
        assert!(told.contains(&"+greeting".to_owned()) && told.contains(&"+report".to_owned()));
        let events: Vec<Event> = log.into_iter().map(|stored| stored.event).collect();
        assert_eq!(replay_with_registered_program(process.registry(), &events).await, ReplayVerdict::Matches);
    });
    assert_eq!(shelf.sorted_calls(), EVERYTHING_DONE, "in any order: two items are worked on at once");
}

/// Proves T16, D1: after a crash at any point, the run continues, and recorded work is not done again.
#[test]
fn a_crash_anywhere_repeats_nothing_that_was_recorded() {
    let mut point = 0;
    loop {
        point += 1;
        let (shelf, world) =
            (DefinitionFolder::with_file("everything.yaml", EVERYTHING), TestWorld::with_memory_store());
        let input = json!({ "list": ["a", "b", "c"] });
        let run = world.run_to_completion(shelf.setup(), async |process| {
            let run = start_run(&process, "everything", input).await;
            wait_until_idle(&process, run).await;
            run
        });
        let faults = Arc::new(CrashAt::at_point("step:after", point));
        let survived = world.run_process(shelf.setup().with_faults(faults), async |process| {
            answer_question(&process, run, json!({ "name": "Ada" })).await;
            wait_until_ended(&process, run).await;
        });
        world.run_to_completion(shelf.setup(), async |process| {
            assert_eq!(wait_until_ended(&process, run).await.state, StateName::Completed);
        });
        let mut keys = shelf.idempotency_keys();
        if survived.is_some() {
            assert_eq!(shelf.sorted_calls(), EVERYTHING_DONE);
            break;
        }
        // Only work that was in progress at the crash may be there twice: at most two items, each with its
        // own key.
        let calls = keys.len();
        assert!((5..=7).contains(&calls), "point {point}: {keys:?}");
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), 5, "point {point}");
    }
    assert_eq!(point, 6);
}

const BROKEN: &str = r#"
id: broken
name: Broken
description: Some items fail.
version: "1"
steps:
  - id: all
    map:
      items: list
      itemVar: one
      limit: 1
      onFailure: POLICY
      steps: [{ id: try, tool: { name: do, args: { what: "=one" } }, save: done }]
      output: done.did
    save: made
onExit:
  - id: bye
    tool: { name: do, args: { what: "= 'exit ' + ended" } }
"#;

/// Proves T16: the map decides what an item's failure does, and exit steps run however the run ends.
#[test]
fn failed_map_item_follows_on_failure_of_its_map() {
    let outcome = |policy: &str| {
        let text = BROKEN.replace("POLICY", policy);
        let (shelf, world) =
            (DefinitionFolder::with_file("broken.yaml", &text), TestWorld::with_memory_store());
        let view = world.run_to_completion(shelf.setup(), async |process| {
            let run = start_run(&process, "broken", json!({ "list": ["a", "fail", "c"] })).await;
            wait_until_ended(&process, run).await
        });
        (view, shelf.calls())
    };
    let (failed, calls) = outcome("fail");
    assert_eq!(failed.state, StateName::Failed);
    let said = failed.status_message().unwrap().parts[0].as_text().unwrap().to_owned();
    assert_eq!(said, r#"step "all": item 1: step "try": tool "do" failed: it was told to fail"#);
    assert_eq!(calls, ["a", "fail", "exit failed"]);
    let (skipped, calls) = outcome("skip");
    assert_eq!(skipped.output["made"], json!(["a", "c"]));
    assert_eq!(calls, ["a", "fail", "c", "exit completed"]);
    let (kept, _) = outcome("keep");
    assert_eq!(
        kept.output["made"][1]["error"],
        json!("step \"try\": tool \"do\" failed: it was told to fail")
    );
}

const STUCK: &str = r#"
id: stuck
name: Stuck
version: 1
steps:
  - { id: aa, emit: { artifact: a.txt, text: hi } }
  - { id: bb, emit: { artifact: b.txt, text: "{{ nope }}" } }
"#;

/// The error of a blocked run names the step that lacks something, not the step before it.
#[test]
fn a_failure_names_the_step_that_lacks_something() {
    let (shelf, world) = (DefinitionFolder::with_file("stuck.yaml", STUCK), TestWorld::with_memory_store());
    world.run_to_completion(shelf.setup(), async |process| {
        let run = start_run(&process, "stuck", json!({})).await;
        let failed = wait_until_ended(&process, run).await;
        assert_eq!(failed.state, StateName::Failed);
        let said = failed.status_message().unwrap().parts[0].as_text().unwrap().to_owned();
        assert!(said.starts_with(r#"step "bb": `nope` is not set"#), "{said}");
    });
}

const LEAVING: &str = r#"
id: leaving
name: Leaving
description: Has exit steps.
version: "1"
steps:
  - id: wait
    ask: { message: "Well?", schema: { type: object } }
    save: said
onExit:
  - id: bye
    tool: { name: do, args: { what: "= ended + ' ' + name" } }
  - id: last
    tool: { name: do, args: { what: "= said.how" } }
"#;

/// Failed exit steps are reported, and the run ends as it would have.
#[test]
fn a_failing_exit_step_changes_no_outcome() {
    let (shelf, world) =
        (DefinitionFolder::with_file("leaving.yaml", LEAVING), TestWorld::with_memory_store());
    world.run_to_completion(shelf.setup(), async |process| {
        let run = start_run(&process, "leaving", json!({ "name": "x" })).await;
        wait_until_idle(&process, run).await;
        answer_question(&process, run, json!({ "how": "fail" })).await;
        assert_eq!(wait_until_ended(&process, run).await.state, StateName::Completed);
        let told = summarize_updates(&load_full_log(&*process.journal, run).await.unwrap());
        assert!(told.iter().any(|line| line.contains("exit steps failed")), "{told:?}");
    });
    assert_eq!(shelf.calls(), ["completed x", "fail"]);
}

/// Proves T16: the exit steps of a canceled run are a separate run, even if the process dies before it is
/// created and the file is gone.
#[test]
fn exit_steps_run_after_a_cancel() {
    let (shelf, world) =
        (DefinitionFolder::with_file("leaving.yaml", LEAVING), TestWorld::with_memory_store());
    let faults = Arc::new(CrashAt::at_point("effect:errand", 1));
    let died = world.run_process(shelf.setup().with_faults(faults), async |process| {
        let run = start_run(&process, "leaving", json!({ "name": "x" })).await;
        wait_until_idle(&process, run).await;
        process.cancel_run(&local_run_address(run)).await.unwrap();
        std::future::pending::<()>().await
    });
    assert!(died.is_none());
    shelf.remove("leaving.yaml");
    world.run_to_completion(shelf.setup(), async |process| {
        shelf.wait_for_calls(1).await;
        let rows = process.list_runs(Default::default(), None, 10).await.unwrap();
        let exit = rows.iter().find(|row| row.workflow.name == "leaving.exit").unwrap();
        // It has no `said`: the run was canceled before.
        let view = wait_until_ended(&process, exit.id).await;
        assert_eq!(view.state, StateName::Failed);
        assert_eq!(view.submission.input["ended"], "canceled");
    });
    assert_eq!(shelf.calls(), ["canceled x"]);
}

/// Proves T16: missing input is reported before anything is done.
#[test]
fn a_run_without_what_it_needs_is_refused() {
    let open = EVERYTHING.replace("\"Who is it?\"", "\"Who, {{ title }}?\"");
    let strict = open
        .replace("id: everything", "id: strict")
        .replace("steps:\n  - id: who", "input: { type: object, required: [title] }\nsteps:\n  - id: who");
    let (shelf, world) = (DefinitionFolder::with_file("open.yaml", &open), TestWorld::with_memory_store());
    shelf.write("strict.yaml", &strict);
    world.run_to_completion(shelf.setup(), async |process| {
        let run = start_run(&process, "everything", json!({ "list": [] })).await;
        let view = wait_until_ended(&process, run).await;
        assert_eq!(view.state, StateName::Rejected);
        let said = view.status_message().unwrap().parts[0].as_text().unwrap();
        assert!(said.contains("title") && said.contains("/context/title"), "{said}");
        let refused = submit(&process, "strict", json!({ "list": [] })).await;
        assert!(matches!(refused, Err(Error::InvalidInput { .. })), "{refused:?}");
    });
}

/// A tool that this process does not have parks the run; a process that has it continues the run.
#[test]
fn a_run_waits_for_the_tool_that_it_needs() {
    let (shelf, world) =
        (DefinitionFolder::with_file("everything.yaml", EVERYTHING), TestWorld::with_memory_store());
    let run = world.run_to_completion(shelf.setup(), async |process| {
        let run = start_run(&process, "everything", json!({ "list": ["a"] })).await;
        wait_until_idle(&process, run).await;
        run
    });
    let bare = ProcessSetup::from(ProgramRegistry::new());
    world.run_to_completion(bare, async |process| {
        answer_question(&process, run, json!({ "name": "B" })).await;
        let view = wait_until_idle(&process, run).await;
        assert!(view.parked.unwrap().message.contains("\"do\" is not known here"));
    });
    world.run_to_completion(shelf.setup(), async |process| {
        assert_eq!(wait_until_ended(&process, run).await.state, StateName::Completed);
    });
}

/// Arguments are checked against the tool's schema before it is called.
#[test]
fn arguments_that_do_not_fit_fail_the_run() {
    let text = EVERYTHING.replace("what: \"=one\"", "what: 7");
    let (shelf, world) =
        (DefinitionFolder::with_file("everything.yaml", &text), TestWorld::with_memory_store());
    world.run_to_completion(shelf.setup(), async |process| {
        let run = start_run(&process, "everything", json!({ "list": ["a"] })).await;
        wait_until_idle(&process, run).await;
        answer_question(&process, run, json!({ "name": "B" })).await;
        let view = wait_until_ended(&process, run).await;
        let said = view.status_message().unwrap().parts[0].as_text().unwrap().to_owned();
        assert!(said.contains("its arguments do not fit: /what"), "{said}");
    });
    assert!(shelf.calls().is_empty());
}

/// Proves T16, T9: a definition that the engine cannot drive is not an agent, and the refusal says why. A
/// changed file is registered, a removed one withdrawn, and a program keeps its name.
#[test]
fn registry_follows_the_files() {
    let (shelf, world) =
        (DefinitionFolder::with_file("everything.yaml", EVERYTHING), TestWorld::with_memory_store());
    let asks = EVERYTHING.replace("id: everything", "id: asks").replace(
        "ask: { message: \"Who is it?\", schema: { type: object, required: [name] } }",
        "prompt: Find out.",
    );
    shelf.write("asks.yaml", &asks);
    let registry = ProgramRegistry::new();
    let offers = shelf.catalogue_sync(&registry);
    let declined = offers.sync_program_registry(&registry);
    assert_eq!(declined.len(), 1, "{declined:?}");
    assert!(!declined[0].matters && declined[0].workflow == "asks", "{declined:?}");
    world.run_to_completion(registry, async |process| {
        let registry = process.registry();
        let refused = submit(&process, "asks", json!({})).await;
        let Err(Error::UnknownWorkflow { why: Some(why), .. }) = refused else { panic!("{refused:?}") };
        assert!(why.contains("\"who\" is work for an agent"), "{why}");
        let before = registry.current_program("everything").unwrap().info().version.clone();
        shelf.write("everything.yaml", &EVERYTHING.replace("Every kind", "All kinds"));
        assert!(offers.sync_program_registry(registry).is_empty(), "what is declined is told once");
        assert_ne!(registry.current_program("everything").unwrap().info().version, before);
        assert_eq!(registry.registered_versions("everything").len(), 2);
        // A program that had the name before the files keeps it.
        let late = shelf.catalogue_sync(registry).sync_program_registry(registry);
        let taken = late.iter().find(|declined| declined.workflow == "everything").unwrap();
        assert!(taken.matters && taken.why.contains("a program"), "{taken:?}");
        shelf.remove("everything.yaml");
        offers.sync_program_registry(registry);
        assert!(registry.current_program("everything").is_none());
    });
}
