//! Random definitions, answered at random.

use proptest::{collection::vec, option, prelude::*};
use serde_json::{Value, json};
use trackway_domain::Inputs;

use super::super::{StepState, advance, open, repin};
use crate::{
    Definition,
    drive::{self, Action, Move, Stuck, Turn},
    model::{Condition, LoopOver, OnFailure, Step, StepKind},
    testing::{
        ask, count, decide, decision, definition, each, emit, equals, facts, group, map, nested,
        object, output, prompt, repeat, switch, tool,
    },
};

/// More answers than any of these definitions can take: steps of a list, to the power of its depth,
/// times the rounds of its loops.
const ANSWERS_MAX: usize = 20_000;

/// One of the few names that everything here is about, so that things meet.
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
        (name(), value()).prop_map(|(name, value)| equals(name, value)),
        name().prop_map(|name| Condition::Cel(format!("has(context.{name})"))),
        name().prop_map(|name| Condition::Cel(format!("{name} == 2"))),
    ]
}

fn leaf() -> impl Strategy<Value = Step> {
    prop_oneof![
        Just(prompt("p", "do")),
        name().prop_map(|name| prompt("q", &format!("{{{{ {name} }}}}"))),
        Just(ask("ask", "well?", json!({"type": "object"}))),
        name().prop_map(|name| tool("tool", "t", &[("x", json!(format!("={name}")))])),
        name().prop_map(|name| emit("e", "log", &format!("{{{{ {name} }}}}"))),
    ]
}

fn over() -> impl Strategy<Value = LoopOver> {
    prop_oneof![
        condition().prop_map(LoopOver::While),
        condition().prop_map(LoopOver::Until),
        name().prop_map(|name| each(name, "item")),
        name().prop_map(count),
        option::of(Just("loop")).prop_map(decision),
    ]
}

fn any_step() -> impl Strategy<Value = Step> {
    let kind = leaf().prop_recursive(3, 12, 3, |inner| {
        let steps = || vec(inner.clone(), 0..3);
        prop_oneof![
            steps().prop_map(|steps| group("g", steps)),
            (condition(), steps(), steps()).prop_map(|(when, first, second)| {
                switch("s", vec![(when, first), (Condition::Always, second)])
            }),
            (any::<bool>(), name(), steps()).prop_map(|(own, name, steps)| {
                let given = [(name, json!(1))];
                nested("n", own.then_some(given.as_slice()), None, steps)
            }),
            (over(), 0..4_u32, steps())
                .prop_map(|(over, max, steps)| repeat("l", over, max, steps)),
            (name(), option::of(name()), steps())
                .prop_map(|(list, output, steps)| map("m", list, output, steps)),
        ]
    });
    (kind, option::of(condition()), option::of(name()), option::of((name(), name()))).prop_map(
        |(mut step, when, save, set)| {
            step.when = when;
            step.save = save.map(str::to_owned);
            if let Some((name, source)) = set {
                step = step.set(name, source);
            }
            step
        },
    )
}

/// Ids are made unique, as the reader sees to.
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
            | StepKind::Say(_) => {}
        }
    }
}

fn inputs() -> impl Strategy<Value = Inputs> {
    prop_oneof![
        Just(Inputs::default()),
        (name(), value()).prop_map(|(name, value)| facts(json!({name: value}))),
        value().prop_map(output),
        value().prop_map(|value| output(json!({"result": value}))),
        (prop::sample::select(vec!["continue", "stop"]), option::of(Just("loop")))
            .prop_map(|(said, id)| decide(said, id)),
    ]
}

/// Whatever the definition and the answers, every call comes back, a place written down and read again
/// leads to the same, and an agent that sends what it is told to send comes to the end.
fn answer_all(definition: &Definition, answers: &[Inputs]) {
    let everything = json!({
        "a": 1, "b": 2, "list": [1], "number": 1, "item": [3], "result": 1,
    });
    let enough = Inputs { output: Some(json!({"result": 1})), ..facts(everything.clone()) };
    let Ok(mut standing) = open(definition, &object(json!({"list": [1, 2], "number": 2})))
        .or_else(|_| open(definition, &object(everything)))
    else {
        return;
    };
    let mut answers = answers.iter();
    for _ in 0..ANSWERS_MAX {
        if standing.pending.is_none() {
            return;
        }
        // The same definition again: the same step, though a loop's names are put up anew.
        if let Ok(same) = repin(definition, definition, &standing.walk, &standing.context) {
            let step = |standing: &StepState| Some(standing.pending.as_ref()?.step.clone());
            assert_eq!(step(&same), step(&standing));
        }
        let inputs = answers.next().unwrap_or(&enough);
        let StepState { walk, context, .. } = &standing;
        let next = advance(definition, walk, context, inputs);
        let text = serde_json::to_string(walk).expect("it can be written");
        let again = serde_json::from_str(&text).expect("it can be read");
        assert_eq!(advance(definition, &again, context, inputs), next);
        match next {
            Ok(next) => standing = next,
            // A value that an answer before brought is of no use: only another would help.
            Err(_) if std::ptr::eq(inputs, &raw const enough) => return,
            Err(_) => {}
        }
    }
    panic!("it does not end");
}

/// The same for the engine, which does the items of a map as walks of their own.
fn engine(definition: &Definition, first: Result<Move, Stuck>, left: &mut usize) -> Option<Value> {
    let mut moved = first.ok()?;
    loop {
        *left = left.checked_sub(1).expect("it ends");
        let action = match moved.turn {
            Turn::Done { output } => return Some(output),
            Turn::Act { action, .. } => action,
        };
        let result = match action {
            Action::Map { items, .. } => {
                let each = items.iter().enumerate().map(|(index, value)| {
                    let first = drive::item(definition, &moved.place, index, value);
                    engine(definition, first, left).ok_or_else(|| "it is blocked".to_owned())
                });
                let results: Vec<_> = each.collect();
                drive::collect(OnFailure::Keep, results).ok()?
            }
            _ => json!({"result": 1}),
        };
        moved = drive::answer(definition, &moved.place, &output(result)).ok()?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Proves T9: no definition and no answer makes the interpreter panic or go on for ever.
    #[test]
    fn a_random_definition_ends(
        mut steps in vec(any_step(), 0..4),
        answers in vec(inputs(), 0..20),
    ) {
        number(&mut steps, &mut 0);
        let sample = definition(steps);
        answer_all(&sample, &answers);
        let context = object(json!({"a": 1, "b": 2, "list": [1, [2]], "number": 2, "item": [3]}));
        engine(&sample, drive::begin(&sample, &context), &mut ANSWERS_MAX.clone());
    }
}
