//! Random definitions with random answers.

use proptest::{collection::vec, option, prelude::*};
use serde_json::{Value, json};
use trackway_domain::AttemptInputs;

use super::super::{GuidedStepState, advance_guided_run, begin_guided_run, repin_to_definition};
use crate::{
    Definition,
    engine_walk::{self, BlockedWalk, EngineStepAction, NextEngineStep, WalkProgress},
    model::{Condition, LoopKind, OnFailure, Step, StepKind},
    test_support::{
        ask_step, attempt_inputs_with_context, attempt_inputs_with_loop_decision, attempt_inputs_with_output,
        emit_step, equals_condition, expect_object, group_step, loop_by_count, loop_by_decision,
        loop_over_items, loop_step, map_step, nested_step, prompt_step, sample_definition, switch_step,
        tool_step,
    },
};

/// More answers than any of these definitions needs: steps of a list, to the power of its depth, times the
/// rounds of its loops.
const ANSWERS_MAX: usize = 20_000;

/// One of the few names that all parts here use, so that they interact.
fn name() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["a", "b", "list", "number", "item"])
}

fn value() -> impl Strategy<Value = Value> {
    prop::sample::select(vec![
        json!(null),
        json!(true),
        json!(2),
        json!(-1.5),
        json!("text"),
        json!([1, "two"]),
        json!([]),
        json!({"a": {"b": [1]}, "artifacts": 1}),
    ])
}

fn condition() -> impl Strategy<Value = Condition> {
    prop_oneof![
        Just(Condition::Always),
        (name(), value()).prop_map(|(name, value)| equals_condition(name, value)),
        name().prop_map(|name| Condition::Cel(format!("has(context.{name})"))),
        name().prop_map(|name| Condition::Cel(format!("{name} == 2"))),
    ]
}

fn leaf() -> impl Strategy<Value = Step> {
    prop_oneof![
        Just(prompt_step("p", "do")),
        name().prop_map(|name| prompt_step("q", &format!("{{{{ {name} }}}}"))),
        Just(ask_step("ask", "well?", json!({"type": "object"}))),
        name().prop_map(|name| tool_step("tool", "t", &[("x", json!(format!("={name}")))])),
        name().prop_map(|name| emit_step("e", "log", &format!("{{{{ {name} }}}}"))),
    ]
}

fn over() -> impl Strategy<Value = LoopKind> {
    prop_oneof![
        condition().prop_map(LoopKind::While),
        condition().prop_map(LoopKind::Until),
        name().prop_map(|name| loop_over_items(name, "item")),
        name().prop_map(loop_by_count),
        option::of(Just("loop")).prop_map(loop_by_decision),
    ]
}

fn any_step() -> impl Strategy<Value = Step> {
    let kind = leaf().prop_recursive(3, 12, 3, |inner| {
        let steps = || vec(inner.clone(), 0..3);
        prop_oneof![
            steps().prop_map(|steps| group_step("g", steps)),
            (condition(), steps(), steps()).prop_map(|(when, first, second)| {
                switch_step("s", vec![(when, first), (Condition::Always, second)])
            }),
            (any::<bool>(), name(), steps()).prop_map(|(own, name, steps)| {
                let given = [(name, json!(1))];
                nested_step("n", own.then_some(given.as_slice()), None, steps)
            }),
            (over(), 0..4_u32, steps()).prop_map(|(over, max, steps)| loop_step("l", over, max, steps)),
            (name(), option::of(name()), steps())
                .prop_map(|(list, output, steps)| map_step("m", list, output, steps)),
        ]
    });
    (kind, option::of(condition()), option::of(name()), option::of((name(), name()))).prop_map(
        |(mut step, when, save, set)| {
            step.when = when;
            step.save = save.map(str::to_owned);
            if let Some((name, source)) = set {
                step = step.with_set_expression(name, source);
            }
            step
        },
    )
}

/// Makes ids unique, as the reader ensures.
fn number(steps: &mut [Step], next: &mut usize) {
    for step in steps {
        step.id = format!("{}-{next}", step.id);
        *next += 1;
        match &mut step.kind {
            StepKind::Group(steps) => number(steps, next),
            StepKind::Nested(nested) => number(&mut nested.steps, next),
            StepKind::Loop(repeated) => number(&mut repeated.steps, next),
            StepKind::Map(map) => number(&mut map.steps, next),
            StepKind::Switch(switch) => {
                for case in &mut switch.cases {
                    number(&mut case.steps, next);
                }
            }
            StepKind::Prompt(_)
            | StepKind::Ask(_)
            | StepKind::Tool(_)
            | StepKind::Emit(_)
            | StepKind::Announce(_) => {}
        }
    }
}

