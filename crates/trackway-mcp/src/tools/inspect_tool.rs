//! `workflow_inspect`: one workflow with the ids of its steps and its requirements, without a start.

use std::fmt::Write as _;

use rmcp::model::CallToolResult;
use serde_json::{Value, json};
use trackway_definition::model::{OutputContractForm, RunAnnouncement, Step, StepKind, UnsupportedConstruct};
use trackway_runtime::CatalogueEntry;

use crate::text;

/// Limit (MCP): bytes of the line of `workflow_inspect` that names what is not acted on.
const UNSUPPORTED_BYTES_MAX: usize = 400;

/// Limit (MCP): constructs that keep a workflow from being started, in the text of `workflow_inspect`.
const UNSUPPORTED_MAX: usize = 10;

pub(crate) fn workflow_inspect_result(catalogue_entry: &CatalogueEntry, rules: &[String]) -> CallToolResult {
    let (structured, text) = render_workflow_json_and_text(catalogue_entry, rules);
    super::tool_result(text, structured)
}

/// One workflow as JSON and as text. `rules` is its guidance, with resolved references.
pub fn render_workflow_json_and_text(catalogue_entry: &CatalogueEntry, rules: &[String]) -> (Value, String) {
    let definition = &catalogue_entry.definition;
    let mut structured = json!({
        "workflowId": definition.id,
        "name": definition.name,
        "description": definition.description,
        "version": definition.version,
        "workflowHash": catalogue_entry.hash,
        "guidance": rules,
        "steps": steps_json(&definition.steps),
        "unheeded": definition.unsupported,
    });
    if let Some(input) = &definition.input {
        structured["input"] = input.clone();
    }
    if !definition.tags.is_empty() {
        structured["tags"] = json!(definition.tags);
    }
    (structured, render_workflow_text(catalogue_entry))
}

fn steps_json(list: &[Step]) -> Value {
    list.iter().map(step_json).collect()
}

fn step_json(step: &Step) -> Value {
    let mut told = json!({ "id": step.id, "title": step.title, "kind": step_kind_name(&step.kind) });
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
    let inner = step.kind.inner_steps();
    let inner: Vec<Value> = inner.into_iter().flatten().map(self::step_json).collect();
    if !inner.is_empty() {
        told["steps"] = inner.into();
    }
    told
}

const fn step_kind_name(kind: &StepKind) -> &'static str {
    match kind {
        StepKind::Prompt(_) => "prompt",
        StepKind::Ask(_) => "ask",
        StepKind::Tool(_) => "tool",
        StepKind::Emit(_) => "emit",
        StepKind::Announce(RunAnnouncement::Status(_)) => "status",
        StepKind::Announce(RunAnnouncement::Reject(_)) => "reject",
        StepKind::Nested(_) => "workflow",
        StepKind::Switch(_) => "switch",
        StepKind::Loop(_) => "loop",
        StepKind::Map(_) => "map",
        StepKind::Group(_) => "group",
    }
}

fn render_workflow_text(catalogue_entry: &CatalogueEntry) -> String {
    let definition = &catalogue_entry.definition;
    let mut told = format!(
        "# {}\n\n{}\n\nworkflowId: `{}`, version {}, workflowHash `{}`\n\nSteps:\n",
        definition.name,
        definition.description.trim_end(),
        definition.id,
        definition.version,
        catalogue_entry.hash
    );
    render_steps_outline(&mut told, &definition.steps, 0);
    told.push('\n');
    if let Some(input) = &definition.input {
        let _ = writeln!(told, "Context that a start wants:\n```\n{}\n```\n", text::summarize_schema(input));
    }
    render_unsupported_constructs(&mut told, &definition.unsupported);
    told
}

/// What prevents a start of the workflow, one line each; everything that is merely ignored, in one line.
fn render_unsupported_constructs(text: &mut String, unheeded: &[UnsupportedConstruct]) {
    let (fatal, silent): (Vec<_>, Vec<_>) = unheeded.iter().partition(|one| one.matters);
    for construct in fatal.iter().take(UNSUPPORTED_MAX) {
        text::push_paragraph(
            text,
            &format!("Not supported, so it cannot be started: `{}`: {}", construct.path, construct.message),
        );
    }
    if let Some(more) = fatal.len().checked_sub(UNSUPPORTED_MAX + 1) {
        text::push_paragraph(text, &format!("And {} more constructs that are not supported.", more + 1));
    }
    if silent.is_empty() {
        return;
    }
    let mut shown = String::new();
    let mut left = silent.len();
    for construct in &silent {
        if shown.len() + construct.path.len() > UNSUPPORTED_BYTES_MAX {
            break;
        }
        if !shown.is_empty() {
            shown.push_str(", ");
        }
        let _ = write!(shown, "`{}`", construct.path);
        left -= 1;
    }
    let more = if left > 0 { format!(" and {left} more") } else { String::new() };
    text::push_paragraph(
        text,
        &format!(
            "Not acted on, and nothing runs otherwise because of it: {shown}{more} (`unheeded` has the reasons)."
        ),
    );
}

fn render_steps_outline(text: &mut String, steps: &[Step], depth: usize) {
    for step in steps {
        let indent = "  ".repeat(depth);
        let optional = if step.when.is_some() { ", conditional" } else { "" };
        let confirmed = match &step.kind {
            StepKind::Prompt(prompt) if prompt.confirm.is_some() => ", confirmed by the user",
            _ => "",
        };
        let _ = writeln!(
            text,
            "{indent}- `{}` {} ({}{optional}{confirmed})",
            step.id,
            step.title,
            step_kind_name(&step.kind)
        );
        if let StepKind::Prompt(prompt) = &step.kind
            && let Some(contract) = &prompt.output
        {
            let (OutputContractForm::WholeOutput { schema, .. }
            | OutputContractForm::Artifact { schema, .. }) = &contract.form;
            let what = if contract.required { "output" } else { "optional output" };
            let _ = writeln!(text, "{indent}  {what}: `{}`", text::summarize_schema(schema));
        }
        for inner in step.kind.inner_steps() {
            render_steps_outline(text, inner, depth + 1);
        }
    }
}
