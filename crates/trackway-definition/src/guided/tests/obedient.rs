//! An agent that knows nothing of a workflow: it sends the example that it sees, and what a block says that
//! it needs.

use serde_json::{Value, json};
use trackway_domain::{AttemptInputs, BlockReason};

use super::super::{GuidedStepState, advance_guided_run, begin_guided_run};
use crate::read::tests::corpus;
use crate::{
    Definition, FileFormat, parse_definition_draft,
    test_support::{expect_object, fill_example_choices, value_satisfying_need},
};

/// Answers that a definition of a reasonable size needs, with every loop at its limit.
const ANSWERS_MAX: usize = 2_000;

/// Attempts at one step. Each fixes something, and a block names everything that it knows of.
const TRIES_MAX: usize = 12;

/// Puts the examples at their pointers.
fn apply_needs(arguments: &mut Value, block: &BlockReason) {
    for need in &block.needs {
        // A judgement that keeps the run at the step is made again after the required work.
        let example = match block.code.as_str() {
            "followup-required" => json!("high"),
            _ => value_satisfying_need(need),
        };
        put_at(arguments, &need.pointer, example);
    }
}

/// Puts a value at a pointer; values in the way are replaced.
pub(super) fn put_at(arguments: &mut Value, pointer: &str, value: Value) {
    let mut place = arguments;
    for name in pointer.split('/').skip(1) {
        let name = name.replace("~1", "/").replace("~0", "~");
        place = match (place, name.parse::<usize>()) {
            (Value::Array(items), Ok(at)) => {
                items.resize(items.len().max(at + 1), Value::Null);
                &mut items[at]
            }
            (place, _) => {
                if !place.is_object() {
                    *place = json!({});
                }
                &mut place[name]
            }
        };
    }
    *place = value;
}

fn inputs(arguments: &Value) -> AttemptInputs {
    let given = |name: &str| arguments.get(name).filter(|value| !value.is_null()).cloned();
    AttemptInputs {
        context: expect_object(given("context").unwrap_or_else(|| json!({}))),
        output: given("output"),
        notes: given("notesMarkdown").and_then(|notes| notes.as_str().map(str::to_owned)),
    }
}

/// Repeats a call until it is not blocked any more.
pub(super) fn answer_until_accepted(
    what: &str,
    mut arguments: Value,
    act: impl Fn(&AttemptInputs) -> Result<GuidedStepState, BlockReason>,
) -> GuidedStepState {
    let mut last = None;
    for _ in 0..TRIES_MAX {
        match act(&inputs(&arguments)) {
            Ok(standing) => return standing,
            Err(block) => {
                apply_needs(&mut arguments, &block);
                last = Some(block);
            }
        }
    }
    panic!("{what}: what is asked for does not help: {last:#?} with {arguments}");
}

/// Follows the instructions from the start to the end, with no output of its own.
pub(super) fn obey_blocks(
    definition: &Definition,
    context: &Value,
    look: impl Fn(&BlockReason),
) -> GuidedStepState {
    let checked = |came: Result<GuidedStepState, BlockReason>| came.inspect_err(&look);
    let start = |inputs: &AttemptInputs| checked(begin_guided_run(definition, &inputs.context));
    let mut standing = answer_until_accepted("start", json!({"context": context}), start);
    while standing.pending.is_some() {
        let GuidedStepState { position, context, .. } = &standing;
        let answer =
            |inputs: &AttemptInputs| checked(advance_guided_run(definition, position, context, inputs));
        standing = answer_until_accepted("answer", json!({}), answer);
    }
    standing
}

/// Drives a definition to its end; returns the ids of the steps on the way, and the last state.
fn run_with_needs(definition: &Definition) -> (Vec<String>, GuidedStepState) {
    let start = |inputs: &AttemptInputs| begin_guided_run(definition, &inputs.context);
    let mut standing = answer_until_accepted(&definition.id, json!({}), start);
    let mut steps = Vec::new();
    while let Some(pending) = &standing.pending {
        let GuidedStepState { position, context, .. } = &standing;
        let what = format!("{} {}", definition.id, pending.step);
        let mut output = pending.output.as_ref().map(|expected| expected.example.clone());
        output.iter_mut().for_each(fill_example_choices);
        let arguments = json!({"output": output, "notesMarkdown": null});
        steps.push(pending.step.clone());
        assert!(steps.len() <= ANSWERS_MAX, "{what}: it does not end");
        let answer = |inputs: &AttemptInputs| advance_guided_run(definition, position, context, inputs);
        standing = answer_until_accepted(&what, arguments, answer);
    }
    (steps, standing)
}

/// The first of several files, which refers to the others.
fn parse_definition(texts: &[&str]) -> Definition {
    let drafts =
        texts.iter().map(|text| parse_definition_draft(text, FileFormat::Yaml).expect("it can be read"));
    let drafts: Vec<_> = drafts.collect();
    let library = |id: &str| drafts.iter().find(|draft| draft.id == id);
    drafts[0].link_references(&library).expect("it is whole")
}

const OUTER: &str = include_str!("outer.yaml");
const INNER: &str = include_str!("inner.yaml");
/// A file with one of everything is driven to its end by following the instructions only: what a block
/// requests is enough. Proves T8 and T9.
#[test]
fn following_all_needs_completes_the_run() {
    let (steps, end) = run_with_needs(&parse_definition(&[OUTER, INNER]));
    let ends: Vec<_> = steps.iter().map(|step| step.rsplit(['.', '/']).next()).collect();
    let expected = ["plan", "make", "judge", "make", "judge", "rub", "agree", "publish", "look", "look"];
    assert_eq!(ends, expected.map(Some));
    assert_eq!(end.documents.last().map(|change| change.name.as_str()), Some("report"));
    let said = end.documents.last().map(|change| change.value.clone());
    assert_eq!(said, Some(json!("what the tool returned first!, second!")));
    assert_eq!(end.context["verdict"], "fine");
}

/// Files in WorkRail's form are driven to their end in the same way. Proves T8 and T9.
#[test]
fn corpus_files_are_driven_to_their_end_by_doing_what_is_said() {
    corpus::for_each_file(|_, definition| {
        let (steps, end) = run_with_needs(definition);
        if steps.is_empty() || end.pending.is_some() {
            return Err(format!("it stopped after {steps:?}"));
        }
        Ok(())
    });
}
