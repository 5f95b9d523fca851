//! Shows the updates of a run: lines for a person, or JSON for a program.

use std::io;

use trackway::api::{Artifact, Message, Part, QuestionView, RunUpdate, RunUpdateKind};
use trackway_domain::{RunId, StateName};

use crate::{
    artifact_assembler::ArtifactAssembler,
    chat::chat_view::state_tone,
    output_streams,
    spinner::Spinner,
    terminal_layout::{self, RenderLimits},
    terminal_style::{self, OutputMode, TextTone},
    text_format,
};

#[derive(Debug)]
pub(crate) struct RunScreen {
    mode: OutputMode,
    artifacts: ArtifactAssembler,
    spinner: Spinner,
    /// Something was shortened.
    has_clipped_text: bool,
}

impl RunScreen {
    pub(crate) fn new(json: bool) -> Self {
        let mode = OutputMode::new(json);
        Self {
            mode,
            artifacts: ArtifactAssembler::default(),
            spinner: Spinner::new(mode),
            has_clipped_text: false,
        }
    }

    /// Shows one update of the followed run.
    pub(crate) fn print_update(&mut self, update: &RunUpdate) -> io::Result<()> {
        self.spinner.erase_spinner();
        match self.mode {
            OutputMode::Json => output_streams::write_stdout_json_line(update),
            OutputMode::Pipe => print_lines(&render_update_for_pipe(update)),
            OutputMode::Terminal(_) => {
                let lines = self.render_update_for_terminal(update);
                print_lines(&lines)
            }
        }
    }

    /// Shows the question of a child of the followed run.
    pub(crate) fn print_child_question(&mut self, update: &RunUpdate) -> io::Result<()> {
        self.spinner.erase_spinner();
        if self.mode == OutputMode::Json {
            return output_streams::write_stdout_json_line(update);
        }
        output_streams::write_stdout_line(&format!("{} asks:", update.run_id))?;
        self.print_update(update)
    }

    /// Whether something was shortened.
    pub(crate) const fn has_clipped(&self) -> bool {
        self.has_clipped_text
    }

    /// Starts the spinner: the run works.
    pub(crate) fn start_spinner(&mut self) {
        self.spinner.start_spinning();
    }

    /// Stops the spinner: the run waits or has ended.
    pub(crate) fn stop_spinner(&mut self) {
        self.spinner.stop_spinning();
    }

    /// Waits until the spinner is due.
    pub(crate) async fn wait_for_spinner_frame(&self) {
        self.spinner.wait_for_next_animation_frame().await;
    }

    pub(crate) fn draw_spinner(&mut self) {
        self.spinner.draw_animation_frame();
    }

    fn render_update_for_terminal(&mut self, update: &RunUpdate) -> Vec<String> {
        let run = update.run_id;
        if let RunUpdateKind::Artifact { artifact, append, last_chunk } = &update.what {
            let whole = self.artifacts.push_chunk(run, artifact, *append, *last_chunk);
            return whole.iter().flat_map(|artifact| self.render_artifact(artifact)).collect();
        }
        let open = self.artifacts.finish_open_artifact(run);
        let mut lines: Vec<String> = open.iter().flat_map(|open| self.render_artifact(open)).collect();
        match &update.what {
            RunUpdateKind::Task { workflow, .. } => {
                let name = self.mode.paint_text(TextTone::Name, workflow);
                lines.push(format!("{name}  {}", self.mode.paint_text(TextTone::Dim, &run.to_string())));
            }
            RunUpdateKind::Status { question: Some(question), .. } => {
                lines.extend(self.render_question(question))
            }
            RunUpdateKind::Status { evidence: Some(evidence), .. } => {
                let why = render_parked_run_line(run, &evidence.message).join("\n");
                lines.extend(self.wrap_and_paint(TextTone::Bad, &why));
            }
            RunUpdateKind::Status { state, message, output, .. } => {
                let parts = message.as_ref().map(|message| message.parts.as_slice());
                if state.is_terminal() {
                    let end = render_run_end_line(*state, message.as_ref()).join("\n");
                    lines.extend(self.wrap_and_paint(state_tone(*state), &end));
                } else {
                    lines.extend(self.render_parts_for_screen(parts.unwrap_or_default(), "  "));
                }
                if !output.is_null() {
                    let width = terminal_style::terminal_text_columns().saturating_sub(4);
                    let rendered = terminal_layout::render_json_value(output, width, RenderLimits::SHORT);
                    self.has_clipped_text |= rendered.clipped;
                    lines.push("  output".to_owned());
                    lines.extend(rendered.lines.iter().map(|line| format!("    {line}")));
                }
            }
            RunUpdateKind::Artifact { .. } => {}
        }
        lines
    }

