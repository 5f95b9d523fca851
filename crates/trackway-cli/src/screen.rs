//! What is shown of a run while it goes on: lines for a person, or JSON for a program.

use std::io;

use trackway::api::{Artifact, Message, Question, RunUpdate, What};
use trackway_domain::{RunId, StateName};

use crate::{output, text};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Screen {
    Person,
    Json,
}

impl Screen {
    pub(crate) const fn new(json: bool) -> Self {
        if json { Self::Json } else { Self::Person }
    }

    /// Shows one update of the run that is followed.
    pub(crate) fn update(self, update: &RunUpdate) -> io::Result<()> {
        match self {
            Self::Json => output::json(update),
            Self::Person => person(update).iter().try_for_each(|line| output::line(line)),
        }
    }

    /// Shows the question of another run, a child of the one that is followed.
    pub(crate) fn child(self, update: &RunUpdate) -> io::Result<()> {
        match self {
            Self::Json => output::json(update),
            Self::Person => {
                output::line(&format!("{} asks:", update.run_id))?;
                person(update).iter().try_for_each(|line| output::line(line))
            }
        }
    }
}

fn person(update: &RunUpdate) -> Vec<String> {
    match &update.what {
        What::Task { workflow, .. } => vec![format!("{} started: {workflow}", update.run_id)],
        What::Status { question: Some(question), state, .. } => asked(question, *state),
        What::Status { evidence: Some(evidence), .. } => parked(update.run_id, &evidence.message),
        What::Status { state, message, output, .. } => {
            let mut lines = match (state.is_terminal(), message) {
                (true, message) => ended(*state, message.as_ref()),
                (false, Some(message)) => text::parts(&message.parts, "  "),
                (false, None) => Vec::new(),
            };
            if !output.is_null() {
                lines.push(text::printable(&format!("  output: {output}")));
            }
            lines
        }
        What::Artifact { artifact, append, .. } => {
            let mut lines = vec![format!("  + {}", title(artifact, *append))];
            lines.extend(text::parts(&artifact.parts, "    "));
            lines
        }
    }
}

fn asked(question: &Question, state: StateName) -> Vec<String> {
    let mut lines = text::parts(&question.prompt, "? ");
    match lines.last_mut() {
        Some(last) => last.push_str(&format!("  ({state})")),
        None => lines.push(format!("? ({state})")),
    }
    lines
}

fn parked(run: RunId, why: &str) -> Vec<String> {
    vec![text::printable(&format!("{run} is parked: {why}"))]
}

fn ended(state: StateName, message: Option<&Message>) -> Vec<String> {
    let said =
        message.map(|message| text::parts(&message.parts, "").join("\n")).unwrap_or_default();
    if said.is_empty() { vec![state.to_string()] } else { vec![format!("{state}: {said}")] }
}

/// How an artifact is named to a person.
pub(crate) fn title(artifact: &Artifact, append: bool) -> String {
    let mut title = artifact.artifact_id.clone();
    if let Some(name) = &artifact.name {
        title.push_str(&format!(" ({name})"));
    }
    if append {
        title.push_str(", continued");
    }
    text::printable(&title)
}
