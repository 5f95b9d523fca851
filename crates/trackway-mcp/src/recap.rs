//! A recap as JSON and as text: what was recorded on the way to a snapshot, and the branches that start
//! from it.

use std::fmt::Write as _;

use serde_json::{Value, json};
use trackway_runtime::{NodeRecap, RecapBranch, RecapNote};

use crate::{
    markdown_quoting::{close_unclosed_markdown, collapse_to_one_line},
    text::push_paragraph,
    token::{KeyRing, NodeRef},
};

/// A recap with the signed tokens of its branches.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SignedRecap<'a> {
    recap: &'a NodeRecap,
    /// One per branch, in the order of the branches.
    tokens: Vec<String>,
}

impl<'a> SignedRecap<'a> {
    pub(crate) fn new(ring: &KeyRing, recap: &'a NodeRecap) -> Self {
        let key = ring.active_key_name();
        let token =
            |grown: &RecapBranch| ring.sign_state_token(NodeRef { run: grown.run, node: grown.node }, &key);
        Self { recap, tokens: recap.branches.iter().map(token).collect() }
    }

    pub(crate) fn to_recap_json(&self) -> Value {
        let NodeRecap { notes, checkpoints, documents, branches: grew, is_truncated: is_cut, damaged } =
            self.recap;
        let grew = grew.iter().zip(&self.tokens).map(|(grown, token)| recap_branch_json(grown, token));
        let documents = documents.iter().map(
            |document| json!({ "name": document.name, "kind": document.kind, "content": document.text }),
        );
        let mut recap = json!({
            "notes": notes.iter().map(recap_note_json).collect::<Vec<_>>(),
            "checkpoints": checkpoints.iter().map(recap_note_json).collect::<Vec<_>>(),
            "documents": documents.collect::<Vec<_>>(),
            "grew": grew.collect::<Vec<_>>(),
            "truncated": is_cut,
        });
        if let Some(reason) = damaged {
            recap["damaged"] = reason.as_str().into();
        }
        recap
    }

    /// The recap as paragraphs; empty if nothing was recorded.
    pub(crate) fn render_recap_markdown(&self) -> String {
        let NodeRecap { notes, checkpoints, documents, branches: grew, is_truncated: is_cut, damaged } =
            self.recap;
        let mut text = String::new();
        if !grew.is_empty() {
            // An agent copies the tokens that it sees, so the text contains only those of the answer
            // itself.
            push_paragraph(
                &mut text,
                "Answered before. What grew from this snapshot, newest first (`recap.grew` has the stateToken of each; workflow_resume finds the newest):",
            );
            grew.iter().for_each(|grown| render_recap_branch(&mut text, grown));
            text.push('\n');
        }
        for (heading, entries) in [
            ("Notes recorded so far, newest first:", notes),
            ("Checkpoints and session notes, newest first:", checkpoints),
        ] {
            if !entries.is_empty() {
                push_paragraph(&mut text, heading);
                entries.iter().for_each(|entry| render_recap_note(&mut text, entry));
                text.push('\n');
            }
        }
        if !documents.is_empty() {
            push_paragraph(&mut text, "Documents so far:");
            for document in documents {
                let _ = writeln!(text, "- {}: `{}`", collapse_to_one_line(&document.name), document.text);
            }
            text.push('\n');
        }
        if *is_cut {
            push_paragraph(
                &mut text,
                "Older entries are left out; `trackway sessions show` has all of them.",
            );
        }
        if let Some(reason) = damaged {
            let reason = collapse_to_one_line(reason);
            push_paragraph(
                &mut text,
                &format!("Warning `damaged-log`: a part of this run cannot be read ({reason})."),
            );
        }
        if text.is_empty() { text } else { format!("## Recap\n\n{text}") }
    }
}

fn recap_note_json(note: &RecapNote) -> Value {
    let mut told = json!({ "notesMarkdown": note.text, "recordedAt": note.at.to_string() });
    let fields = [("stepId", &note.step), ("title", &note.title), ("workflowId", &note.workflow)];
    for (name, value) in fields {
        if let Some(value) = value {
            told[name] = value.as_str().into();
        }
    }
    match note.run {
        Some(run) => told["runId"] = json!(run),
        None => told["scope"] = "session".into(),
    }
    told
}

fn recap_branch_json(branch: &RecapBranch, token: &str) -> Value {
    let mut told = json!({
        "stateToken": token,
        "stepId": branch.pending.as_ref().map(|pending| &pending.step),
        "title": branch.pending.as_ref().map(|pending| &pending.title),
        "isComplete": branch.pending.is_none(),
        "updatedAt": branch.at.to_string(),
    });
    if let Some(notes) = &branch.notes {
        told["notesMarkdown"] = notes.as_str().into();
    }
    if branch.is_truncated {
        told["truncated"] = true.into();
    }
    told
}

fn render_recap_branch(text: &mut String, branch: &RecapBranch) {
    let state = match &branch.pending {
        Some(pending) => format!("now at “{}”", collapse_to_one_line(&pending.title)),
        None => "complete".to_owned(),
    };
    let beyond = if branch.is_truncated { ", and goes on beyond it" } else { "" };
    let _ = writeln!(text, "- {state}{beyond} ({})", branch.at);
    if let Some(notes) = &branch.notes {
        let _ = writeln!(text, "  {}", close_unclosed_markdown(notes).replace('\n', "\n  "));
    }
}

fn render_recap_note(text: &mut String, note: &RecapNote) {
    let at = match (&note.title, note.run) {
        (Some(title), _) => format!("“{}”", collapse_to_one_line(title)),
        (None, Some(_)) => "a step".to_owned(),
        (None, None) => "the session".to_owned(),
    };
    let of = note.workflow.as_ref().map(|id| format!(" of another run of `{id}`"));
    let _ = writeln!(text, "- {at}{} ({}):", of.unwrap_or_default(), note.at);
    let _ = writeln!(text, "  {}", close_unclosed_markdown(&note.text).replace('\n', "\n  "));
}
