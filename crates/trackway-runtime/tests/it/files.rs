//! The file of a definition changes or disappears while a run uses it.

use std::sync::Arc;

use serde_json::{Value, json};
use trackway_domain::AttemptInputs;
use trackway_runtime::{GuidedNodeView, GuidedRunError};
use trackway_testkit::MemoryJournal;

use crate::support::{
    DefinitionFolder, access, advance, advance_to_end, answer_request, event_names, load_events,
    output_inputs, pending_step_id, render_stamp, start_request, start_three, three_steps,
};

/// `three` with the prompt of its second step in other words.
fn changed_definition() -> Value {
    let mut changed = three_steps();
    changed["steps"][1]["prompt"] = json!("Do two, in other words.");
    changed
}

fn warning_codes(position: &GuidedNodeView) -> Vec<&str> {
    position.warnings.iter().map(|warning| warning.code.as_str()).collect()
}

fn pending_prompt(position: &GuidedNodeView) -> &str {
    position.pending.as_ref().map_or("", |pending| pending.prompt.as_str())
}

/// Proves T3: a run keeps the definition that it began with, and the response says so.
#[tokio::test]
async fn a_run_goes_on_when_its_file_changes_or_goes() {
    let (library, journal) = (DefinitionFolder::new(), MemoryJournal::new());
    let guide = library.guided_runs(Arc::new(journal.clone()));
    let first = start_three(&guide).await;
    library.write("three.json", &changed_definition());
    // Nothing in memory: the definition comes from the store.
    let guide = library.guided_runs(Arc::new(journal.reopen_as_next_process()));
    let sent = answer_request(&first, AttemptInputs::default());
    let second = advance(&guide, sent.clone()).await.unwrap();
    assert_eq!((pending_prompt(&second), &second.hash), ("Do two.", &first.hash));
    assert_eq!(warning_codes(&second), ["definition-changed"]);
    library.remove("three.json");
    let guide = library.guided_runs(Arc::new(journal.reopen_as_next_process()));
    let look = guide.inspect_node(&access(), second.run, second.node, render_stamp()).await.unwrap();
    assert_eq!((warning_codes(&look), look.guidance.len()), (vec!["definition-missing"], 1));
    let third = advance(&guide, answer_request(&second, output_inputs(json!({ "n": 1 })))).await.unwrap();
    assert_eq!(warning_codes(&third), ["definition-missing"]);
    library.write("three.json", &three_steps());
    assert_eq!(advance(&guide, sent).await.as_ref(), Ok(&second), "told as it was then");
    assert_eq!(warning_codes(&advance_to_end(&guide, third).await), [""; 0]);
}

/// Proves T3: a run moves to the new definition on request; its nodes stay the same.
#[tokio::test]
async fn a_run_is_migrated_where_somebody_asks_for_it() {
    let (library, journal) = (DefinitionFolder::new(), MemoryJournal::new());
    let guide = library.guided_runs(Arc::new(journal.clone()));
    let first = start_three(&guide).await;
    let second = advance(&guide, answer_request(&first, AttemptInputs::default())).await.unwrap();
    let blocked = answer_request(&second, output_inputs(json!("no")));
    let stuck = advance(&guide, blocked.clone()).await.unwrap();
    let same = guide.migrate_to_current_definition(&access(), first.run).await.unwrap();
    assert_eq!((same.from, same.nodes), (same.to, vec![]), "there is nothing to do");

    library.write("three.json", &changed_definition());
    let guide = library.guided_runs(Arc::new(journal.reopen_as_next_process()));
    let moved = guide.migrate_to_current_definition(&access(), first.run).await.unwrap();
    assert_eq!((&moved.from, &moved.nodes), (&first.hash, &vec![second.node]));
    let look = guide.inspect_node(&access(), second.run, second.node, render_stamp()).await.unwrap();
    assert_eq!((pending_prompt(&look), &look.hash), ("Do two, in other words.", &moved.to));
    assert_eq!(warning_codes(&look), [""; 0]);
    assert_eq!(advance(&guide, blocked).await, Ok(stuck), "told as it was before");
    let third = advance(&guide, answer_request(&second, output_inputs(json!({ "n": 1 })))).await.unwrap();
    assert_eq!((pending_step_id(&third), &third.hash), (Some("three"), &moved.to));
    let again = guide.migrate_to_current_definition(&access(), first.run).await.unwrap();
    assert!(again.nodes.is_empty());
    let log = load_events(&journal, first.run).await;
    assert_eq!(event_names(&log)[3..], ["attempted", "attempted", "repinned", "attempted"]);
}

/// Proves T3: a step that the new definition does not have keeps the run where it is.
#[tokio::test]
async fn run_that_cannot_be_migrated_is_unchanged() {
    let (library, journal) = (DefinitionFolder::new(), MemoryJournal::new());
    let guide = library.guided_runs(Arc::new(journal.clone()));
    let first = start_three(&guide).await;
    let second = advance(&guide, answer_request(&first, AttemptInputs::default())).await.unwrap();
    let mut without = three_steps();
    without["steps"].as_array_mut().unwrap().remove(1);
    library.write("three.json", &without);
    let refused = guide.migrate_to_current_definition(&access(), first.run).await;
    assert!(matches!(refused, Err(GuidedRunError::CannotMigrate { .. })), "{refused:?}");
    assert_eq!(load_events(&journal, first.run).await.len(), 4);
    advance_to_end(&guide, second).await;
}

/// Proves T8: the response to a start names what the context lacks, and what to send.
#[tokio::test]
async fn start_names_missing_context() {
    let (library, journal) = (DefinitionFolder::new(), MemoryJournal::new());
    let mut wants = three_steps();
    wants["id"] = json!("wants");
    wants["input"] = json!({
        "type": "object",
        "required": ["goal"],
        "properties": { "goal": { "type": "string" } }
    });
    library.write("wants.json", &wants);
    let guide = library.guided_runs(Arc::new(journal));
    let refused = guide.start_guided_run(&access(), start_request("wants", &json!({}))).await;
    let Err(GuidedRunError::MissingContext(block)) = refused else { panic!("{refused:?}") };
    assert_eq!(block.needs[0].pointer, "/context/goal");
    let started = guide.start_guided_run(&access(), start_request("wants", &json!({ "goal": "x" }))).await;
    assert!(started.is_ok(), "{started:?}");
}
