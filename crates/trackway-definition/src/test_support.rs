//! Builders of definitions for tests.

use proptest::prelude::*;
use serde_json::{Value, json};
use trackway_domain::{AttemptInputs, InputRequirement, Object};

use crate::choice_placeholder;
use crate::model::{
    AskStep, Comparison, Condition, ConditionRule, Definition, EmitArtifact, EmitContent, LoopKind,
    LoopRoundCount, LoopStep, MapStep, NestedWorkflow, OnFailure, PromptStep, Step, StepKind, SwitchCase,
    SwitchStep, ToolStep, ValueExpression,
};

pub(crate) fn sample_definition(steps: Vec<Step>) -> Definition {
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
        unsupported: Vec::new(),
    }
}

pub(crate) fn sample_step(id: &str, kind: StepKind) -> Step {
    Step { id: id.to_owned(), title: id.to_owned(), when: None, kind, save: None, set: [].into() }
}

impl Step {
    pub(crate) fn with_condition(mut self, condition: Condition) -> Self {
        self.when = Some(condition);
        self
    }

    pub(crate) fn with_save_name(mut self, name: &str) -> Self {
        self.save = Some(name.to_owned());
        self
    }

    pub(crate) fn with_set_expression(mut self, name: &str, source: &str) -> Self {
        self.set.insert(name.to_owned(), source.to_owned());
        self
    }
}

pub(crate) fn prompt_step(id: &str, text: &str) -> Step {
    let prompt = PromptStep { text: text.to_owned(), ..PromptStep::default() };
    sample_step(id, StepKind::Prompt(Box::new(prompt)))
}

pub(crate) fn ask_step(id: &str, message: &str, schema: Value) -> Step {
    let (message, authorize, artifact) = (message.to_owned(), false, None);
    sample_step(id, StepKind::Ask(AskStep { message, schema, authorize, artifact }))
}

pub(crate) fn tool_step(id: &str, name: &str, args: &[(&str, Value)]) -> Step {
    let args = args.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    sample_step(id, StepKind::Tool(ToolStep { name: name.to_owned(), args }))
}

pub(crate) fn emit_step(id: &str, artifact: &str, text: &str) -> Step {
    let content = EmitContent::Text(text.to_owned());
    sample_step(id, StepKind::Emit(EmitArtifact { artifact: artifact.to_owned(), content }))
}

pub(crate) fn group_step(id: &str, steps: Vec<Step>) -> Step {
    sample_step(id, StepKind::Group(steps))
}

pub(crate) fn switch_step(id: &str, cases: Vec<(Condition, Vec<Step>)>) -> Step {
    let cases = cases.into_iter().map(|(when, steps)| SwitchCase { when, steps }).collect();
    sample_step(id, StepKind::Switch(SwitchStep { cases }))
}

pub(crate) fn nested_step(
    id: &str,
    context: Option<&[(&str, Value)]>,
    output: Option<&str>,
    steps: Vec<Step>,
) -> Step {
    let context = context
        .map(|values| values.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect());
    let output = output.map(str::to_owned);
    let nested = NestedWorkflow { workflow: format!("{id}-workflow"), context, input: None, steps, output };
    sample_step(id, StepKind::Nested(nested))
}

pub(crate) fn loop_step(id: &str, over: LoopKind, max: u32, steps: Vec<Step>) -> Step {
    sample_step(id, StepKind::Loop(LoopStep { over, max, round: None, steps }))
}

pub(crate) fn loop_over_items(list: &str, item: &str) -> LoopKind {
    LoopKind::Each {
        list: ValueExpression::Name(list.to_owned()),
        item: item.to_owned(),
        index: Some(format!("{item}Index")),
    }
}

pub(crate) fn loop_by_count(name: &str) -> LoopKind {
    LoopKind::Count(LoopRoundCount::From(ValueExpression::Name(name.to_owned())))
}

pub(crate) fn loop_by_decision(id: Option<&str>) -> LoopKind {
    LoopKind::Decision { id: id.map(str::to_owned) }
}

pub(crate) fn map_step(id: &str, list: &str, output: Option<&str>, steps: Vec<Step>) -> Step {
    sample_step(
        id,
        StepKind::Map(MapStep {
            list: ValueExpression::Name(list.to_owned()),
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

pub(crate) fn equals_condition(name: &str, value: Value) -> Condition {
    Condition::Rule(ConditionRule::Test { name: name.to_owned(), test: Comparison::Equals, value })
}

pub(crate) fn expect_object(value: Value) -> Object {
    match value {
        Value::Object(entries) => entries,
        other => panic!("{other} is no object"),
    }
}

pub(crate) fn attempt_inputs_with_context(context: Value) -> AttemptInputs {
    AttemptInputs { context: expect_object(context), ..AttemptInputs::default() }
}

pub(crate) fn attempt_inputs_with_output(output: Value) -> AttemptInputs {
    AttemptInputs { output: Some(output), ..AttemptInputs::default() }
}

/// A decision about a loop.
pub(crate) fn attempt_inputs_with_loop_decision(decision: &str, loop_id: Option<&str>) -> AttemptInputs {
    let mut artifact = json!({"kind": "wr.loop_control", "decision": decision});
    if let Some(id) = loop_id {
        artifact["loopId"] = json!(id);
    }
    attempt_inputs_with_output(json!({"artifacts": [artifact]}))
}

/// Makes the choices that an example leaves open: always the last one, which ends a loop and keeps no run at
/// a step in these tests.
pub(crate) fn fill_example_choices(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(fill_example_choices),
        Value::Object(entries) => entries.values_mut().for_each(fill_example_choices),
        other => {
            let last = choice_placeholder::parse_choice_placeholder(other)
                .and_then(|choices| Some(json!(choices.last()?)));
            if let Some(last) = last {
                *other = last;
            }
        }
    }
}

/// The value that an agent sends for a need: the example with the choices made, or, if only a choice is
/// required, one of those that the schema names.
pub(crate) fn value_satisfying_need(requirement: &InputRequirement) -> Value {
    if let Some(mut example) = requirement.example.clone() {
        fill_example_choices(&mut example);
        return example;
    }
    let schema = requirement.schema.as_ref();
    let named = |at: &str| schema.and_then(|schema| schema.pointer(at)?.as_array()?.last());
    let found = named("/enum").or_else(|| named("/anyOf/0/enum")).cloned();
    found.unwrap_or_else(|| panic!("a need has an example or names the choices: {requirement:#?}"))
}

/// Any JSON with such numbers, texts and keys.
pub(crate) fn any_json_strategy(
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
