//! The list of what can be run, with an example line for each.

use std::sync::Arc;

use super::LABEL;
use crate::{
    conversation::ToolSpec,
    schema_form::form_fields,
    toolset::{DISPATCH_PREFIX, PEER_WORKFLOW_PREFIX},
};

/// Limit (Agents): tools that the offline rules suggest without a request.
const GREETING_MAX: usize = 3;
/// Limit (Agents): tools that the offline rules list; a longer list would not fit on a screen.
const LISTED_MAX: usize = 40;
/// Limit (Agents): characters of a tool's description that the offline rules show.
const DESCRIPTION_MAX: usize = 160;

/// The user's name for a tool. Workflows use their own names.
pub(super) fn tool_display_name(tool: &str) -> &str {
    let prefixes = [DISPATCH_PREFIX, PEER_WORKFLOW_PREFIX];
    prefixes.iter().find_map(|prefix| tool.strip_prefix(prefix)).unwrap_or(tool)
}

pub(super) fn is_workflow_tool(tool: &ToolSpec) -> bool {
    [DISPATCH_PREFIX, PEER_WORKFLOW_PREFIX].iter().any(|prefix| tool.name.starts_with(prefix))
}

/// The tool that a user's name refers to. Workflows come first.
pub(super) fn find_tool<'a>(tools: &'a [Arc<ToolSpec>], name: &str) -> Option<&'a ToolSpec> {
    // Tool names have no dots; workflow names may.
    let wanted = name.replace(|c: char| !c.is_ascii_alphanumeric() && c != '-', "_");
    let tools = || tools.iter().map(AsRef::as_ref);
    let of = |matches: &dyn Fn(&ToolSpec) -> bool| tools().find(|tool| matches(tool));
    of(&|tool| is_workflow_tool(tool) && tool_display_name(&tool.name) == wanted)
        .or_else(|| of(&|tool| tool.name == name))
        .or_else(|| of(&|tool| tool_display_name(&tool.name).eq_ignore_ascii_case(&wanted)))
}

/// A few examples, and how to see the rest.
pub(super) fn render_greeting(tools: &[Arc<ToolSpec>]) -> String {
    let ordered = sort_workflows_first(tools);
    let Some(more) = ordered.len().checked_sub(GREETING_MAX).filter(|more| *more > 0) else {
        return render_tool_list(tools);
    };
    let mut lines = vec![format!("{LABEL} (rules, not a language model). For example:")];
    lines.extend(ordered.iter().take(GREETING_MAX).map(|tool| render_tool_line(tool)));
    lines.push(format!("{more} more: help lists all of them, /help NAME explains one."));
    lines.join("\n")
}

/// Everything that can be run.
pub(super) fn render_tool_list(tools: &[Arc<ToolSpec>]) -> String {
    if tools.is_empty() {
        return format!("{LABEL} (rules, not a language model): there is nothing that I can run.");
    }
    let ordered = sort_workflows_first(tools);
    let mut lines = vec![format!("{LABEL} (rules, not a language model). This is what I can run:")];
    lines.extend(ordered.iter().take(LISTED_MAX).map(|tool| render_tool_line(tool)));
    if let Some(more) = ordered.len().checked_sub(LISTED_MAX).filter(|more| *more > 0) {
        lines.push(format!("… and {more} more."));
    }
    lines.join("\n")
}

fn sort_workflows_first(tools: &[Arc<ToolSpec>]) -> Vec<&ToolSpec> {
    let mut ordered: Vec<&ToolSpec> = tools.iter().map(AsRef::as_ref).collect();
    ordered.sort_by_key(|tool| !is_workflow_tool(tool));
    ordered
}

/// One tool with all its fields.
pub(super) fn render_tool_help(tool: &ToolSpec) -> String {
    let mut lines = vec![render_tool_line(tool)];
    for field in form_fields(&tool.schema) {
        let presence = if field.required { "required" } else { "optional" };
        let mut line = format!("  {}: {}, {presence}", field.name, field.shape.describe_type());
        if let Some(description) = field.description {
            line.push_str(". ");
            line.push_str(&shorten_description(description));
        }
        lines.push(line);
    }
    lines.join("\n")
}

/// A line that runs the tool, and its description.
fn render_tool_line(tool: &ToolSpec) -> String {
    let description = shorten_description(&tool.description);
    if description.is_empty() {
        return render_example_command(tool);
    }
    format!("{} — {description}", render_example_command(tool))
}

/// A line that runs the tool: `/run` with the required fields.
pub(super) fn render_example_command(tool: &ToolSpec) -> String {
    let mut line = format!("/run {}", tool_display_name(&tool.name));
    for field in form_fields(&tool.schema).iter().filter(|field| field.required) {
        line.push_str(&format!(" {}={}", field.name, field.shape.example_value_text()));
    }
    line
}

/// The first line of a description, shortened.
fn shorten_description(description: &str) -> String {
    let first = description.trim().lines().next().unwrap_or_default().trim_end();
    match first.char_indices().nth(DESCRIPTION_MAX) {
        Some((end, _)) => format!("{}…", first[..end].trim_end()),
        None => first.to_owned(),
    }
}
