//! `workflow_resume`: the way back in for a chat that has no token.

use std::fmt::Write as _;

use rmcp::model::CallToolResult;
use serde_json::{Value, json};
use trackway_domain::Need;
use trackway_ports::Identity;
use trackway_runtime::{Resumable, Resumed};

use crate::{
    arguments::Arguments,
    door::Door,
    quoted::{in_one_line, without_token_lines},
    recap::SignedRecap,
    refusal::Refusal,
    text::{fence_token, line},
    token::Place,
    tools::Name,
};

/// Limit (MCP): characters of the query of workflow_resume.
const QUERY_CHARS_MAX: usize = 400;

pub(crate) async fn resume(
    door: &Door,
    identity: &Identity,
    mut arguments: Arguments,
) -> Result<CallToolResult, Refusal> {
    let query = arguments.text("query").unwrap_or_default();
    if query.chars().count() > QUERY_CHARS_MAX {
        let need = Need {
            pointer: "/query".to_owned(),
            message: format!("query is longer than {QUERY_CHARS_MAX} characters"),
            ..Need::default()
        };
        return Err(Refusal::arguments(Name::Resume.as_str(), vec![need]));
    }
    let permits = |workflow: &str| identity.scopes.allow_run(workflow);
    let found = door.guide().resume(&identity.access(), &query, &permits).await?;
    Ok(render(door, &query, &found))
}

fn render(door: &Door, query: &str, found: &Resumed) -> CallToolResult {
    let key = door.ring().active();
    let mut text = String::from("# Resume\n\n");
    let mut items = Vec::new();
    for item in &found.items {
        let place = Place { run: item.run, node: item.node };
        let token = door.ring().state_token(place, &key);
        let recap = SignedRecap::new(door.ring(), &item.recap);
        entry(&mut text, item, &recap, &token);
        items.push(structured(item, &recap, &token));
    }
    match (items.is_empty(), query.trim().is_empty()) {
        (true, true) => line(&mut text, "No run is unfinished. Begin one with `workflow_start`."),
        (true, false) => line(
            &mut text,
            "Nothing of yours matches. Try the session or ticket id, fewer words, or an empty query for the newest unfinished runs.",
        ),
        (false, _) => line(
            &mut text,
            "Next: call `workflow_advance` with one stateToken above and nothing else. It shows the step, a longer recap, and the ackToken to go on with.",
        ),
    }
    if found.has_more {
        line(&mut text, "More runs match than are shown. Add words to narrow the search.");
    }
    super::answer(text, json!({ "items": items, "hasMore": found.has_more }))
}

fn structured(item: &Resumable, recap: &SignedRecap<'_>, token: &str) -> Value {
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
        "recap": recap.structured(),
    })
}

fn entry(text: &mut String, item: &Resumable, recap: &SignedRecap<'_>, token: &str) {
    let step = match &item.step {
        Some((_, title)) => format!("waits at “{}”", in_one_line(title)),
        None => "complete".to_owned(),
    };
    let _ = writeln!(
        text,
        "## {} (`{}`)\n\nSession `{}`, {step}, last change {}.\n",
        in_one_line(&item.title),
        item.workflow,
        item.session,
        item.updated_at
    );
    let recap = recap.text();
    text.push_str(&without_token_lines(recap.trim_start_matches("## Recap\n\n")));
    fence_token(text, "stateToken", token);
    text.push('\n');
}
