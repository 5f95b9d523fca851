//! What is shown of a conversation: the model's text as it comes, one line for each thing beside it.

use std::{collections::HashMap, io};

use serde_json::Value;
use trackway::api::{Artifact, Part, PartContent, Question, RunUpdate, What};
use trackway_domain::{RunId, StateName};

use super::looks::Looks;
use crate::{output, text};

/// Name of the artifact that is the model's text.
pub(super) const TEXT_RESPONSE: &str = "text-response";
/// Id of the artifact that is what the model thinks.
const REASONING: &str = "reasoning";

/// Characters of a call or result that are shown; the whole is in the log.
const LINE_MAX: usize = 160;

/// Where the updates of a conversation are shown.
#[derive(Debug)]
pub(super) struct Shown {
    looks: Looks,
    /// Who answers, as it was shown last.
    label: Option<String>,
    /// The model's text of this turn so far.
    said: String,
    /// Something stands on the line already.
    within_line: bool,
    /// A prompt stands on it.
    prompted: bool,
    /// Lines of others that came while the model was speaking, until its line ends.
    held: Vec<String>,
    /// The workflows of the runs beside the turn.
    names: HashMap<RunId, String>,
    /// Artifacts of theirs that may grow: pieces of a text would each be a line.
    growing: HashMap<RunId, Artifact>,
}

impl Shown {
    pub(super) fn new(looks: Looks) -> Self {
        Self {
            looks,
            label: None,
            said: String::new(),
            within_line: false,
            prompted: false,
            held: Vec::new(),
            names: HashMap::new(),
            growing: HashMap::new(),
        }
    }

    /// Who is talked to, where that is known before anything is said.
    pub(super) fn begin(&mut self, agent: &str, label: Option<&str>) -> io::Result<()> {
        if self.looks == Looks::Json {
            return Ok(());
        }
        match label {
            Some(label) => {
                self.label = Some(label.to_owned());
                self.line(&format!("{agent}, {}", named(label)))
            }
            None => self.line(agent),
        }
    }

    /// What the run of this id is called.
    pub(super) fn name(&mut self, run: RunId, workflow: &str) {
        self.names.insert(run, workflow.to_owned());
    }

    /// The user has said something: a turn begins.
    pub(super) fn turn(&mut self) {
        self.said.clear();
    }

    /// An update of the turn.
    pub(super) fn of_turn(&mut self, update: &RunUpdate) -> io::Result<()> {
        if self.looks == Looks::Json {
            return output::json(update);
        }
        match &update.what {
            What::Task { .. } => Ok(()),
            // What the model thinks is shown once it is whole.
            What::Artifact { artifact, last_chunk: false, .. }
                if artifact.artifact_id == REASONING =>
            {
                Ok(())
            }
            What::Artifact { artifact, append, .. } => self.artifact(artifact, *append),
            What::Status { question: Some(question), .. } => self.question(None, question),
            What::Status { state, message, output, .. } => {
                let parts = message.as_ref().map(|message| message.parts.as_slice());
                let parts = parts.unwrap_or_default();
                if state.is_terminal() {
                    return self.end(*state, parts, output);
                }
                // What a workflow said is shown with the workflow; this is that it was started.
                let refers =
                    message.as_ref().is_some_and(|said| !said.reference_task_ids.is_empty());
                let shown = if refers { &parts[..parts.len().min(1)] } else { parts };
                text::parts(shown, "").iter().try_for_each(|line| self.aside(line))
            }
        }
    }

