//! The text of an answer, for agents and people. The same answer always has the same text.
//!
//! The text starts with what to do and ends with the tokens. Each token appears once, alone on its line in
//! a fenced block, so that it is copied whole. The text says nothing that the JSON does not say, and names
//! the same tokens.

mod schema_summary;

pub(crate) use self::schema_summary::summarize_schema;

use std::fmt::Write as _;

use serde_json::Value;
use trackway_definition::Finding;
use trackway_domain::{
    BlockReason, ErrorCode, ExpectedOutput, GuidedRunWarning, InputRequirement, MissingFact, PendingStep,
};
use trackway_runtime::GuidedNodeView;

use crate::{
    markdown_quoting::{close_unclosed_markdown, collapse_to_one_line, mask_tokens_in_text},
    refusal::ToolRefusal,
};

/// Version of the wording below, stored with every recorded answer. A change of wording is a new version,
/// and the old one stays for the answers that used it.
pub(crate) const TEXT_VERSION: u32 = 1;

/// The signed tokens of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SignedTokens {
    pub(crate) state: String,
    pub(crate) ack: Option<String>,
}

/// The text for a start, an advance or a look. A recap is a separate part, between the step and the tokens.
pub(crate) fn render_position(position: &GuidedNodeView, tokens: &SignedTokens, recap: &str) -> String {
    let mut text = String::new();
    match (&position.blocked, &position.pending) {
        (Some(block), Some(_)) if tokens.ack.is_none() => render_ended_run(&mut text, block),
        (Some(block), pending) => render_block_reason(&mut text, block, pending.as_ref()),
        (None, Some(pending)) => render_pending_step(&mut text, pending, &position.guidance),
        (None, None) => render_completed_run(&mut text, &position.workflow),
    }
    if position.advanced && position.branch.forked {
        let (number, siblings) = (position.branch.index + 1, position.branch.siblings);
        push_paragraph(
            &mut text,
            &format!(
                "Forked: this snapshot had been answered before, so this answer made a new branch ({number} of {siblings}). The other branches are unchanged and can go on with their own tokens."
            ),
        );
    }
    render_warnings(&mut text, &position.warnings);
    text.push_str(recap);
    let mut text = mask_tokens_in_text(&text, tokens);
    push_fenced_token(&mut text, "stateToken", &tokens.state);
    if let Some(ack) = &tokens.ack {
        push_fenced_token(&mut text, "ackToken", ack);
    }
    text
}

fn render_pending_step(text: &mut String, pending: &PendingStep, guidance: &[String]) {
    let _ = writeln!(
        text,
        "# {}\n\n{}\n",
        collapse_to_one_line(&pending.title),
        close_unclosed_markdown(&pending.prompt)
    );
    if !guidance.is_empty() {
        push_paragraph(text, "Rules of this workflow:");
        for rule in guidance {
            let _ = writeln!(text, "- {}", close_unclosed_markdown(rule).replace('\n', "\n  "));
        }
        text.push('\n');
    }
    if let Some(expected) = &pending.output {
        render_expected_output(text, expected);
    }
    let _ = writeln!(text, "Next:");
    let mut number = 1;
    let mut item = |text: &mut String, what: &str| {
        let _ = writeln!(text, "{number}. {what}");
        number += 1;
    };
    item(text, "Do the step above.");
    if pending.confirm {
        item(
            text,
            "This step needs the user's agreement: show the user what you did and ask. Go on only if the user agrees; a client that asks the user itself will ask on the advance.",
        );
    }
    if !pending.facts.is_empty() {
        item(
            text,
            &format!(
                "Later steps depend on facts that are not set yet. Put those that you know into `context`: {}.",
                format_missing_facts(&pending.facts)
            ),
        );
    }
    let brought = match &pending.output {
        Some(ExpectedOutput { required: true, .. }) => ", the `output` described above",
        Some(_) => ", where you have it the `output` described above",
        None => "",
    };
    let facts = if pending.facts.is_empty() { "" } else { ", these facts as `context`" };
    item(
        text,
        &format!(
            "Call `workflow_advance` with both tokens below, copied exactly{brought}{facts}, and a short recap as `notesMarkdown`."
        ),
    );
    text.push('\n');
}

