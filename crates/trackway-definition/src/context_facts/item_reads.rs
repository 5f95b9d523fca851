//! What steps read of the items of a loop or a map.

use serde_json::Value;

use crate::{
    cel_expression,
    context_error::ExpectedType,
    context_reads::ContextReads,
    model::{
        Condition, ConditionRule, EmitArtifact, EmitContent, LoopKind, LoopRoundCount, RunAnnouncement, Step,
        StepKind, ValueExpression,
    },
    template,
    value_shape::{ContextPath, ValueShape},
    walk::loop_variable_names,
};

/// The shape of an item, from everything that the inner steps read of it; none if a step has no items or
/// nothing reads them.
pub(crate) fn loop_item_shape(step: &Step) -> Option<ValueShape> {
    let (steps, item) = match &step.kind {
        StepKind::Loop(repeated) => match &repeated.over {
            LoopKind::Each { item, .. } => (&repeated.steps, item),
            _ => return None,
        },
        StepKind::Map(map) => (&map.steps, &map.item),
        _ => return None,
    };
    let mut reads = context_reads_of_steps(steps);
    if let StepKind::Map(map) = &step.kind
        && let Some(output) = &map.output
    {
        reads.merge_reads(cel_expression::expression_reads(output));
    }
    reads.remove_name(item)
}

fn context_reads_of_steps(steps: &[Step]) -> ContextReads {
    let mut reads = ContextReads::default();
    for step in steps {
        reads.merge_reads(template::template_context_reads(&step.title));
        step.when.iter().for_each(|when| add_condition_reads(&mut reads, when));
        add_step_reads(&mut reads, step);
        // A result is not a name of the context.
        let mut set = ContextReads::default();
        step.set.values().for_each(|source| set.merge_reads(cel_expression::expression_reads(source)));
        set.remove_name("result");
        reads.merge_reads(set);
    }
    reads
}

fn add_step_reads(reads: &mut ContextReads, step: &Step) {
    match &step.kind {
        StepKind::Prompt(prompt) => {
            reads.merge_reads(template::template_context_reads(&prompt.text));
            prompt.confirm.iter().for_each(|when| add_condition_reads(reads, when));
            for fragment in &prompt.fragments {
                fragment.when.iter().for_each(|when| add_condition_reads(reads, when));
                reads.merge_reads(template::template_context_reads(&fragment.text));
            }
        }
        StepKind::Ask(ask) => {
            reads.merge_reads(template::template_context_reads(&ask.message));
            ask.artifact.iter().for_each(|emit| add_emit_reads(reads, emit));
        }
        StepKind::Tool(tool) => tool.args.values().for_each(|value| add_argument_reads(reads, value)),
        StepKind::Emit(emit) => add_emit_reads(reads, emit),
        StepKind::Announce(RunAnnouncement::Status(text) | RunAnnouncement::Reject(text)) => {
            reads.merge_reads(template::template_context_reads(text))
        }
        StepKind::Nested(nested) => match &nested.context {
            Some(values) => values.values().for_each(|value| add_argument_reads(reads, value)),
            None => reads.merge_reads(context_reads_of_steps(&nested.steps)),
        },
        StepKind::Group(steps) => reads.merge_reads(context_reads_of_steps(steps)),
        StepKind::Switch(switch) => {
            for case in &switch.cases {
                add_condition_reads(reads, &case.when);
                reads.merge_reads(context_reads_of_steps(&case.steps));
            }
        }
        StepKind::Loop(repeated) => {
            match &repeated.over {
                LoopKind::While(when) | LoopKind::Until(when) => add_condition_reads(reads, when),
                LoopKind::Count(LoopRoundCount::From(from)) => {
                    add_value_expression_reads(reads, from, ExpectedType::Count)
                }
                LoopKind::Each { list, .. } => add_list_reads(reads, step, list),
                LoopKind::Count(LoopRoundCount::Number(_)) | LoopKind::Decision { .. } => {}
            }
            add_reads_outside_loop(reads, step, &repeated.steps);
        }
        StepKind::Map(map) => {
            add_list_reads(reads, step, &map.list);
            add_reads_outside_loop(reads, step, &map.steps);
        }
    }
}

