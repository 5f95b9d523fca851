//! `workflow_resume`: how a chat without a token continues a run.

use std::fmt::Write as _;

use rmcp::model::CallToolResult;
use serde_json::{Value, json};
use trackway_domain::InputRequirement;
use trackway_ports::Identity;
use trackway_runtime::{ResumableRun, ResumeResults};

use crate::{
    arguments::CheckedToolArguments,
    door::McpDoor,
    markdown_quoting::{collapse_to_one_line, prefix_token_like_lines},
    recap::SignedRecap,
    refusal::ToolRefusal,
    text::{push_fenced_token, push_paragraph},
    token::NodeRef,
    tools::ToolName,
};

/// Limit (MCP): characters of the query of workflow_resume.
const QUERY_CHARS_MAX: usize = 400;

pub(crate) async fn call_workflow_resume(
    door: &McpDoor,
    identity: &Identity,
    mut arguments: CheckedToolArguments,
) -> Result<CallToolResult, ToolRefusal> {
    let query = arguments.take_string_argument("query").unwrap_or_default();
    if query.chars().count() > QUERY_CHARS_MAX {
        let need = InputRequirement {
            pointer: "/query".to_owned(),
            message: format!("query is longer than {QUERY_CHARS_MAX} characters"),
            ..InputRequirement::default()
        };
        return Err(ToolRefusal::invalid_arguments_refusal(ToolName::Resume.as_str(), vec![need]));
    }
    let permits = |workflow: &str| identity.scopes.allows_workflow_run(workflow);
    let found = door.guided_runs().find_resumable_runs(&identity.access(), &query, &permits).await?;
    Ok(resumable_runs_result(door, &query, &found))
}

fn resumable_runs_result(door: &McpDoor, query: &str, resume_results: &ResumeResults) -> CallToolResult {
    let key = door.key_ring().active_key_name();
    let mut text = String::from("# Resume\n\n");
    let mut items = Vec::new();
    for item in &resume_results.items {
        let place = NodeRef { run: item.run, node: item.node };
        let token = door.key_ring().sign_state_token(place, &key);
        let recap = SignedRecap::new(door.key_ring(), &item.recap);
        render_resumable_run(&mut text, item, &recap, &token);
        items.push(resumable_run_json(item, &recap, &token));
    }
    match (items.is_empty(), query.trim().is_empty()) {
        (true, true) => push_paragraph(&mut text, "No run is unfinished. Begin one with `workflow_start`."),
        (true, false) => push_paragraph(
            &mut text,
            "Nothing of yours matches. Try the session or ticket id, fewer words, or an empty query for the newest unfinished runs.",
        ),
        (false, _) => push_paragraph(
            &mut text,
            "Next: call `workflow_advance` with one stateToken above and nothing else. It shows the step, a longer recap, and the ackToken to go on with.",
        ),
    }
    if resume_results.has_more {
        push_paragraph(&mut text, "More runs match than are shown. Add words to narrow the search.");
    }
    super::tool_result(text, json!({ "items": items, "hasMore": resume_results.has_more }))
}

fn resumable_run_json(item: &ResumableRun, recap: &SignedRecap<'_>, token: &str) -> Value {
    json!({
        "sessionId": item.session,
        "runId": item.run,
        "workflowId": item.workflow,
        "title": item.title,
        "stateToken": token,
        "step": item.step.as_ref().map(|(id, _)| id),
        "stepTitle": item.step.as_ref().map(|(_, title)| title),
        "isComplete": item.step.is_none(),
        "updatedAt": item.updated_at.to_string(),
        "recap": recap.to_recap_json(),
    })
}

fn render_resumable_run(text: &mut String, item: &ResumableRun, recap: &SignedRecap<'_>, token: &str) {
    let step = match &item.step {
        Some((_, title)) => format!("waits at “{}”", collapse_to_one_line(title)),
        None => "complete".to_owned(),
    };
    let _ = writeln!(
        text,
        "## {} (`{}`)\n\nSession `{}`, {step}, last change {}.\n",
        collapse_to_one_line(&item.title),
        item.workflow,
        item.session,
        item.updated_at
    );
    let recap = recap.render_recap_markdown();
    text.push_str(&prefix_token_like_lines(recap.trim_start_matches("## Recap\n\n")));
    push_fenced_token(text, "stateToken", token);
    text.push('\n');
}
