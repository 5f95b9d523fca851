//! An agent that knows nothing of a workflow: it sends the example that it is shown, and what a block
//! says that it needs.

use serde_json::{Value, json};
use trackway_domain::{Block, Inputs};

use super::super::{StepState, advance, open};
use crate::read::tests::corpus;
use crate::{
    Definition, Format, read,
    testing::{choose, chosen, object},
};

/// Answers that a definition of a reasonable size takes, with every loop at its limit.
const ANSWERS_MAX: usize = 2_000;

/// Tries at one step. Each mends something, and a block names everything that it knows of.
const TRIES_MAX: usize = 12;

/// Puts the examples where the needs say.
fn mend(arguments: &mut Value, block: &Block) {
    for need in &block.needs {
        // A judgement that holds the step is judged anew after the work that is asked for.
        let example = match block.code.as_str() {
            "followup-required" => json!("high"),
            _ => chosen(need),
        };
        put_at(arguments, &need.pointer, example);
    }
}

/// Puts a value where a pointer says; whatever is in the way gives way.
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

fn inputs(arguments: &Value) -> Inputs {
    let given = |name: &str| arguments.get(name).filter(|value| !value.is_null()).cloned();
    Inputs {
        context: object(given("context").unwrap_or_else(|| json!({}))),
        output: given("output"),
        notes: given("notesMarkdown").and_then(|notes| notes.as_str().map(str::to_owned)),
    }
}

/// Does something until it is not blocked any more.
pub(super) fn until_it_goes(
    what: &str,
    mut arguments: Value,
    act: impl Fn(&Inputs) -> Result<StepState, Block>,
) -> StepState {
    let mut last = None;
    for _ in 0..TRIES_MAX {
        match act(&inputs(&arguments)) {
            Ok(standing) => return standing,
            Err(block) => {
                mend(&mut arguments, &block);
                last = Some(block);
            }
        }
    }
    panic!("{what}: what is asked for does not help: {last:#?} with {arguments}");
}

/// Does what is said from the start to the end, with no output of its own.
pub(super) fn obey_blocks(
    definition: &Definition,
    context: &Value,
    look: impl Fn(&Block),
) -> StepState {
    let checked = |came: Result<StepState, Block>| came.inspect_err(&look);
    let start = |inputs: &Inputs| checked(open(definition, &inputs.context));
    let mut standing = until_it_goes("start", json!({"context": context}), start);
    while standing.pending.is_some() {
        let StepState { walk, context, .. } = &standing;
        let answer = |inputs: &Inputs| checked(advance(definition, walk, context, inputs));
        standing = until_it_goes("answer", json!({}), answer);
    }
    standing
}

/// Drives a definition to its end; the ids of the steps on the way, and the last standing.
fn obey(definition: &Definition) -> (Vec<String>, StepState) {
    let start = |inputs: &Inputs| open(definition, &inputs.context);
    let mut standing = until_it_goes(&definition.id, json!({}), start);
    let mut steps = Vec::new();
    while let Some(pending) = &standing.pending {
        let StepState { walk, context, .. } = &standing;
        let what = format!("{} {}", definition.id, pending.step);
        let mut output = pending.output.as_ref().map(|expected| expected.example.clone());
        output.iter_mut().for_each(choose);
        let arguments = json!({"output": output, "notesMarkdown": null});
        steps.push(pending.step.clone());
        assert!(steps.len() <= ANSWERS_MAX, "{what}: it does not end");
        let answer = |inputs: &Inputs| advance(definition, walk, context, inputs);
        standing = until_it_goes(&what, arguments, answer);
    }
    (steps, standing)
}

/// The first of several files, which refers to the others.
fn written(texts: &[&str]) -> Definition {
    let drafts = texts.iter().map(|text| read(text, Format::Yaml).expect("it can be read"));
    let drafts: Vec<_> = drafts.collect();
    let library = |id: &str| drafts.iter().find(|draft| draft.id == id);
    drafts[0].link(&library).expect("it is whole")
}

const OUTER: &str = include_str!("outer.yaml");
const INNER: &str = include_str!("inner.yaml");
/// A file with one of everything is driven to its end by doing what is said and nothing else: all that
/// a block asks for is enough. Proves T8 and T9.
#[test]
fn doing_what_is_said_leads_to_the_end() {
    let (steps, end) = obey(&written(&[OUTER, INNER]));
    let ends: Vec<_> = steps.iter().map(|step| step.rsplit(['.', '/']).next()).collect();
    let expected =
        ["plan", "make", "judge", "make", "judge", "rub", "agree", "publish", "look", "look"];
    assert_eq!(ends, expected.map(Some));
    assert_eq!(end.documents.last().map(|change| change.name.as_str()), Some("report"));
    let said = end.documents.last().map(|change| change.value.clone());
    assert_eq!(said, Some(json!("what the tool returned first!, second!")));
    assert_eq!(end.context["verdict"], "fine");
}

/// Files in WorkRail's form are driven to their end in the same way. Proves T8 and T9.
#[test]
fn corpus_files_are_driven_to_their_end_by_doing_what_is_said() {
    corpus::each(|_, definition| {
        let (steps, end) = obey(definition);
        if steps.is_empty() || end.pending.is_some() {
            return Err(format!("it stopped after {steps:?}"));
        }
        Ok(())
    });
}
