//! The parts of definition programs that need no run: concurrency, drive refusals, blocks as text.

use std::{
    cell::RefCell,
    future::{poll_fn, ready},
    sync::Arc,
    task::Poll,
};

use serde_json::json;
use trackway_definition::{Definition, FileFormat, parse_definition_draft};
use trackway_domain::{BlockReason, InputRequirement, WorkflowRef};

use super::{
    DriveRefusal, bounded_concurrency::bounded_join, drive_refusal::find_drive_refusal,
    load_pinned_definition_program, step_actions::format_blocked_walk,
};
use crate::{ProgramRegistry, Tools};

fn definition(text: &str) -> Definition {
    let head = "id: sample\nname: Sample\ndescription: A sample.\nversion: \"1\"\n";
    let draft = parse_definition_draft(&format!("{head}{text}"), FileFormat::Yaml).expect("it is valid");
    draft.link_references(&|_| None).expect("it stands alone")
}

/// No more than the limit start at once, the next one starts when one is done, and the results have the order
/// of the items.
#[tokio::test]
async fn items_are_worked_on_side_by_side() {
    let begun = RefCell::new(Vec::new());
    let item = |index: usize| {
        begun.borrow_mut().push(index);
        // Later items of a pair are done first.
        let mut left = 2 - index % 2;
        Box::pin(poll_fn(move |cx| {
            left -= 1;
            cx.waker().wake_by_ref();
            if left == 0 { Poll::Ready(index * 10) } else { Poll::Pending }
        }))
    };
    let (results, stopped) = bounded_join(5, 2, item, |_| false).await;
    assert_eq!(results, [0, 10, 20, 30, 40].map(Some));
    assert_eq!((stopped, begun.into_inner()), (None, vec![0, 1, 2, 3, 4]));
}

/// A result that stops the others is the last one, and nothing more is started.
#[tokio::test]
async fn a_result_can_stop_the_others() {
    let begun = RefCell::new(0);
    let item = |index: usize| {
        *begun.borrow_mut() += 1;
        Box::pin(ready(index))
    };
    let (results, stopped) = bounded_join(5, 2, item, |index| *index == 2).await;
    assert_eq!(results, [Some(0), None, Some(2), None, None], "the one beside it is dropped");
    assert_eq!((stopped, begun.into_inner()), (Some(2), 3));
    let (none, stopped) = bounded_join(0, 2, |index| Box::pin(ready(index)), |_| true).await;
    assert!(none.is_empty() && stopped.is_none());
}

/// Proves T16: the first step that the engine cannot do is named, at any depth.
#[test]
fn engine_refuses_definitions_it_cannot_drive() {
    let emit = "steps: [{ id: e, emit: { artifact: a, text: x } }]\n";
    let tools = Tools::default();
    assert_eq!(find_drive_refusal(&definition(emit), &tools, &ProgramRegistry::new()), None);
    let asked = definition("steps: [{ id: p, prompt: Do it. }]");
    assert_eq!(
        find_drive_refusal(&asked, &tools, &ProgramRegistry::new()),
        Some(DriveRefusal::PromptWithoutAgent { step: "p".into() })
    );
    let deep = "steps:\n  - id: s\n    switch:\n      - else: true\n        steps:\n          - id: m\n            map: { items: list, steps: [{ id: t, tool: { name: saw } }] }\n";
    let needs = DriveRefusal::UnknownTool { step: "t".into(), tool: "saw".into() };
    assert_eq!(find_drive_refusal(&definition(deep), &tools, &ProgramRegistry::new()), Some(needs));
    let leaving = format!("{emit}onExit: [{{ id: p, prompt: Do it. }}]");
    assert_eq!(
        find_drive_refusal(&definition(&leaving), &tools, &ProgramRegistry::new()),
        Some(DriveRefusal::PromptWithoutAgent { step: "p".into() })
    );
}

/// A pinned definition is the program of its steps and of its exit steps, and of nothing else.
#[test]
fn a_pinned_definition_is_two_programs() {
    let exits = definition(
        "steps: [{ id: e, emit: { artifact: a, text: x } }]\nonExit: [{ id: o, emit: { artifact: b, text: y } }]",
    );
    let tools = Arc::new(Tools::default());
    let named = |name: &str| {
        let workflow = WorkflowRef { name: name.to_owned(), version: exits.definition_hash() };
        load_pinned_definition_program(&workflow, &exits.to_canonical_json(), &tools)
    };
    let whole = named("sample").expect("its steps");
    let exit = WorkflowRef { name: "sample.exit".to_owned(), version: exits.definition_hash() };
    assert_eq!(whole.exit_workflow(), Some(exit.clone()));
    let leaving = named("sample.exit").expect("its exit steps");
    assert_eq!((leaving.info().workflow_ref(), leaving.exit_workflow()), (exit, None));
    assert!(named("other").is_none());
    assert!(load_pinned_definition_program(&whole.info().workflow_ref(), "{}", &tools).is_none());
}

#[test]
fn block_names_the_input_that_fixes_it() {
    let need = InputRequirement {
        pointer: "/context/items".into(),
        message: "give a list".into(),
        example: Some(json!([])),
        ..InputRequirement::default()
    };
    let block = BlockReason { code: "context-missing".into(), message: "not yet".into(), needs: vec![need] };
    assert_eq!(format_blocked_walk(&block.into()), "not yet; give a list (/context/items)");
}
