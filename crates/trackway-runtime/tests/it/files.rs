//! The file of a definition changes under a run, or goes.

use std::sync::Arc;

use serde_json::{Value, json};
use trackway_domain::Inputs;
use trackway_runtime::{GuideError, Position};
use trackway_testkit::MemoryJournal;

use crate::kit::{
    Library, access, advance, answer, begin, log, names, output, seal, start, step, three,
    to_the_end,
};

/// `three` with the prompt of its second step in other words.
fn reworded() -> Value {
    let mut changed = three();
    changed["steps"][1]["prompt"] = json!("Do two, in other words.");
    changed
}

fn warned(position: &Position) -> Vec<&str> {
    position.warnings.iter().map(|warning| warning.code.as_str()).collect()
}

fn prompt(position: &Position) -> &str {
    position.pending.as_ref().map_or("", |pending| pending.prompt.as_str())
}

/// Proves T3: a run keeps to the definition that it began with, and says so.
#[tokio::test]
async fn a_run_goes_on_when_its_file_changes_or_goes() {
    let (library, journal) = (Library::new(), MemoryJournal::new());
    let guide = library.guide(Arc::new(journal.clone()));
    let first = start(&guide).await;
    library.write("three.json", &reworded());
    // Nothing in memory: the definition comes from the store.
    let guide = library.guide(Arc::new(journal.reopen()));
    let sent = answer(&first, Inputs::default());
    let second = advance(&guide, sent.clone()).await.unwrap();
    assert_eq!((prompt(&second), &second.hash), ("Do two.", &first.hash));
    assert_eq!(warned(&second), ["definition-changed"]);
    library.remove("three.json");
    let guide = library.guide(Arc::new(journal.reopen()));
    let look = guide.look(&access(), second.run, second.node, seal()).await.unwrap();
    assert_eq!((warned(&look), look.guidance.len()), (vec!["definition-missing"], 1));
    let third = advance(&guide, answer(&second, output(json!({ "n": 1 })))).await.unwrap();
    assert_eq!(warned(&third), ["definition-missing"]);
    library.write("three.json", &three());
    assert_eq!(advance(&guide, sent).await.as_ref(), Ok(&second), "told as it was then");
    assert_eq!(warned(&to_the_end(&guide, third).await), [""; 0]);
}

/// Proves T3: a run moves to the new definition where somebody asks for it; its nodes stay the same ones.
#[tokio::test]
async fn a_run_is_migrated_where_somebody_asks_for_it() {
    let (library, journal) = (Library::new(), MemoryJournal::new());
    let guide = library.guide(Arc::new(journal.clone()));
    let first = start(&guide).await;
    let second = advance(&guide, answer(&first, Inputs::default())).await.unwrap();
    let blocked = answer(&second, output(json!("no")));
    let stuck = advance(&guide, blocked.clone()).await.unwrap();
    let same = guide.migrate(&access(), first.run).await.unwrap();
    assert_eq!((same.from, same.nodes), (same.to, vec![]), "there is nothing to do");

    library.write("three.json", &reworded());
    let guide = library.guide(Arc::new(journal.reopen()));
    let moved = guide.migrate(&access(), first.run).await.unwrap();
    assert_eq!((&moved.from, &moved.nodes), (&first.hash, &vec![second.node]));
    let look = guide.look(&access(), second.run, second.node, seal()).await.unwrap();
    assert_eq!((prompt(&look), &look.hash), ("Do two, in other words.", &moved.to));
    assert_eq!(warned(&look), [""; 0]);
    assert_eq!(advance(&guide, blocked).await, Ok(stuck), "told as it was before");
    let third = advance(&guide, answer(&second, output(json!({ "n": 1 })))).await.unwrap();
    assert_eq!((step(&third), &third.hash), (Some("three"), &moved.to));
    let again = guide.migrate(&access(), first.run).await.unwrap();
    assert!(again.nodes.is_empty());
    let log = log(&journal, first.run).await;
    assert_eq!(names(&log)[3..], ["attempted", "attempted", "repinned", "attempted"]);
}

/// Proves T3: a step that the new definition does not have keeps the run where it is.
#[tokio::test]
async fn a_run_that_does_not_fit_stays_as_it_is() {
    let (library, journal) = (Library::new(), MemoryJournal::new());
    let guide = library.guide(Arc::new(journal.clone()));
    let first = start(&guide).await;
    let second = advance(&guide, answer(&first, Inputs::default())).await.unwrap();
    let mut without = three();
    without["steps"].as_array_mut().unwrap().remove(1);
    library.write("three.json", &without);
    let refused = guide.migrate(&access(), first.run).await;
    assert!(matches!(refused, Err(GuideError::CannotMigrate { .. })), "{refused:?}");
    assert_eq!(log(&journal, first.run).await.len(), 4);
    to_the_end(&guide, second).await;
}

/// Proves T8: what the context lacks is told at the start, with what to send.
#[tokio::test]
async fn a_start_says_what_the_context_lacks() {
    let (library, journal) = (Library::new(), MemoryJournal::new());
    let mut wants = three();
    wants["id"] = json!("wants");
    wants["input"] = json!({
        "type": "object",
        "required": ["goal"],
        "properties": { "goal": { "type": "string" } }
    });
    library.write("wants.json", &wants);
    let guide = library.guide(Arc::new(journal));
    let refused = guide.start(&access(), begin("wants", &json!({}))).await;
    let Err(GuideError::MissingContext(block)) = refused else { panic!("{refused:?}") };
    assert_eq!(block.needs[0].pointer, "/context/goal");
    let started = guide.start(&access(), begin("wants", &json!({ "goal": "x" }))).await;
    assert!(started.is_ok(), "{started:?}");
}