fn add_emit_reads(reads: &mut ContextReads, emit: &EmitArtifact) {
    reads.merge_reads(template::template_context_reads(&emit.artifact));
    reads.merge_reads(match &emit.content {
        EmitContent::Text(text) => template::template_context_reads(text),
        EmitContent::Data(source) => cel_expression::expression_reads(source),
    });
}

/// A list whose items have the shape that the inner steps read.
fn add_list_reads(reads: &mut ContextReads, step: &Step, list: &ValueExpression) {
    match (list.context_name_path(), loop_item_shape(step)) {
        (Some(path), Some(shape)) => {
            reads.shape_at_path_mut(&context_path_from_dotted(&path)).merge_shape(shape.into_list_shape())
        }
        _ => add_value_expression_reads(reads, list, ExpectedType::List),
    }
}

/// What the steps of a loop or a map read in addition to its own names.
fn add_reads_outside_loop(reads: &mut ContextReads, step: &Step, steps: &[Step]) {
    let mut inner = context_reads_of_steps(steps);
    loop_variable_names(step).into_iter().for_each(|name| {
        inner.remove_name(name);
    });
    reads.merge_reads(inner);
}

fn add_value_expression_reads(reads: &mut ContextReads, source: &ValueExpression, expected: ExpectedType) {
    match source {
        ValueExpression::Name(path) => {
            reads.shape_at_path_mut(&context_path_from_dotted(path)).expect_type_if_unset(expected)
        }
        ValueExpression::Cel(source) => reads.merge_reads(cel_expression::expression_reads(source)),
    }
}

fn add_condition_reads(reads: &mut ContextReads, condition: &Condition) {
    // A rule accepts any value, or none; it says nothing about the type of an item.
    if let Condition::Cel(source) = condition {
        reads.merge_reads(cel_expression::expression_reads(source));
    }
}

/// Literal values; a text that begins with `=` is an expression.
fn add_argument_reads(reads: &mut ContextReads, value: &Value) {
    match value {
        Value::String(text) => {
            if let Some(source) = text.strip_prefix('=').filter(|rest| !rest.starts_with('=')) {
                reads.merge_reads(cel_expression::expression_reads(source));
            }
        }
        Value::Array(items) => items.iter().for_each(|item| add_argument_reads(reads, item)),
        Value::Object(entries) => entries.values().for_each(|entry| add_argument_reads(reads, entry)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A path of names joined by dots.
fn context_path_from_dotted(path: &str) -> ContextPath {
    let mut parts = path.split('.');
    let first = ContextPath::from_context_name(parts.next().unwrap_or_default());
    parts.fold(first, |path, part| {
        path.with_segment(crate::value_shape::ContextPathSegment::Field(part.to_owned()))
    })
}

/// The names that a rule reads, each with the values that it is compared with.
pub(super) fn visit_rule_reads(rule: &ConditionRule, read: &mut dyn FnMut(&str, &[Value])) {
    match rule {
        ConditionRule::Test { name, value: Value::Array(values), .. } => read(name, values),
        ConditionRule::Test { name, value, test } => match test {
            crate::model::Comparison::Exists | crate::model::Comparison::Matches => read(name, &[]),
            _ => read(name, std::slice::from_ref(value)),
        },
        ConditionRule::Truthy { name } => read(name, &[Value::Bool(true), Value::Bool(false)]),
        ConditionRule::And(rules) | ConditionRule::Or(rules) => {
            rules.iter().for_each(|rule| visit_rule_reads(rule, read));
        }
        ConditionRule::Not(rule) => visit_rule_reads(rule, read),
    }
}