    /// An update of a run beside the turn.
    pub(super) fn of_other(&mut self, update: &RunUpdate) -> io::Result<()> {
        if let What::Task { workflow, .. } = &update.what {
            self.name(update.run_id, workflow);
        }
        if self.looks == Looks::Json {
            return output::json(update);
        }
        let name = self.names.get(&update.run_id).cloned().unwrap_or_default();
        let indent = format!("{name} | ");
        let (run, what) = (update.run_id, &update.what);
        if let What::Artifact { artifact, append: true, last_chunk } = what
            && let Some(growing) = self.growing.get_mut(&run)
            && growing.artifact_id == artifact.artifact_id
        {
            grow(&mut growing.parts, &artifact.parts);
            return if *last_chunk { self.grown(run, &indent) } else { Ok(()) };
        }
        let again = matches!(what, What::Artifact { artifact, .. }
            if self.growing.get(&run).is_some_and(|it| it.artifact_id == artifact.artifact_id));
        if !again {
            self.grown(run, &indent)?;
        }
        match what {
            What::Task { .. } => Ok(()),
            // One that begins anew, or is closed with the whole of it, takes the place of what came before.
            What::Artifact { artifact, last_chunk, .. } => {
                self.growing.insert(run, artifact.clone());
                if *last_chunk { self.grown(run, &indent) } else { Ok(()) }
            }
            What::Status { question: Some(question), .. } => self.question(Some(&name), question),
            What::Status { state, message, .. } => {
                let parts = message.as_ref().map(|message| message.parts.as_slice());
                let lines = text::parts(parts.unwrap_or_default(), &indent);
                lines.iter().try_for_each(|line| self.other(line))?;
                if state.is_terminal() { self.other(&format!("{indent}{state}")) } else { Ok(()) }
            }
        }
    }

    /// Shows the artifact of that run that grows no more.
    fn grown(&mut self, run: RunId, indent: &str) -> io::Result<()> {
        let Some(artifact) = self.growing.remove(&run) else { return Ok(()) };
        let title = artifact.name.as_deref().unwrap_or(&artifact.artifact_id);
        self.other(&text::printable(&format!("{indent}+ {title}")))?;
        let lines = text::parts(&artifact.parts, &format!("{indent}  "));
        lines.iter().try_for_each(|line| self.other(line))
    }

    pub(super) fn question(&mut self, from: Option<&str>, question: &Question) -> io::Result<()> {
        if self.looks == Looks::Json {
            return Ok(());
        }
        let from = from.map(|name| format!("{name} ")).unwrap_or_default();
        for line in text::problems(&question.errors) {
            self.other(&line)?;
        }
        let lines = text::parts(&question.prompt, &format!("{from}? "));
        lines.iter().try_for_each(|line| self.other(line))
    }

    /// A line beside the conversation.
    pub(super) fn aside(&mut self, text: &str) -> io::Result<()> {
        if self.looks == Looks::Json {
            output::note(text);
            return Ok(());
        }
        let text = self.looks.dim(&text::printable(text));
        self.line(&text)
    }

    /// Where a person writes.
    pub(super) fn prompt(&mut self, text: &str) {
        if self.looks.is_person() && !self.prompted {
            output::prompt(&text::printable(text));
            self.prompted = true;
        }
    }

    /// The person has written: the line has ended, with a prompt on it or with what was being said.
    pub(super) fn typed(&mut self) {
        self.prompted = false;
        // What comes from a pipe is not on the screen.
        self.within_line &= !self.looks.is_person();
    }

    fn artifact(&mut self, artifact: &Artifact, append: bool) -> io::Result<()> {
        let name = artifact.name.as_deref().unwrap_or(&artifact.artifact_id);
        if name == TEXT_RESPONSE {
            let label = artifact.metadata.get("model").and_then(Value::as_str);
            if let Some(label) = label.filter(|label| self.label.as_deref() != Some(label)) {
                self.label = Some(label.to_owned());
                self.aside(&format!("({})", named(label)))?;
            }
            return self.text(&texts(&artifact.parts), append);
        }
        let tool = artifact.metadata.get("toolName").and_then(Value::as_str);
        let mark = match tool {
            Some(_) if name.starts_with("tool-call-") => "→",
            Some(_) => "←",
            None => "+",
        };
        // What a workflow said is shown with the workflow; this is what came of its dispatch.
        let content = match artifact.metadata.get("outcome").and_then(Value::as_str) {
            Some(outcome) if tool.is_some() => outcome.to_owned(),
            _ => artifact.parts.iter().map(in_line).collect::<Vec<_>>().join(" "),
        };
        self.aside(&cut(&format!("{mark} {} {content}", tool.unwrap_or(name))))
    }

    /// The model's text goes on, or begins anew where an attempt broke off.
    fn text(&mut self, text: &str, append: bool) -> io::Result<()> {
        let text = text::printable(text);
        if append {
            self.said.push_str(&text);
            return self.piece(&text);
        }
        let fresh = match text.strip_prefix(&self.said) {
            Some(fresh) => fresh.to_owned(),
            None => {
                self.aside("(the answer begins anew)")?;
                text.clone()
            }
        };
        self.said = text;
        self.piece(&fresh)
    }

