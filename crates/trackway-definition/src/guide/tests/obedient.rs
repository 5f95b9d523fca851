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
        let mut place = &mut *arguments;
        for name in need.pointer.split('/').skip(1) {
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
        *place = example;
    }
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

const OUTER: &str = r#"
id: outer
name: Outer
description: One of everything.
version: 1.0.0
input:
  type: object
  required: [ticket]
  properties: {ticket: {type: string, examples: [T-1]}}
steps:
  - id: plan
    title: Plan {{ ticket }}
    prompt: Plan the work on {{ ticket }} for {{ owner.name }}.
    outputContract:
      schema:
        type: object
        required: [parts]
        properties: {parts: {type: array, items: {type: string}, minItems: 2}}
      example: {parts: [first, second]}
      required: true
    set: {parts: result.parts}
  - id: each-part
    title: Each part
    type: loop
    loop: {type: forEach, items: parts, itemVar: part, indexVar: number, maxIterations: 10}
    body:
      - id: make
        title: Make {{ part }}
        prompt: Make part {{ number }}, {{ part }}.
      - id: review
        title: Review
        workflow: {id: inner, context: {what: =part}, output: verdict}
        save: verdict
  - id: polish
    title: Polish
    type: loop
    loop: {type: for, count: rounds, maxIterations: 3}
    body:
      - {id: rub, title: Rub, prompt: Rub it.}
  - id: agree
    title: Agree
    ask: {message: Is it good?, schema: {type: object, required: [good], properties: {good: {type: boolean}}}}
    save: answer
  - id: by-answer
    title: By answer
    switch:
      - when: answer.good
        steps:
          - {id: publish, title: Publish, tool: {name: publish, args: {verdict: =verdict}}, save: link}
      - else: true
        steps:
          - {id: again, title: Again, prompt: Begin again.}
  - id: all
    title: All
    map: {items: parts, itemVar: part, output: 'part + "!"', steps: [{id: look, title: Look, prompt: 'Look at {{ part }}.'}]}
    save: loud
  - {id: report, title: Report, emit: {artifact: report, text: '{{ link }} {{ loud | join(", ") }}'}}
"#;

const INNER: &str = r#"
id: inner
name: Inner
description: A review.
version: 1.0.0
steps:
  - id: judge
    title: Judge
    prompt: Judge {{ what }} by {{ standard }}.
    set: {verdict: '"fine"'}
"#;

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
