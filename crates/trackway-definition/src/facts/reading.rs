//! What steps read of the items of a loop or a map.

use serde_json::Value;

use crate::{
    expression,
    lack::Like,
    model::{Amount, Condition, Emit, EmitContent, LoopOver, Rule, Say, Source, Step, StepKind},
    reads::Reads,
    shape::{Place, Shape},
    template,
    walk::own_names,
};

/// The shape of an item, by everything that the steps inside read of it; none where a step has no items
/// or nothing reads them.
pub(crate) fn item_shape(step: &Step) -> Option<Shape> {
    let (steps, item) = match &step.kind {
        StepKind::Loop(repeated) => match &repeated.over {
            LoopOver::Each { item, .. } => (&repeated.steps, item),
            _ => return None,
        },
        StepKind::Map(map) => (&map.steps, &map.item),
        _ => return None,
    };
    let mut reads = read_by(steps);
    if let StepKind::Map(map) = &step.kind
        && let Some(output) = &map.output
    {
        reads.merge(expression::reads(output));
    }
    reads.take(item)
}

fn read_by(steps: &[Step]) -> Reads {
    let mut reads = Reads::default();
    for step in steps {
        reads.merge(template::reads(&step.title));
        step.when.iter().for_each(|when| condition(&mut reads, when));
        inside(&mut reads, step);
        // A result is no name of the context.
        let mut set = Reads::default();
        step.set.values().for_each(|source| set.merge(expression::reads(source)));
        set.take("result");
        reads.merge(set);
    }
    reads
}

fn inside(reads: &mut Reads, step: &Step) {
    match &step.kind {
        StepKind::Prompt(prompt) => {
            reads.merge(template::reads(&prompt.text));
            prompt.confirm.iter().for_each(|when| condition(reads, when));
            for fragment in &prompt.fragments {
                fragment.when.iter().for_each(|when| condition(reads, when));
                reads.merge(template::reads(&fragment.text));
            }
        }
        StepKind::Ask(ask) => {
            reads.merge(template::reads(&ask.message));
            ask.artifact.iter().for_each(|emit| emitted(reads, emit));
        }
        StepKind::Tool(tool) => tool.args.values().for_each(|value| written(reads, value)),
        StepKind::Emit(emit) => emitted(reads, emit),
        StepKind::Say(Say::Status(text) | Say::Reject(text)) => reads.merge(template::reads(text)),
        StepKind::Nested(nested) => match &nested.context {
            Some(values) => values.values().for_each(|value| written(reads, value)),
            None => reads.merge(read_by(&nested.steps)),
        },
        StepKind::Group(steps) => reads.merge(read_by(steps)),
        StepKind::Switch(switch) => {
            for case in &switch.cases {
                condition(reads, &case.when);
                reads.merge(read_by(&case.steps));
            }
        }
        StepKind::Loop(repeated) => {
            match &repeated.over {
                LoopOver::While(when) | LoopOver::Until(when) => condition(reads, when),
                LoopOver::Count(Amount::From(from)) => source(reads, from, Like::Count),
                LoopOver::Each { list, .. } => items(reads, step, list),
                LoopOver::Count(Amount::Number(_)) | LoopOver::Decision { .. } => {}
            }
            without_own(reads, step, &repeated.steps);
        }
        StepKind::Map(map) => {
            items(reads, step, &map.list);
            without_own(reads, step, &map.steps);
        }
    }
}

fn emitted(reads: &mut Reads, emit: &Emit) {
    reads.merge(template::reads(&emit.artifact));
    reads.merge(match &emit.content {
        EmitContent::Text(text) => template::reads(text),
        EmitContent::Data(source) => expression::reads(source),
    });
}

/// A list, whose items have the shape that the steps inside read.
fn items(reads: &mut Reads, step: &Step, list: &Source) {
    match (list.path(), item_shape(step)) {
        (Some(path), Some(shape)) => reads.at(&place(&path)).merge(shape.listed()),
        _ => source(reads, list, Like::List),
    }
}

/// What the steps of a loop or a map read beside its own names.
fn without_own(reads: &mut Reads, step: &Step, steps: &[Step]) {
    let mut inner = read_by(steps);
    own_names(step).into_iter().for_each(|name| {
        inner.take(name);
    });
    reads.merge(inner);
}

fn source(reads: &mut Reads, source: &Source, like: Like) {
    match source {
        Source::Name(path) => reads.at(&place(path)).take_for(like),
        Source::Cel(source) => reads.merge(expression::reads(source)),
    }
}

fn condition(reads: &mut Reads, condition: &Condition) {
    // A rule takes any value, and none; it says nothing of what an item is like.
    if let Condition::Cel(source) = condition {
        reads.merge(expression::reads(source));
    }
}

/// Values as they stand, where a text that begins with `=` is an expression.
fn written(reads: &mut Reads, value: &Value) {
    match value {
        Value::String(text) => {
            if let Some(source) = text.strip_prefix('=').filter(|rest| !rest.starts_with('=')) {
                reads.merge(expression::reads(source));
            }
        }
        Value::Array(items) => items.iter().for_each(|item| written(reads, item)),
        Value::Object(entries) => entries.values().for_each(|entry| written(reads, entry)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A path of names joined by dots.
fn place(path: &str) -> Place {
    let mut parts = path.split('.');
    let first = Place::of(parts.next().unwrap_or_default());
    parts.fold(first, |place, part| place.then(crate::shape::Step::Field(part.to_owned())))
}

/// The names that a rule reads, each with the values that it is compared with.
pub(super) fn rule_reads(rule: &Rule, read: &mut dyn FnMut(&str, &[Value])) {
    match rule {
        Rule::Test { name, value: Value::Array(values), .. } => read(name, values),
        Rule::Test { name, value, test } => match test {
            crate::model::Test::Exists | crate::model::Test::Matches => read(name, &[]),
            _ => read(name, std::slice::from_ref(value)),
        },
        Rule::Truthy { name } => read(name, &[Value::Bool(true), Value::Bool(false)]),
        Rule::And(rules) | Rule::Or(rules) => {
            rules.iter().for_each(|rule| rule_reads(rule, read));
        }
        Rule::Not(rule) => rule_reads(rule, read),
    }
}