fn inputs() -> impl Strategy<Value = AttemptInputs> {
    prop_oneof![
        Just(AttemptInputs::default()),
        (name(), value()).prop_map(|(name, value)| attempt_inputs_with_context(json!({name: value}))),
        value().prop_map(attempt_inputs_with_output),
        value().prop_map(|value| attempt_inputs_with_output(json!({"result": value}))),
        (prop::sample::select(vec!["continue", "stop"]), option::of(Just("loop")))
            .prop_map(|(said, id)| attempt_inputs_with_loop_decision(said, id)),
    ]
}

/// For every definition and every answer, each call returns, a stored position leads to the same result after
/// it is read again, and an agent that sends what is requested reaches the end.
fn answer_all(definition: &Definition, answers: &[AttemptInputs]) {
    let everything = json!({
        "a": 1, "b": 2, "list": [1], "number": 1, "item": [3], "result": 1,
    });
    let enough = AttemptInputs {
        output: Some(json!({"result": 1})),
        ..attempt_inputs_with_context(everything.clone())
    };
    let Ok(mut standing) = begin_guided_run(definition, &expect_object(json!({"list": [1, 2], "number": 2})))
        .or_else(|_| begin_guided_run(definition, &expect_object(everything)))
    else {
        return;
    };
    let mut answers = answers.iter();
    for _ in 0..ANSWERS_MAX {
        if standing.pending.is_none() {
            return;
        }
        // The same definition again: the same step, although the loop's names are set again.
        if let Ok(same) = repin_to_definition(definition, definition, &standing.position, &standing.context) {
            let step = |standing: &GuidedStepState| Some(standing.pending.as_ref()?.step.clone());
            assert_eq!(step(&same), step(&standing));
        }
        let inputs = answers.next().unwrap_or(&enough);
        let GuidedStepState { position, context, .. } = &standing;
        let next = advance_guided_run(definition, position, context, inputs);
        let text = serde_json::to_string(position).expect("it can be written");
        let again = serde_json::from_str(&text).expect("it can be read");
        assert_eq!(advance_guided_run(definition, &again, context, inputs), next);
        match next {
            Ok(next) => standing = next,
            // An earlier answer brought an unusable value: only another value would help.
            Err(_) if std::ptr::eq(inputs, &raw const enough) => return,
            Err(_) => {}
        }
    }
    panic!("it does not end");
}

/// The same for the engine, which handles the items of a map as separate walks.
fn engine(
    definition: &Definition,
    first: Result<WalkProgress, BlockedWalk>,
    left: &mut usize,
) -> Option<Value> {
    let mut moved = first.ok()?;
    loop {
        *left = left.checked_sub(1).expect("it ends");
        let action = match moved.next {
            NextEngineStep::Done { output } => return Some(output),
            NextEngineStep::Act { action, .. } => action,
        };
        let result = match action {
            EngineStepAction::Map { items, .. } => {
                let each = items.iter().enumerate().map(|(index, value)| {
                    let first = engine_walk::begin_map_item(definition, &moved.state, index, value);
                    engine(definition, first, left).ok_or_else(|| "it is blocked".to_owned())
                });
                let results: Vec<_> = each.collect();
                engine_walk::collect_map_item_results(OnFailure::Keep, results).ok()?
            }
            _ => json!({"result": 1}),
        };
        moved =
            engine_walk::answer_step(definition, &moved.state, &attempt_inputs_with_output(result)).ok()?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Proves T9: no definition and no answer makes the interpreter panic or run forever.
    #[test]
    fn a_random_definition_ends(
        mut steps in vec(any_step(), 0..4),
        answers in vec(inputs(), 0..20),
    ) {
        number(&mut steps, &mut 0);
        let sample = sample_definition(steps);
        answer_all(&sample, &answers);
        let context = expect_object(json!({"a": 1, "b": 2, "list": [1, [2]], "number": 2, "item": [3]}));
        engine(&sample, engine_walk::begin_engine_run(&sample, &context), &mut ANSWERS_MAX.clone());
    }
}
