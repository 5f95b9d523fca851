//! Shows a conversation: the model's text as it arrives, and updates of other runs. Each thing is shown
//! once: a message of a followed workflow is shown for the workflow, and not again when the turn repeats
//! it.

use std::{collections::HashMap, io};

use serde_json::Value;
use trackway::api::{Artifact, Part, PartContent, QuestionView, RunUpdate, RunUpdateKind};
use trackway_agent::provider::offline;
use trackway_domain::{RunId, StateName};

use super::{clipped_parts::ClippedPartStore, terminal_canvas::TerminalCanvas};
use crate::{
    artifact_assembler::ArtifactAssembler,
    output_streams,
    terminal_layout::{self, RenderLimits},
    terminal_style::{self, OutputMode, TextTone},
    text_format,
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
pub(super) struct ChatView {
    pub(super) canvas: TerminalCanvas,
    /// The last shown name of the model.
    model_label: Option<String>,
    /// The model's text of this turn so far.
    turn_text: String,
    /// A workflow that this turn started is followed, so its own updates are shown.
    has_followed_child: bool,
    /// The model's reasoning in this turn, and the part of it that is not shown yet.
    reasoning: String,
    pending_reasoning: String,
    /// The workflows of the other runs.
    run_names: HashMap<RunId, String>,
    artifacts: ArtifactAssembler,
    clipped: ClippedPartStore,
}

impl ChatView {
    pub(super) fn new(mode: OutputMode) -> Self {
        Self {
            canvas: TerminalCanvas::new(mode),
            model_label: None,
            turn_text: String::new(),
            has_followed_child: false,
            reasoning: String::new(),
            pending_reasoning: String::new(),
            run_names: HashMap::new(),
            artifacts: ArtifactAssembler::default(),
            clipped: ClippedPartStore::default(),
        }
    }

    const fn mode(&self) -> OutputMode {
        self.canvas.mode
    }

    fn is_json_output(&self) -> bool {
        self.mode() == OutputMode::Json
    }

    /// Shows which agent and model answer, if that is known at the start.
    pub(super) fn render_greeting(&mut self, agent: &str, label: Option<&str>) -> io::Result<()> {
        if self.is_json_output() {
            return Ok(());
        }
        let name = self.mode().paint_text(TextTone::Name, agent);
        match label {
            Some(label) => {
                self.model_label = Some(label.to_owned());
                self.canvas.write_line(&format!("{name}, {}", format_model_label(label)))
            }
            None => self.canvas.write_line(&name),
        }
    }

    /// Sets the name of a run.
    pub(super) fn set_run_name(&mut self, run: RunId, workflow: &str) {
        self.run_names.insert(run, workflow.to_owned());
    }

    /// A turn begins.
    pub(super) fn begin_turn(&mut self) {
        self.turn_text.clear();
        self.has_followed_child = false;
        self.reasoning.clear();
    }

    /// Shows an update of the turn. `followed`: the workflows that it refers to show their own updates.
    pub(super) fn render_turn_update(
        &mut self,
        update: &RunUpdate,
        shows_children_itself: bool,
    ) -> io::Result<()> {
        if self.is_json_output() {
            return output_streams::write_stdout_json_line(update);
        }
        match &update.what {
            RunUpdateKind::Task { .. } => Ok(()),
            RunUpdateKind::Artifact { artifact, append, .. } => self.render_turn_artifact(artifact, *append),
            RunUpdateKind::Status { question: Some(question), .. } => self.render_question(None, question),
            RunUpdateKind::Status { state, message, output, .. } => {
                let parts = message.as_ref().map(|message| message.parts.as_slice());
                let parts = parts.unwrap_or_default();
                if state.is_terminal() {
                    return self.render_turn_end(*state, parts, output);
                }
                let refers = message.as_ref().is_some_and(|said| !said.reference_task_ids.is_empty());
                if refers && shows_children_itself {
                    self.has_followed_child = true;
                    return Ok(());
                }
                let parts = if refers { &parts[..parts.len().min(1)] } else { parts };
                text_format::render_indented_parts(parts, "")
                    .iter()
                    .try_for_each(|line| self.canvas.write_dimmed_line(line))
            }
        }
    }

    /// Shows an update of another run.
    pub(super) fn render_child_update(&mut self, update: &RunUpdate) -> io::Result<()> {
        let (run, what) = (update.run_id, &update.what);
        if let RunUpdateKind::Task { workflow, .. } = what {
            self.set_run_name(run, workflow);
        }
        if self.is_json_output() {
            return output_streams::write_stdout_json_line(update);
        }
        let name = self.run_names.get(&run).cloned().unwrap_or_default();
        if let RunUpdateKind::Artifact { artifact, append, last_chunk } = what {
            let whole = self.artifacts.push_chunk(run, artifact, *append, *last_chunk);
            return whole.iter().try_for_each(|artifact| self.render_child_artifact(&name, artifact));
        }
        if let Some(artifact) = self.artifacts.finish_open_artifact(run) {
            self.render_child_artifact(&name, &artifact)?;
        }
        if update.last {
            self.artifacts.forget_run(run);
        }
        match what {
            RunUpdateKind::Task { .. } | RunUpdateKind::Artifact { .. } => Ok(()),
            RunUpdateKind::Status { question: Some(question), .. } => {
                self.render_question(Some(&name), question)
            }
            RunUpdateKind::Status { state, message, .. } => {
                let parts = message.as_ref().map(|message| message.parts.as_slice());
                self.render_child_parts(&name, "", parts.unwrap_or_default())?;
                if !state.is_terminal() {
                    return Ok(());
                }
                let state = self.mode().paint_text(state_tone(*state), &state.to_string());
                let prefix = self.child_line_prefix(&name);
                self.canvas.write_or_defer_line(&format!("{prefix}{state}"))
            }
        }
    }

    /// Shows an artifact of a workflow.
    fn render_child_artifact(&mut self, name: &str, artifact: &Artifact) -> io::Result<()> {
        let title = artifact.name.as_deref().unwrap_or(&artifact.artifact_id);
        let prefix = self.child_line_prefix(name);
        self.canvas.write_or_defer_line(&format!(
            "{prefix}{}",
            text_format::replace_control_chars(&format!("+ {title}"))
        ))?;
        self.render_child_parts(name, "  ", &artifact.parts)
    }

    /// Shows the parts of a workflow's message, after its name.
    fn render_child_parts(&mut self, name: &str, indent: &str, parts: &[Part]) -> io::Result<()> {
        let prefix = self.child_line_prefix(name);
        if !self.mode().is_terminal() {
            let lines = text_format::render_indented_parts(parts, &format!("{prefix}{indent}"));
            return lines.iter().try_for_each(|line| self.canvas.write_or_defer_line(line));
        }
        let taken = terminal_layout::display_width(name) + " | ".len() + indent.len();
        let width = terminal_style::terminal_text_columns().saturating_sub(taken);
        let rendered = terminal_layout::render_wrapped_parts(parts, width, RenderLimits::SHORT);
        for line in &rendered.lines {
            self.canvas.write_or_defer_line(&format!("{prefix}{indent}{line}"))?;
        }
        if rendered.clipped {
            let hint = self.keep_clipped_parts_and_hint(parts);
            self.canvas.write_or_defer_line(&format!("{prefix}{indent}{hint}"))?;
        }
        Ok(())
    }

    /// Keeps a shortened value, and returns a hint how to show it.
    fn keep_clipped_parts_and_hint(&mut self, parts: &[Part]) -> String {
        let number = self.clipped.insert_clipped_parts(parts);
        self.mode().paint_text(TextTone::Dim, &format!("(shortened: /show {number})"))
    }

    fn child_line_prefix(&self, name: &str) -> String {
        format!("{} | ", self.mode().paint_text(TextTone::Name, &text_format::replace_control_chars(name)))
    }

    pub(super) fn render_question(
        &mut self,
        asking_run: Option<&str>,
        question: &QuestionView,
    ) -> io::Result<()> {
        if self.is_json_output() {
            return Ok(());
        }
        let mark = asking_run.map(|name| format!("{name} ? ")).unwrap_or_else(|| "? ".to_owned());
        let problems = text_format::render_validation_errors(&question.errors);
        if !self.mode().is_terminal() {
            let lines =
                problems.into_iter().chain(text_format::render_indented_parts(&question.prompt, &mark));
            return lines.into_iter().try_for_each(|line| self.canvas.write_or_defer_line(&line));
        }
        for problem in problems
            .iter()
            .flat_map(|line| terminal_layout::wrap_text(line, terminal_style::terminal_text_columns()))
        {
            let line = self.mode().paint_text(TextTone::Bad, &problem);
            self.canvas.write_or_defer_line(&line)?;
        }
        let taken = terminal_layout::display_width(&mark);
        let width = terminal_style::terminal_text_columns().saturating_sub(taken);
        let rendered = terminal_layout::render_wrapped_parts(&question.prompt, width, RenderLimits::SHORT);
        for (at, line) in rendered.lines.iter().enumerate() {
            let mark = if at == 0 { text_format::replace_control_chars(&mark) } else { " ".repeat(taken) };
            let line = self.mode().paint_text(TextTone::Strong, &format!("{mark}{line}"));
            self.canvas.write_or_defer_line(&line)?;
        }
        if rendered.clipped {
            let hint = self.keep_clipped_parts_and_hint(&question.prompt);
            self.canvas.write_or_defer_line(&hint)?;
        }
        Ok(())
    }

    /// A note about the conversation.
    pub(super) fn render_chat_note(&mut self, text: &str) -> io::Result<()> {
        if self.is_json_output() {
            output_streams::print_stderr_note(text);
            return Ok(());
        }
        self.canvas.write_dimmed_line(text)
    }

    /// Notes that the chat no longer waits for these silent runs.
    pub(super) fn note_silent_runs<'a>(&mut self, runs: impl Iterator<Item = &'a RunId>) -> io::Result<()> {
        for run in runs {
            let name = self.run_names.get(run).cloned().unwrap_or_else(|| run.to_string());
            self.render_chat_note(&format!("({name} continues; its messages appear here)"))?;
        }
        Ok(())
    }

    /// Shows the shortened value with this number in full.
    pub(super) fn render_clipped_parts(&mut self, number: usize) -> io::Result<()> {
        let Some(parts) = self.clipped.get_clipped_parts(number) else {
            return self.render_chat_note(&format!("Nothing was shortened as number {number}."));
        };
        let rendered = terminal_layout::render_wrapped_parts(
            parts,
            terminal_style::terminal_text_columns(),
            RenderLimits::UNLIMITED,
        );
        rendered.lines.iter().try_for_each(|line| self.canvas.write_line(line))
    }

    fn render_turn_artifact(&mut self, artifact: &Artifact, append: bool) -> io::Result<()> {
        let name = artifact.name.as_deref().unwrap_or(&artifact.artifact_id);
        if name == TEXT_RESPONSE {
            let label = artifact.metadata.get("model").and_then(Value::as_str);
            if let Some(label) = label.filter(|label| self.model_label.as_deref() != Some(label)) {
                self.model_label = Some(label.to_owned());
                self.render_chat_note(&format!("({})", format_model_label(label)))?;
            }
            return self.render_model_text(&join_text_parts(&artifact.parts), append);
        }
        if name == REASONING {
            self.buffer_reasoning(
                &text_format::replace_control_chars(&join_text_parts(&artifact.parts)),
                append,
            );
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
            let parts = || artifact.parts.iter().map(format_part_inline).collect::<Vec<_>>().join(" ");
            let content = outcome.map_or_else(parts, str::to_owned);
            let line = format!("{mark} {tool} {content}");
            return self.canvas.write_dimmed_line(&text_format::truncate_text(line.trim_end(), LINE_MAX));
        }
        let is_dispatched = tool.starts_with(DISPATCH_PREFIX) && mark == "←";
        let is_started = artifact.metadata.contains_key("taskId");
        // A started workflow shows its own updates, and the offline rules repeat the result of a call.
        if is_dispatched && (is_started || self.is_offline_model()) {
            return Ok(());
        }
        self.render_tool_call(mark, tool, &artifact.parts)
    }

    fn is_offline_model(&self) -> bool {
        self.model_label.as_deref() == Some(offline::LABEL)
    }

    /// Collects the model's reasoning until other output follows, because it comes in pieces.
    fn buffer_reasoning(&mut self, text: &str, append: bool) {
        if append {
            self.reasoning.push_str(text);
            self.pending_reasoning.push_str(text);
            return;
        }
        let fresh = text.strip_prefix(&self.reasoning).unwrap_or(text);
        self.pending_reasoning.push_str(fresh);
        text.clone_into(&mut self.reasoning);
    }

    /// Shows the model's reasoning, at a terminal.
    fn render_reasoning(&mut self) -> io::Result<()> {
        let thought = std::mem::take(&mut self.pending_reasoning);
        if thought.trim().is_empty() || !self.mode().is_terminal() {
            return Ok(());
        }
        let content = PartContent::Text { text: thought.trim().to_owned() };
        let parts = [Part { content, metadata: Default::default() }];
        let width = terminal_style::terminal_text_columns().saturating_sub(2);
        let rendered = terminal_layout::render_wrapped_parts(&parts, width, RenderLimits::SHORT);
        for line in &rendered.lines {
            self.canvas.write_dimmed_line(&format!("~ {line}"))?;
        }
        if rendered.clipped {
            let number = self.clipped.insert_clipped_parts(&parts);
            self.canvas.write_dimmed_line(&format!("~ (shortened: /show {number})"))?;
        }
        Ok(())
    }

    /// A tool call or its result in one line, with a hint how to see all of it.
    fn render_tool_call(&mut self, mark: &str, tool: &str, parts: &[Part]) -> io::Result<()> {
        self.render_reasoning()?;
        let brief = |part: &Part| match &part.content {
            PartContent::Data { data } if data.get("outcome").is_none() => {
                terminal_layout::summarize_json_value(data)
            }
            _ => format_part_inline(part),
        };
        let content = parts.iter().map(brief).collect::<Vec<_>>().join(" ").replace('\n', " ");
        let name = tool.strip_prefix(DISPATCH_PREFIX).unwrap_or(tool);
        let whole = format!("{mark} {name}  {content}").trim_end().to_owned();
        let fits = terminal_layout::display_width(&whole) <= terminal_style::terminal_text_columns();
        let line = if fits {
            whole
        } else {
            let number = self.clipped.insert_clipped_parts(parts);
            let hint = format!(" (/show {number})");
            let room = terminal_style::terminal_text_columns()
                .saturating_sub(terminal_layout::display_width(&hint) + 1);
            format!("{}{hint}", text_format::truncate_text(&whole, room))
        };
        self.canvas.write_dimmed_line(&line)
    }

    /// Appends the model's text, or begins it again after a failed attempt.
    fn render_model_text(&mut self, text: &str, append: bool) -> io::Result<()> {
        let text = text_format::replace_control_chars(text);
        // The offline rules only repeat the message of the tool or the workflow.
        if self.is_offline_model() && self.has_followed_child {
            self.turn_text.push_str(&text);
            return Ok(());
        }
        self.render_reasoning()?;
        if append {
            self.turn_text.push_str(&text);
            return self.canvas.write_model_text(&text);
        }
        let fresh = match text.strip_prefix(&self.turn_text) {
            Some(fresh) => fresh.to_owned(),
            None => {
                self.render_chat_note("(the answer starts again)")?;
                text.clone()
            }
        };
        self.turn_text = text;
        self.canvas.write_model_text(&fresh)
    }

    fn render_turn_end(&mut self, state: StateName, message: &[Part], output: &Value) -> io::Result<()> {
        self.render_reasoning()?;
        let said = text_format::render_indented_parts(message, "").join("\n");
        match state {
            StateName::Completed => {
                // A structured answer was not shown while it arrived.
                if self.turn_text.is_empty() && !output.is_null() {
                    let text = output.get("text").and_then(Value::as_str);
                    let text = text.map_or_else(|| output.to_string(), str::to_owned);
                    self.canvas.write_model_text(&text_format::replace_control_chars(&text))?;
                }
                self.canvas.end_line()?;
                format_turn_usage(output).map_or(Ok(()), |used| self.render_chat_note(&used))
            }
            StateName::Canceled => self.render_chat_note("(stopped)"),
            state => {
                let end = if said.is_empty() { state.to_string() } else { format!("{state}: {said}") };
                let lines = match self.mode().is_terminal() {
                    true => terminal_layout::wrap_text(&end, terminal_style::terminal_text_columns()),
                    false => vec![end],
                };
                lines.iter().try_for_each(|line| {
                    let line = self.mode().paint_text(state_tone(state), line);
                    self.canvas.write_line(&line)
                })
            }
        }
    }
}

