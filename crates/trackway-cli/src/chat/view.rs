//! Shows a conversation: the model's text as it arrives, and updates of other runs. Each thing is shown
//! once: a message of a followed workflow is shown for the workflow, and not again when the turn repeats
//! it.

use std::{collections::HashMap, io};

use serde_json::Value;
use trackway::api::{Artifact, Part, PartContent, Question, RunUpdate, What};
use trackway_agent::provider::offline;
use trackway_domain::{RunId, StateName};

use super::{canvas::Canvas, clipped::Clipped};
use crate::{
    growing::Growing,
    layout::{self, Detail},
    output,
    style::{self, OutputMode, Tone},
    text,
};

/// Name of the artifact that is the model's text.
pub(super) const TEXT_RESPONSE: &str = "text-response";

/// Name of the artifact with the model's reasoning.
const REASONING: &str = "reasoning";

/// Prefix of tools that start a workflow.
const DISPATCH_PREFIX: &str = "dispatch_workflow_";

/// Limit (CLI): characters of a tool call or its result in a pipe; the log has the rest.
const LINE_MAX: usize = 160;

/// Shows the updates of a conversation.
#[derive(Debug)]
pub(super) struct View {
    pub(super) canvas: Canvas,
    /// The last shown name of the model.
    label: Option<String>,
    /// The model's text of this turn so far.
    said: String,
    /// A workflow that this turn started is followed, so its own updates are shown.
    has_followed: bool,
    /// The model's reasoning in this turn, and the part of it that is not shown yet.
    thought: String,
    unshown_thought: String,
    /// The workflows of the other runs.
    names: HashMap<RunId, String>,
    growing: Growing,
    clipped: Clipped,
}

impl View {
    pub(super) fn new(mode: OutputMode) -> Self {
        Self {
            canvas: Canvas::new(mode),
            label: None,
            said: String::new(),
            has_followed: false,
            thought: String::new(),
            unshown_thought: String::new(),
            names: HashMap::new(),
            growing: Growing::default(),
            clipped: Clipped::default(),
        }
    }

    const fn mode(&self) -> OutputMode {
        self.canvas.mode
    }

    fn is_json(&self) -> bool {
        self.mode() == OutputMode::Json
    }

    /// Shows which agent and model answer, if that is known at the start.
    pub(super) fn begin(&mut self, agent: &str, label: Option<&str>) -> io::Result<()> {
        if self.is_json() {
            return Ok(());
        }
        let name = self.mode().paint(Tone::Name, agent);
        match label {
            Some(label) => {
                self.label = Some(label.to_owned());
                self.canvas.line(&format!("{name}, {}", named(label)))
            }
            None => self.canvas.line(&name),
        }
    }

    /// Sets the name of a run.
    pub(super) fn name(&mut self, run: RunId, workflow: &str) {
        self.names.insert(run, workflow.to_owned());
    }

    /// A turn begins.
    pub(super) fn turn(&mut self) {
        self.said.clear();
        self.has_followed = false;
        self.thought.clear();
    }

    /// Shows an update of the turn. `followed`: the workflows that it refers to show their own updates.
    pub(super) fn of_turn(&mut self, update: &RunUpdate, followed: bool) -> io::Result<()> {
        if self.is_json() {
            return output::json(update);
        }
        match &update.what {
            What::Task { .. } => Ok(()),
            What::Artifact { artifact, append, .. } => self.artifact(artifact, *append),
            What::Status { question: Some(question), .. } => self.question(None, question),
            What::Status { state, message, output, .. } => {
                let parts = message.as_ref().map(|message| message.parts.as_slice());
                let parts = parts.unwrap_or_default();
                if state.is_terminal() {
                    return self.end(*state, parts, output);
                }
                let refers =
                    message.as_ref().is_some_and(|said| !said.reference_task_ids.is_empty());
                if refers && followed {
                    self.has_followed = true;
                    return Ok(());
                }
                let parts = if refers { &parts[..parts.len().min(1)] } else { parts };
                text::parts(parts, "").iter().try_for_each(|line| self.canvas.aside(line))
            }
        }
    }

