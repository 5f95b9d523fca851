//! Definitions for tests, made from the words of the model.

use proptest::prelude::*;
use serde_json::{Value, json};
use trackway_domain::{Inputs, Need, Object};

use crate::choice;
use crate::model::{
    Amount, Ask, Case, Condition, Definition, Emit, EmitContent, Loop, LoopOver, Map, Nested,
    OnFailure, Prompt, Rule, Source, Step, StepKind, Switch, Test, Tool,
};

pub(crate) fn definition(steps: Vec<Step>) -> Definition {
    Definition {
        format: Definition::FORMAT,
        id: "sample".to_owned(),
        name: "Sample".to_owned(),
        description: "For tests.".to_owned(),
        version: "1.0.0".to_owned(),
        tags: Vec::new(),
        input: None,
        guidance: Vec::new(),
        references: Vec::new(),
        steps,
        first_answer_timeout: None,
        on_exit: Vec::new(),
        unheeded: Vec::new(),
    }
}

pub(crate) fn step(id: &str, kind: StepKind) -> Step {
    Step { id: id.to_owned(), title: id.to_owned(), when: None, kind, save: None, set: [].into() }
}

impl Step {
    pub(crate) fn when(mut self, condition: Condition) -> Self {
        self.when = Some(condition);
        self
    }

    pub(crate) fn save(mut self, name: &str) -> Self {
        self.save = Some(name.to_owned());
        self
    }

    pub(crate) fn set(mut self, name: &str, source: &str) -> Self {
        self.set.insert(name.to_owned(), source.to_owned());
        self
    }
}

pub(crate) fn prompt(id: &str, text: &str) -> Step {
    let prompt = Prompt { text: text.to_owned(), ..Prompt::default() };
    step(id, StepKind::Prompt(Box::new(prompt)))
}

pub(crate) fn ask(id: &str, message: &str, schema: Value) -> Step {
    let (message, authorize, artifact) = (message.to_owned(), false, None);
    step(id, StepKind::Ask(Ask { message, schema, authorize, artifact }))
}

pub(crate) fn tool(id: &str, name: &str, args: &[(&str, Value)]) -> Step {
    let args = args.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    step(id, StepKind::Tool(Tool { name: name.to_owned(), args }))
}

pub(crate) fn emit(id: &str, artifact: &str, text: &str) -> Step {
    let content = EmitContent::Text(text.to_owned());
    step(id, StepKind::Emit(Emit { artifact: artifact.to_owned(), content }))
}

pub(crate) fn group(id: &str, steps: Vec<Step>) -> Step {
    step(id, StepKind::Group(steps))
}

pub(crate) fn switch(id: &str, cases: Vec<(Condition, Vec<Step>)>) -> Step {
    let cases = cases.into_iter().map(|(when, steps)| Case { when, steps }).collect();
    step(id, StepKind::Switch(Switch { cases }))
}

pub(crate) fn nested(
    id: &str,
    context: Option<&[(&str, Value)]>,
    output: Option<&str>,
    steps: Vec<Step>,
) -> Step {
    let context = context.map(|values| {
        values.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
    });
    let output = output.map(str::to_owned);
    let nested = Nested { workflow: format!("{id}-workflow"), context, input: None, steps, output };
    step(id, StepKind::Nested(nested))
}

pub(crate) fn repeat(id: &str, over: LoopOver, max: u32, steps: Vec<Step>) -> Step {
    step(id, StepKind::Loop(Loop { over, max, round: None, steps }))
}

pub(crate) fn each(list: &str, item: &str) -> LoopOver {
    LoopOver::Each {
        list: Source::Name(list.to_owned()),
        item: item.to_owned(),
        index: Some(format!("{item}Index")),
    }
}

pub(crate) fn count(name: &str) -> LoopOver {
    LoopOver::Count(Amount::From(Source::Name(name.to_owned())))
}

pub(crate) fn decision(id: Option<&str>) -> LoopOver {
    LoopOver::Decision { id: id.map(str::to_owned) }
}

pub(crate) fn map(id: &str, list: &str, output: Option<&str>, steps: Vec<Step>) -> Step {
    step(
        id,
        StepKind::Map(Map {
            list: Source::Name(list.to_owned()),
            item: "item".to_owned(),
            index: Some("index".to_owned()),
            limit: 2,
            max: 3,
            on_failure: OnFailure::Fail,
            steps,
            output: output.map(str::to_owned),
        }),
    )
}

pub(crate) fn equals(name: &str, value: Value) -> Condition {
    Condition::Rule(Rule::Test { name: name.to_owned(), test: Test::Equals, value })
}

pub(crate) fn object(value: Value) -> Object {
    match value {
        Value::Object(entries) => entries,
        other => panic!("{other} is no object"),
    }
}

pub(crate) fn facts(context: Value) -> Inputs {
    Inputs { context: object(context), ..Inputs::default() }
}

pub(crate) fn output(output: Value) -> Inputs {
    Inputs { output: Some(output), ..Inputs::default() }
}

/// A decision about a loop.
pub(crate) fn decide(decision: &str, loop_id: Option<&str>) -> Inputs {
    let mut artifact = json!({"kind": "wr.loop_control", "decision": decision});
    if let Some(id) = loop_id {
        artifact["loopId"] = json!(id);
    }
    output(json!({"artifacts": [artifact]}))
}

/// Makes the choices that an example leaves open: in each the last, which ends a loop and holds no step
/// in the tests here.
pub(crate) fn choose(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(choose),
        Value::Object(entries) => entries.values_mut().for_each(choose),
        other => {
            let last = choice::choices(other).and_then(|choices| Some(json!(choices.last()?)));
            if let Some(last) = last {
                *other = last;
            }
        }
    }
}

/// What an agent puts where a need says: the example with the choices made, or, where a choice is all
/// that is asked for, one of those that the schema names.
pub(crate) fn chosen(need: &Need) -> Value {
    if let Some(mut example) = need.example.clone() {
        choose(&mut example);
        return example;
    }
    let schema = need.schema.as_ref();
    let named = |at: &str| schema.and_then(|schema| schema.pointer(at)?.as_array()?.last());
    let found = named("/enum").or_else(|| named("/anyOf/0/enum")).cloned();
    found.unwrap_or_else(|| panic!("a need has an example or names the choices: {need:#?}"))
}

/// Any JSON with such numbers, texts and keys.
pub(crate) fn any_json(
    numbers: impl Strategy<Value = Value> + 'static,
    texts: &'static str,
    keys: &'static str,
) -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        numbers,
        texts.prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(keys, inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}