    fn render_artifact(&mut self, artifact: &Artifact) -> Vec<String> {
        let mut lines = vec![format!("  + {}", format_artifact_title(artifact, false))];
        lines.extend(self.render_parts_for_screen(&artifact.parts, "    "));
        lines
    }

    fn render_question(&mut self, question: &QuestionView) -> Vec<String> {
        let lines = self.render_parts_for_screen(&question.prompt, "  ");
        let lines = lines.iter().enumerate().map(|(at, line)| {
            let line = if at == 0 { line.replacen(' ', "?", 1) } else { line.clone() };
            self.mode.paint_text(TextTone::Strong, &line)
        });
        lines.collect()
    }

    fn render_parts_for_screen(&mut self, parts: &[Part], indent: &str) -> Vec<String> {
        let width = terminal_style::terminal_text_columns().saturating_sub(indent.len());
        let rendered = terminal_layout::render_wrapped_parts(parts, width, RenderLimits::SHORT);
        self.has_clipped_text |= rendered.clipped;
        rendered.lines.iter().map(|line| format!("{indent}{line}")).collect()
    }

    fn wrap_and_paint(&self, tone: TextTone, text: &str) -> Vec<String> {
        let lines = terminal_layout::wrap_text(text, terminal_style::terminal_text_columns());
        lines.iter().map(|line| self.mode.paint_text(tone, line)).collect()
    }
}

fn print_lines(lines: &[String]) -> io::Result<()> {
    lines.iter().try_for_each(|line| output_streams::write_stdout_line(line))
}

/// For a pipe: one line for each item.
fn render_update_for_pipe(update: &RunUpdate) -> Vec<String> {
    match &update.what {
        RunUpdateKind::Task { workflow, .. } => {
            vec![format!("{} started: {workflow}", update.run_id)]
        }
        RunUpdateKind::Status { question: Some(question), state, .. } => {
            render_question_lines(question, *state)
        }
        RunUpdateKind::Status { evidence: Some(evidence), .. } => {
            render_parked_run_line(update.run_id, &evidence.message)
        }
        RunUpdateKind::Status { state, message, output, .. } => {
            let mut lines = match (state.is_terminal(), message) {
                (true, message) => render_run_end_line(*state, message.as_ref()),
                (false, Some(message)) => text_format::render_indented_parts(&message.parts, "  "),
                (false, None) => Vec::new(),
            };
            if !output.is_null() {
                lines.push(text_format::replace_control_chars(&format!("  output: {output}")));
            }
            lines
        }
        RunUpdateKind::Artifact { artifact, append, .. } => {
            let mut lines = vec![format!("  + {}", format_artifact_title(artifact, *append))];
            lines.extend(text_format::render_indented_parts(&artifact.parts, "    "));
            lines
        }
    }
}

fn render_question_lines(question: &QuestionView, state: StateName) -> Vec<String> {
    let mut lines = text_format::render_indented_parts(&question.prompt, "? ");
    match lines.last_mut() {
        Some(last) => last.push_str(&format!("  ({state})")),
        None => lines.push(format!("? ({state})")),
    }
    lines
}

fn render_parked_run_line(run: RunId, why: &str) -> Vec<String> {
    vec![text_format::replace_control_chars(&format!("{run} is parked: {why}"))]
}

fn render_run_end_line(state: StateName, message: Option<&Message>) -> Vec<String> {
    let said = message
        .map(|message| text_format::render_indented_parts(&message.parts, "").join("\n"))
        .unwrap_or_default();
    if said.is_empty() { vec![state.to_string()] } else { vec![format!("{state}: {said}")] }
}

/// The title of an artifact, for people.
pub(crate) fn format_artifact_title(artifact: &Artifact, append: bool) -> String {
    let mut title = artifact.artifact_id.clone();
    if let Some(name) = &artifact.name {
        title.push_str(&format!(" ({name})"));
    }
    if append {
        title.push_str(", continued");
    }
    text_format::replace_control_chars(&title)
}