    /// Shows an update of another run.
    pub(super) fn of_other(&mut self, update: &RunUpdate) -> io::Result<()> {
        let (run, what) = (update.run_id, &update.what);
        if let What::Task { workflow, .. } = what {
            self.name(run, workflow);
        }
        if self.is_json() {
            return output::json(update);
        }
        let name = self.names.get(&run).cloned().unwrap_or_default();
        if let What::Artifact { artifact, append, last_chunk } = what {
            let whole = self.growing.take(run, artifact, *append, *last_chunk);
            return whole.iter().try_for_each(|artifact| self.made(&name, artifact));
        }
        if let Some(artifact) = self.growing.close(run) {
            self.made(&name, &artifact)?;
        }
        if update.last {
            self.growing.forget(run);
        }
        match what {
            What::Task { .. } | What::Artifact { .. } => Ok(()),
            What::Status { question: Some(question), .. } => self.question(Some(&name), question),
            What::Status { state, message, .. } => {
                let parts = message.as_ref().map(|message| message.parts.as_slice());
                self.parts_of(&name, "", parts.unwrap_or_default())?;
                if !state.is_terminal() {
                    return Ok(());
                }
                let state = self.mode().paint(tone(*state), &state.to_string());
                let prefix = self.prefix(&name);
                self.canvas.line_beside(&format!("{prefix}{state}"))
            }
        }
    }

    /// Shows an artifact of a workflow.
    fn made(&mut self, name: &str, artifact: &Artifact) -> io::Result<()> {
        let title = artifact.name.as_deref().unwrap_or(&artifact.artifact_id);
        let prefix = self.prefix(name);
        self.canvas.line_beside(&format!("{prefix}{}", text::printable(&format!("+ {title}"))))?;
        self.parts_of(name, "  ", &artifact.parts)
    }

    /// Shows the parts of a workflow's message, after its name.
    fn parts_of(&mut self, name: &str, indent: &str, parts: &[Part]) -> io::Result<()> {
        let prefix = self.prefix(name);
        if !self.mode().is_terminal() {
            let lines = text::parts(parts, &format!("{prefix}{indent}"));
            return lines.iter().try_for_each(|line| self.canvas.line_beside(line));
        }
        let taken = layout::width_of(name) + " | ".len() + indent.len();
        let width = style::columns().saturating_sub(taken);
        let rendered = layout::render_parts(parts, width, Detail::SHORT);
        for line in &rendered.lines {
            self.canvas.line_beside(&format!("{prefix}{indent}{line}"))?;
        }
        if rendered.clipped {
            let hint = self.show_hint(parts);
            self.canvas.line_beside(&format!("{prefix}{indent}{hint}"))?;
        }
        Ok(())
    }

    /// Keeps a shortened value, and returns a hint how to show it.
    fn show_hint(&mut self, parts: &[Part]) -> String {
        let number = self.clipped.keep(parts);
        self.mode().paint(Tone::Dim, &format!("(shortened: /show {number})"))
    }

    fn prefix(&self, name: &str) -> String {
        format!("{} | ", self.mode().paint(Tone::Name, &text::printable(name)))
    }