/// Facts with the values that later conditions compare them with.
fn format_missing_facts(facts: &[MissingFact]) -> String {
    let each = facts.iter().map(|fact| {
        let values: Vec<String> = fact.values.iter().map(Value::to_string).collect();
        let name = collapse_to_one_line(&fact.name);
        match collapse_to_one_line(&values.join(", ")) {
            values if values.is_empty() => format!("`{name}`"),
            values => format!("`{name}` (compared with {values})"),
        }
    });
    each.collect::<Vec<_>>().join(", ")
}

/// The example first; the form only if it adds something.
fn render_expected_output(text: &mut String, expected: &ExpectedOutput) {
    let how = if expected.required { "Required" } else { "Optional" };
    let _ = writeln!(text, "{how} `output`, for example:\n```json\n{}\n```", expected.example);
    if schema_summary::schema_adds_to_example(&expected.schema, &expected.example) {
        let form = summarize_schema(&expected.schema);
        let _ = writeln!(text, "Its form (`?`: may be missing):\n```\n{form}\n```");
    }
    text.push('\n');
}

/// The end has another kind of heading: the heading of a step begins with `# `, so that no title can look
/// like the end.
fn render_completed_run(text: &mut String, workflow: &str) {
    let _ = writeln!(
        text,
        "=== END OF THE RUN ===\n\nThe workflow `{workflow}` is complete here: no step is pending and there is nothing to advance. Tell the user the outcome.\n"
    );
}

/// A user ended the run, or it was imported. An agent can do nothing about it.
fn render_ended_run(text: &mut String, block: &BlockReason) {
    let heading = match block.code == ErrorCode::NotAdopted.as_str() {
        true => "Not open",
        false => "Over",
    };
    let _ = writeln!(text, "# {heading}: {}\n\n{}\n", block.code, close_unclosed_markdown(&block.message));
}

fn render_block_reason(text: &mut String, block: &BlockReason, pending: Option<&PendingStep>) {
    let _ = writeln!(text, "# Blocked: {}\n\n{}\n", block.code, close_unclosed_markdown(&block.message));
    if block.code == FOLLOWUP_REQUIRED_CODE {
        render_required_followup(text, block);
    } else {
        push_paragraph(text, "Nothing advanced. What is needed, by place in the arguments of your call:");
        render_input_requirements(text, &block.needs);
        push_paragraph(
            text,
            "Next: call `workflow_advance` with the same stateToken, the FRESH ackToken below (the one that you sent would only get this answer again), and everything from your call with the changes above.",
        );
    }
    if let Some(pending) = pending {
        let _ = writeln!(
            text,
            "The step is still: {}\n\n{}\n",
            collapse_to_one_line(&pending.title),
            close_unclosed_markdown(&pending.prompt)
        );
    }
}

/// Code of a block by a judgement that asks for more work.
const FOLLOWUP_REQUIRED_CODE: &str = "followup-required";

/// The work comes first. The text does not say which judgement would pass.
fn render_required_followup(text: &mut String, block: &BlockReason) {
    push_paragraph(
        text,
        "Nothing advanced. Your own judgement asks for follow-up work before this step is done:",
    );
    for need in &block.needs {
        let _ = writeln!(
            text,
            "- judged at `{}`: {}",
            need.pointer,
            close_unclosed_markdown(&need.message).replace('\n', "\n  ")
        );
    }
    text.push('\n');
    push_paragraph(
        text,
        "Next: do that work. Then judge again by what you find, and call `workflow_advance` with the same stateToken, the FRESH ackToken below and the whole `output` with the new judgement. A judgement that is changed without the work is worth nothing.",
    );
}

