//! Shows the updates of a run: lines for a person, or JSON for a program.

use std::io;

use trackway::api::{Artifact, Message, Part, Question, RunUpdate, What};
use trackway_domain::{RunId, StateName};

use crate::{
    chat::view::tone,
    growing::Growing,
    layout::{self, Detail},
    output,
    spinner::Spinner,
    style::{self, OutputMode, Tone},
    text,
};

#[derive(Debug)]
pub(crate) struct Screen {
    mode: OutputMode,
    growing: Growing,
    spinner: Spinner,
    /// Something was shortened.
    clipped: bool,
}

impl Screen {
    pub(crate) fn new(json: bool) -> Self {
        let mode = OutputMode::new(json);
        Self { mode, growing: Growing::default(), spinner: Spinner::new(mode), clipped: false }
    }

    /// Shows one update of the followed run.
    pub(crate) fn update(&mut self, update: &RunUpdate) -> io::Result<()> {
        self.spinner.clear();
        match self.mode {
            OutputMode::Json => output::json(update),
            OutputMode::Pipe => print(&plain(update)),
            OutputMode::Terminal(_) => {
                let lines = self.terminal(update);
                print(&lines)
            }
        }
    }

    /// Shows the question of a child of the followed run.
    pub(crate) fn child(&mut self, update: &RunUpdate) -> io::Result<()> {
        self.spinner.clear();
        if self.mode == OutputMode::Json {
            return output::json(update);
        }
        output::line(&format!("{} asks:", update.run_id))?;
        self.update(update)
    }

    /// Whether something was shortened.
    pub(crate) const fn has_clipped(&self) -> bool {
        self.clipped
    }

    /// Starts the spinner: the run works.
    pub(crate) fn work(&mut self) {
        self.spinner.begin();
    }

    /// Stops the spinner: the run waits or has ended.
    pub(crate) fn rest(&mut self) {
        self.spinner.end();
    }

    /// Waits until the spinner is due.
    pub(crate) async fn spinner_due(&self) {
        self.spinner.due().await;
    }

    pub(crate) fn draw_spinner(&mut self) {
        self.spinner.draw();
    }

    fn terminal(&mut self, update: &RunUpdate) -> Vec<String> {
        let run = update.run_id;
        if let What::Artifact { artifact, append, last_chunk } = &update.what {
            let whole = self.growing.take(run, artifact, *append, *last_chunk);
            return whole.iter().flat_map(|artifact| self.artifact(artifact)).collect();
        }
        let open = self.growing.close(run);
        let mut lines: Vec<String> = open.iter().flat_map(|open| self.artifact(open)).collect();
        match &update.what {
            What::Task { workflow, .. } => {
                let name = self.mode.paint(Tone::Name, workflow);
                lines.push(format!("{name}  {}", self.mode.paint(Tone::Dim, &run.to_string())));
            }
            What::Status { question: Some(question), .. } => lines.extend(self.question(question)),
            What::Status { evidence: Some(evidence), .. } => {
                let why = parked(run, &evidence.message).join("\n");
                lines.extend(self.painted(Tone::Bad, &why));
            }
            What::Status { state, message, output, .. } => {
                let parts = message.as_ref().map(|message| message.parts.as_slice());
                if state.is_terminal() {
                    let end = ended(*state, message.as_ref()).join("\n");
                    lines.extend(self.painted(tone(*state), &end));
                } else {
                    lines.extend(self.parts(parts.unwrap_or_default(), "  "));
                }
                if !output.is_null() {
                    let width = style::columns().saturating_sub(4);
                    let rendered = layout::render(output, width, Detail::SHORT);
                    self.clipped |= rendered.clipped;
                    lines.push("  output".to_owned());
                    lines.extend(rendered.lines.iter().map(|line| format!("    {line}")));
                }
            }
            What::Artifact { .. } => {}
        }
        lines
    }

    fn artifact(&mut self, artifact: &Artifact) -> Vec<String> {
        let mut lines = vec![format!("  + {}", title(artifact, false))];
        lines.extend(self.parts(&artifact.parts, "    "));
        lines
    }

    fn question(&mut self, question: &Question) -> Vec<String> {
        let lines = self.parts(&question.prompt, "  ");
        let lines = lines.iter().enumerate().map(|(at, line)| {
            let line = if at == 0 { line.replacen(' ', "?", 1) } else { line.clone() };
            self.mode.paint(Tone::Strong, &line)
        });
        lines.collect()
    }

    fn parts(&mut self, parts: &[Part], indent: &str) -> Vec<String> {
        let width = style::columns().saturating_sub(indent.len());
        let rendered = layout::render_parts(parts, width, Detail::SHORT);
        self.clipped |= rendered.clipped;
        rendered.lines.iter().map(|line| format!("{indent}{line}")).collect()
    }

    fn painted(&self, tone: Tone, text: &str) -> Vec<String> {
        let lines = layout::wrap(text, style::columns());
        lines.iter().map(|line| self.mode.paint(tone, line)).collect()
    }
}

fn print(lines: &[String]) -> io::Result<()> {
    lines.iter().try_for_each(|line| output::line(line))
}

/// For a pipe: one line for each item.
fn plain(update: &RunUpdate) -> Vec<String> {
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

/// The title of an artifact, for people.
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