    pub(super) fn question(&mut self, from: Option<&str>, question: &Question) -> io::Result<()> {
        if self.is_json() {
            return Ok(());
        }
        let mark = from.map(|name| format!("{name} ? ")).unwrap_or_else(|| "? ".to_owned());
        let problems = text::problems(&question.errors);
        if !self.mode().is_terminal() {
            let lines = problems.into_iter().chain(text::parts(&question.prompt, &mark));
            return lines.into_iter().try_for_each(|line| self.canvas.line_beside(&line));
        }
        for problem in problems.iter().flat_map(|line| layout::wrap(line, style::columns())) {
            let line = self.mode().paint(Tone::Bad, &problem);
            self.canvas.line_beside(&line)?;
        }
        let taken = layout::width_of(&mark);
        let width = style::columns().saturating_sub(taken);
        let rendered = layout::render_parts(&question.prompt, width, Detail::SHORT);
        for (at, line) in rendered.lines.iter().enumerate() {
            let mark = if at == 0 { text::printable(&mark) } else { " ".repeat(taken) };
            let line = self.mode().paint(Tone::Strong, &format!("{mark}{line}"));
            self.canvas.line_beside(&line)?;
        }
        if rendered.clipped {
            let hint = self.show_hint(&question.prompt);
            self.canvas.line_beside(&hint)?;
        }
        Ok(())
    }

    /// A note about the conversation.
    pub(super) fn aside(&mut self, text: &str) -> io::Result<()> {
        if self.is_json() {
            output::note(text);
            return Ok(());
        }
        self.canvas.aside(text)
    }