pub(crate) fn render_input_requirements(text: &mut String, needs: &[InputRequirement]) {
    for need in needs {
        let pointer = if need.pointer.is_empty() { "(all arguments)" } else { &need.pointer };
        let _ =
            writeln!(text, "- `{pointer}`: {}", close_unclosed_markdown(&need.message).replace('\n', "\n  "));
        let more = need.schema.as_ref().filter(|schema| match &need.example {
            Some(example) => schema_summary::schema_adds_to_example(schema, example),
            None => true,
        });
        let lines = [
            ("example", need.example.as_ref().map(Value::to_string)),
            ("form", more.map(summarize_schema)),
            ("you sent", need.got.as_ref().map(Value::to_string)),
        ];
        for (label, value) in lines {
            if let Some(value) = value {
                let _ = writeln!(text, "  - {label}: `{value}`");
            }
        }
    }
    text.push('\n');
}

fn render_warnings(text: &mut String, warnings: &[GuidedRunWarning]) {
    for warning in warnings {
        push_paragraph(
            text,
            &format!("Warning `{}`: {}", warning.code, close_unclosed_markdown(&warning.message)),
        );
    }
}

/// The text after notes were recorded on a node.
pub(crate) fn render_node_checkpoint(
    position: &GuidedNodeView,
    tokens: &SignedTokens,
    repeated: bool,
) -> String {
    let mut text = String::from(if repeated {
        "# Checkpoint\n\nThese notes were recorded on this snapshot before; they stand once.\n\n"
    } else {
        "# Checkpoint\n\nThe notes are recorded on this snapshot.\n\n"
    });
    push_paragraph(
        &mut text,
        "Nothing advanced: the tokens that you have are still good. With the stateToken alone, `workflow_advance` shows the pending step again.",
    );
    render_warnings(&mut text, &position.warnings);
    let mut text = mask_tokens_in_text(&text, tokens);
    push_fenced_token(&mut text, "stateToken", &tokens.state);
    text
}

/// The text after notes were recorded on a session.
pub(crate) fn render_session_checkpoint(session: &str, repeated: bool) -> String {
    let what = if repeated { "had been recorded on" } else { "are recorded on" };
    format!("# Checkpoint\n\nThe notes {what} session `{session}`.\n")
}

pub(crate) fn render_refusal(refusal: &ToolRefusal) -> String {
    let mut text = format!("Error `{}`: {}\n\n", refusal.code, refusal.message);
    push_paragraph(&mut text, &format!("Next: {}", refusal.next));
    if !refusal.needs.is_empty() {
        push_paragraph(&mut text, "What is needed, by place in the arguments of your call:");
        render_input_requirements(&mut text, &refusal.needs);
    }
    text.push_str(if refusal.retryable {
        "The same call may work later.\n"
    } else {
        "The same call will be refused again.\n"
    });
    text
}

/// A fault of a file in one line.
pub(crate) fn format_finding(finding: &Finding) -> String {
    match &finding.suggestion {
        Some(suggestion) => format!("{} ({suggestion})", finding.message),
        None => finding.message.clone(),
    }
}

/// A fault with its place, as far as it has one: the fault of a folder has neither line nor pointer.
pub(crate) fn format_finding_with_location(finding: &Finding) -> String {
    let line = finding.line.map(|line| format!("line {line}"));
    let path = Some(format!("`{}`", finding.path)).filter(|_| !finding.path.is_empty());
    let place: Vec<String> = line.into_iter().chain(path).collect();
    match place.is_empty() {
        true => format_finding(finding),
        false => format!("{}: {}", place.join(", "), format_finding(finding)),
    }
}

/// The first characters of a text, with a mark if it was cut.
pub(crate) fn truncate_chars(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A paragraph.
pub(crate) fn push_paragraph(text: &mut String, paragraph: &str) {
    let _ = writeln!(text, "{paragraph}\n");
}

pub(crate) fn push_fenced_token(text: &mut String, label: &str, token: &str) {
    let _ = writeln!(text, "{label}:\n```\n{token}\n```");
}

#[cfg(test)]
mod tests;