/// The tone of a state.
pub(crate) const fn state_tone(state: StateName) -> TextTone {
    match state {
        StateName::Completed => TextTone::Good,
        StateName::Failed | StateName::Rejected => TextTone::Bad,
        _ => TextTone::Dim,
    }
}

/// The displayed name of a model; it says when rules answer instead of a model.
fn format_model_label(label: &str) -> String {
    if label == offline::LABEL {
        format!("{label}: rules, not a language model")
    } else {
        text_format::replace_control_chars(label)
    }
}

/// All text of the parts.
pub(super) fn join_text_parts(parts: &[Part]) -> String {
    let text = |part: &Part| match &part.content {
        PartContent::Text { text } => Some(text.clone()),
        PartContent::Data { .. } | PartContent::File { .. } => None,
    };
    parts.iter().filter_map(text).collect()
}

fn format_part_inline(part: &Part) -> String {
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

/// The usage of the turn, if its model reports it.
fn format_turn_usage(output: &Value) -> Option<String> {
    let usage = output.get("usage")?;
    let count = |name: &str| usage.get(name).and_then(Value::as_u64).unwrap_or(0);
    let mut used = format!("({} tokens in, {} out", count("input_tokens"), count("output_tokens"));
    if let Some(cost) = output.get("cost").and_then(Value::as_f64) {
        used.push_str(&format!(", cost {cost:.6}"));
    }
    used.push(')');
    Some(used)
}
