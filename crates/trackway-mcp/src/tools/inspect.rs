//! `workflow_inspect`: one workflow, its steps' ids and what it wants, without starting it.

use std::fmt::Write as _;

use rmcp::model::CallToolResult;
use serde_json::{Value, json};
use trackway_definition::model::{Say, Step, StepKind};
use trackway_runtime::Known;

use crate::text;

pub(crate) fn inspect(known: &Known) -> CallToolResult {
    let definition = &known.definition;
    let mut structured = json!({
        "workflowId": definition.id,
        "name": definition.name,
        "description": definition.description,
        "version": definition.version,
        "workflowHash": known.hash,
        "guidance": definition.guidance,
        "steps": steps(&definition.steps),
        "unheeded": definition.unheeded,
    });
    if let Some(input) = &definition.input {
        structured["input"] = input.clone();
    }
    super::answer(told(known), structured)
}

fn steps(list: &[Step]) -> Value {
    list.iter().map(step).collect()
}

fn step(step: &Step) -> Value {
    let mut told = json!({ "id": step.id, "title": step.title, "kind": kind(&step.kind) });
    if step.when.is_some() {
        told["conditional"] = true.into();
    }
    if let StepKind::Prompt(prompt) = &step.kind {
        if prompt.confirm.is_some() {
            told["requireConfirmation"] = true.into();
        }
        if let Some(contract) = &prompt.output {
            told["output"] = json!(contract);
        }
    }
    let inner: Vec<Value> = inside(&step.kind).flatten().map(self::step).collect();
    if !inner.is_empty() {
        told["steps"] = inner.into();
    }
    told
}

const fn kind(kind: &StepKind) -> &'static str {
    match kind {
        StepKind::Prompt(_) => "prompt",
        StepKind::Ask(_) => "ask",
        StepKind::Tool(_) => "tool",
        StepKind::Emit(_) => "emit",
        StepKind::Say(Say::Status(_)) => "status",
        StepKind::Say(Say::Reject(_)) => "reject",
        StepKind::Nested(_) => "workflow",
        StepKind::Switch(_) => "switch",
        StepKind::Loop(_) => "loop",
        StepKind::Map(_) => "map",
        StepKind::Group(_) => "group",
    }
}

/// The lists of steps that a step holds.
fn inside(kind: &StepKind) -> impl Iterator<Item = &[Step]> {
    let lists: Vec<&[Step]> = match kind {
        StepKind::Prompt(_)
        | StepKind::Ask(_)
        | StepKind::Tool(_)
        | StepKind::Emit(_)
        | StepKind::Say(_) => Vec::new(),
        StepKind::Nested(nested) => vec![&nested.steps],
        StepKind::Switch(switch) => switch.cases.iter().map(|case| &case.steps[..]).collect(),
        StepKind::Loop(looped) => vec![&looped.steps],
        StepKind::Map(map) => vec![&map.steps],
        StepKind::Group(steps) => vec![steps],
    };
    lists.into_iter()
}

fn told(known: &Known) -> String {
    let definition = &known.definition;
    let mut told = format!(
        "# {}\n\n{}\n\nworkflowId: `{}`, version {}, workflowHash `{}`\n\nSteps:\n",
        definition.name,
        definition.description.trim_end(),
        definition.id,
        definition.version,
        known.hash
    );
    outline(&mut told, &definition.steps, 0);
    told.push('\n');
    if let Some(input) = &definition.input {
        let _ = writeln!(told, "Context that a start wants:\n```json\n{input:#}\n```\n");
    }
    for construct in &definition.unheeded {
        let what = if construct.matters {
            "Not supported, so it cannot be started"
        } else {
            "Not acted on"
        };
        text::line(&mut told, &format!("{what}: `{}`: {}", construct.path, construct.message));
    }
    told
}

fn outline(told: &mut String, steps: &[Step], depth: usize) {
    for step in steps {
        let _ = writeln!(
            told,
            "{}- `{}` {} ({})",
            "  ".repeat(depth),
            step.id,
            step.title,
            kind(&step.kind)
        );
        for inner in inside(&step.kind) {
            outline(told, inner, depth + 1);
        }
    }
}