    /// Notes that the chat no longer waits for these silent runs.
    pub(super) fn stop_waiting<'a>(
        &mut self,
        runs: impl Iterator<Item = &'a RunId>,
    ) -> io::Result<()> {
        for run in runs {
            let name = self.names.get(run).cloned().unwrap_or_else(|| run.to_string());
            self.aside(&format!("({name} continues; its messages appear here)"))?;
        }
        Ok(())
    }

    /// Shows the shortened value with this number in full.
    pub(super) fn show(&mut self, number: usize) -> io::Result<()> {
        let Some(parts) = self.clipped.get(number) else {
            return self.aside(&format!("Nothing was shortened as number {number}."));
        };
        let rendered = layout::render_parts(parts, style::columns(), Detail::WHOLE);
        rendered.lines.iter().try_for_each(|line| self.canvas.line(line))
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
        if name == REASONING {
            self.think(&text::printable(&texts(&artifact.parts)), append);
            return Ok(());
        }
        let tool = artifact.metadata.get("toolName").and_then(Value::as_str);
        let mark = match tool {
            Some(_) if name.starts_with("tool-call-") => "→",
            Some(_) => "←",
            None => "+",
        };
        let tool = tool.unwrap_or(name);
        if !self.mode().is_terminal() {
            // For a dispatch, the outcome is enough; the workflow shows the rest.
            let outcome = artifact.metadata.get("outcome").and_then(Value::as_str);
            let parts = || artifact.parts.iter().map(in_line).collect::<Vec<_>>().join(" ");
            let content = outcome.map_or_else(parts, str::to_owned);
            let line = format!("{mark} {tool} {content}");
            return self.canvas.aside(&text::cut(line.trim_end(), LINE_MAX));
        }
        let is_dispatched = tool.starts_with(DISPATCH_PREFIX) && mark == "←";
        let is_started = artifact.metadata.contains_key("taskId");
        // A started workflow shows its own updates, and the offline rules repeat the result of a call.
        if is_dispatched && (is_started || self.is_offline()) {
            return Ok(());
        }
        self.call(mark, tool, &artifact.parts)
    }

    fn is_offline(&self) -> bool {
        self.label.as_deref() == Some(offline::LABEL)
    }

    /// Collects the model's reasoning until other output follows, because it comes in pieces.
    fn think(&mut self, text: &str, append: bool) {
        if append {
            self.thought.push_str(text);
            self.unshown_thought.push_str(text);
            return;
        }
        let fresh = text.strip_prefix(&self.thought).unwrap_or(text);
        self.unshown_thought.push_str(fresh);
        text.clone_into(&mut self.thought);
    }

    /// Shows the model's reasoning, at a terminal.
    fn show_thought(&mut self) -> io::Result<()> {
        let thought = std::mem::take(&mut self.unshown_thought);
        if thought.trim().is_empty() || !self.mode().is_terminal() {
            return Ok(());
        }
        let content = PartContent::Text { text: thought.trim().to_owned() };
        let parts = [Part { content, metadata: Default::default() }];
        let width = style::columns().saturating_sub(2);
        let rendered = layout::render_parts(&parts, width, Detail::SHORT);
        for line in &rendered.lines {
            self.canvas.aside(&format!("~ {line}"))?;
        }
        if rendered.clipped {
            let number = self.clipped.keep(&parts);
            self.canvas.aside(&format!("~ (shortened: /show {number})"))?;
        }
        Ok(())
    }

    /// A tool call or its result in one line, with a hint how to see all of it.
    fn call(&mut self, mark: &str, tool: &str, parts: &[Part]) -> io::Result<()> {
        self.show_thought()?;
        let brief = |part: &Part| match &part.content {
            PartContent::Data { data } if data.get("outcome").is_none() => layout::summary(data),
            _ => in_line(part),
        };
        let content = parts.iter().map(brief).collect::<Vec<_>>().join(" ").replace('\n', " ");
        let name = tool.strip_prefix(DISPATCH_PREFIX).unwrap_or(tool);
        let whole = format!("{mark} {name}  {content}").trim_end().to_owned();
        let fits = layout::width_of(&whole) <= style::columns();
        let line = if fits {
            whole
        } else {
            let number = self.clipped.keep(parts);
            let hint = format!(" (/show {number})");
            let room = style::columns().saturating_sub(layout::width_of(&hint) + 1);
            format!("{}{hint}", text::cut(&whole, room))
        };
        self.canvas.aside(&line)
    }

    /// Appends the model's text, or begins it again after a failed attempt.
    fn text(&mut self, text: &str, append: bool) -> io::Result<()> {
        let text = text::printable(text);
        // The offline rules only repeat the message of the tool or the workflow.
        if self.is_offline() && self.has_followed {
            self.said.push_str(&text);
            return Ok(());
        }
        self.show_thought()?;
        if append {
            self.said.push_str(&text);
            return self.canvas.piece(&text);
        }
        let fresh = match text.strip_prefix(&self.said) {
            Some(fresh) => fresh.to_owned(),
            None => {
                self.aside("(the answer starts again)")?;
                text.clone()
            }
        };
        self.said = text;
        self.canvas.piece(&fresh)
    }

    fn end(&mut self, state: StateName, message: &[Part], output: &Value) -> io::Result<()> {
        self.show_thought()?;
        let said = text::parts(message, "").join("\n");
        match state {
            StateName::Completed => {
                // A structured answer was not shown while it arrived.
                if self.said.is_empty() && !output.is_null() {
                    let text = output.get("text").and_then(Value::as_str);
                    let text = text.map_or_else(|| output.to_string(), str::to_owned);
                    self.canvas.piece(&text::printable(&text))?;
                }
                self.canvas.end_line()?;
                used(output).map_or(Ok(()), |used| self.aside(&used))
            }
            StateName::Canceled => self.aside("(stopped)"),
            state => {
                let end =
                    if said.is_empty() { state.to_string() } else { format!("{state}: {said}") };
                let lines = match self.mode().is_terminal() {
                    true => layout::wrap(&end, style::columns()),
                    false => vec![end],
                };
                lines.iter().try_for_each(|line| {
                    let line = self.mode().paint(tone(state), line);
                    self.canvas.line(&line)
                })
            }
        }
    }
}

/// The tone of a state.
pub(crate) const fn tone(state: StateName) -> Tone {
    match state {
        StateName::Completed => Tone::Good,
        StateName::Failed | StateName::Rejected => Tone::Bad,
        _ => Tone::Dim,
    }
}

/// The displayed name of a model; it says when rules answer instead of a model.
fn named(label: &str) -> String {
    if label == offline::LABEL {
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
        // For a dispatch, the outcome is enough.
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
