//! A recap in both forms: what was recorded on the way to a snapshot, and what grew from it.

use std::fmt::Write as _;

use serde_json::{Value, json};
use trackway_runtime::{Recap, RecapGrowth, RecapNote};

use crate::{
    quoted::{in_one_line, quoted},
    text::line,
    token::{KeyRing, Place},
};

/// A recap with the tokens of what grew, signed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SignedRecap<'a> {
    recap: &'a Recap,
    /// One for each branch, in their order.
    tokens: Vec<String>,
}

impl<'a> SignedRecap<'a> {
    pub(crate) fn new(ring: &KeyRing, recap: &'a Recap) -> Self {
        let key = ring.active();
        let token = |grown: &RecapGrowth| {
            ring.state_token(Place { run: grown.run, node: grown.node }, &key)
        };
        Self { recap, tokens: recap.grew.iter().map(token).collect() }
    }

    pub(crate) fn structured(&self) -> Value {
        let Recap { notes, checkpoints, documents, grew, is_cut, damaged } = self.recap;
        let grew = grew.iter().zip(&self.tokens).map(|(grown, token)| growth(grown, token));
        let documents = documents.iter().map(|document| {
            json!({ "name": document.name, "kind": document.kind, "content": document.text })
        });
        let mut recap = json!({
            "notes": notes.iter().map(note).collect::<Vec<_>>(),
            "checkpoints": checkpoints.iter().map(note).collect::<Vec<_>>(),
            "documents": documents.collect::<Vec<_>>(),
            "grew": grew.collect::<Vec<_>>(),
            "truncated": is_cut,
        });
        if let Some(reason) = damaged {
            recap["damaged"] = reason.as_str().into();
        }
        recap
    }

    /// The same as paragraphs; nothing where there is nothing to tell.
    pub(crate) fn text(&self) -> String {
        let Recap { notes, checkpoints, documents, grew, is_cut, damaged } = self.recap;
        let mut text = String::new();
        if !grew.is_empty() {
            // An agent copies the tokens that it sees: only those of the answer itself are in the text.
            line(
                &mut text,
                "Answered before. What grew from this snapshot, newest first (`recap.grew` has the stateToken of each; workflow_resume finds the newest):",
            );
            grew.iter().for_each(|grown| branch(&mut text, grown));
            text.push('\n');
        }
        for (heading, entries) in [
            ("Notes recorded so far, newest first:", notes),
            ("Checkpoints and session notes, newest first:", checkpoints),
        ] {
            if !entries.is_empty() {
                line(&mut text, heading);
                entries.iter().for_each(|entry| noted(&mut text, entry));
                text.push('\n');
            }
        }
        if !documents.is_empty() {
            line(&mut text, "Documents so far:");
            for document in documents {
                let _ = writeln!(text, "- {}: `{}`", in_one_line(&document.name), document.text);
            }
            text.push('\n');
        }
        if *is_cut {
            line(
                &mut text,
                "Older entries are left out; `trackway sessions show` has all of them.",
            );
        }
        if let Some(reason) = damaged {
            let reason = in_one_line(reason);
            line(
                &mut text,
                &format!("Warning `damaged-log`: a part of this run cannot be read ({reason})."),
            );
        }
        if text.is_empty() { text } else { format!("## Recap\n\n{text}") }
    }
}

fn note(note: &RecapNote) -> Value {
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

fn growth(grown: &RecapGrowth, token: &str) -> Value {
    let mut told = json!({
        "stateToken": token,
        "stepId": grown.pending.as_ref().map(|pending| &pending.step),
        "title": grown.pending.as_ref().map(|pending| &pending.title),
        "isComplete": grown.pending.is_none(),
        "updatedAt": grown.at.to_string(),
    });
    if let Some(notes) = &grown.notes {
        told["notesMarkdown"] = notes.as_str().into();
    }
    if grown.is_cut {
        told["truncated"] = true.into();
    }
    told
}

fn branch(text: &mut String, grown: &RecapGrowth) {
    let state = match &grown.pending {
        Some(pending) => format!("now at “{}”", in_one_line(&pending.title)),
        None => "complete".to_owned(),
    };
    let beyond = if grown.is_cut { ", and goes on beyond it" } else { "" };
    let _ = writeln!(text, "- {state}{beyond} ({})", grown.at);
    if let Some(notes) = &grown.notes {
        let _ = writeln!(text, "  {}", quoted(notes).replace('\n', "\n  "));
    }
}

fn noted(text: &mut String, note: &RecapNote) {
    let at = match (&note.title, note.run) {
        (Some(title), _) => format!("“{}”", in_one_line(title)),
        (None, Some(_)) => "a step".to_owned(),
        (None, None) => "the session".to_owned(),
    };
    let of = note.workflow.as_ref().map(|id| format!(" of another run of `{id}`"));
    let _ = writeln!(text, "- {at}{} ({}):", of.unwrap_or_default(), note.at);
    let _ = writeln!(text, "  {}", quoted(&note.text).replace('\n', "\n  "));
}