    fn end(&mut self, state: StateName, message: &[Part], output: &Value) -> io::Result<()> {
        let said = text::parts(message, "").join("\n");
        match state {
            StateName::Completed => {
                // An answer of a given form was not shown while it came.
                if self.said.is_empty() && !output.is_null() {
                    let text = output.get("text").and_then(Value::as_str);
                    let text = text.map_or_else(|| output.to_string(), str::to_owned);
                    self.line(&text::printable(&text))?;
                }
                match used(output) {
                    Some(used) => self.aside(&used),
                    None => self.end_line(),
                }
            }
            StateName::Canceled => self.aside("(stopped)"),
            state if said.is_empty() => self.line(&state.to_string()),
            state => self.line(&format!("{state}: {said}")),
        }
    }

    /// A line of somebody else, who does not interrupt.
    fn other(&mut self, text: &str) -> io::Result<()> {
        if self.within_line {
            self.held.push(text.to_owned());
            return Ok(());
        }
        self.line(text)
    }

    fn line(&mut self, text: &str) -> io::Result<()> {
        self.end_line()?;
        output::line(text)
    }

    /// What comes next stands at the beginning of a line.
    pub(super) fn end_line(&mut self) -> io::Result<()> {
        self.end_prompt();
        if std::mem::take(&mut self.within_line) {
            output::line("")?;
        }
        std::mem::take(&mut self.held).iter().try_for_each(|line| output::line(line))
    }

    /// What is shown stands below a prompt that nobody has written behind.
    fn end_prompt(&mut self) {
        if std::mem::take(&mut self.prompted) {
            output::prompt("\n");
        }
    }

    fn piece(&mut self, text: &str) -> io::Result<()> {
        // A paragraph after other lines needs no empty ones before it.
        let text = if self.within_line { text } else { text.trim_start_matches('\n') };
        if text.is_empty() {
            return Ok(());
        }
        self.end_prompt();
        self.within_line = !text.ends_with('\n');
        output::piece(text)
    }
}

/// A model as it is shown, so that nobody takes rules for a mind.
fn named(label: &str) -> String {
    if label == trackway_agent::provider::offline::LABEL {
        format!("{label}: rules, not a language model")
    } else {
        text::printable(label)
    }
}

/// All text of the parts.
pub(super) fn texts(parts: &[Part]) -> String {
    let text = |part: &Part| match &part.content {
        PartContent::Text { text } => Some(text.clone()),
        PartContent::Data { .. } | PartContent::File { .. } => None,
    };
    parts.iter().filter_map(text).collect()
}

fn in_line(part: &Part) -> String {
    match &part.content {
        PartContent::Text { text } => text.replace('\n', " "),
        // Of a dispatch, the outcome says most.
        PartContent::Data { data } => match data.get("outcome").and_then(Value::as_str) {
            Some(outcome) => match data.get("message").and_then(Value::as_str) {
                Some(message) => format!("{outcome}: {message}"),
                None => outcome.to_owned(),
            },
            None => data.to_string(),
        },
        PartContent::File { file } => {
            format!("[{}]", file.name.as_deref().or(file.mime_type.as_deref()).unwrap_or("file"))
        }
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LINE_MAX) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.trim_end().to_owned(),
    }
}

/// What the turn has used, where its model says.
fn used(output: &Value) -> Option<String> {
    let usage = output.get("usage")?;
    let count = |name: &str| usage.get(name).and_then(Value::as_u64).unwrap_or(0);
    let mut used = format!("({} tokens in, {} out", count("input_tokens"), count("output_tokens"));
    if let Some(cost) = output.get("cost").and_then(Value::as_f64) {
        used.push_str(&format!(", cost {cost:.6}"));
    }
    used.push(')');
    Some(used)
}

/// Text goes on where text stood; anything else follows.
fn grow(parts: &mut Vec<Part>, more: &[Part]) {
    for part in more {
        match (parts.last_mut().map(|last| &mut last.content), &part.content) {
            (Some(PartContent::Text { text }), PartContent::Text { text: more }) => {
                text.push_str(more);
            }
            _ => parts.push(part.clone()),
        }
    }
}
