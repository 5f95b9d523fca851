//! Lines on the screen: decides which output may write on the last one.
//!
//! Text of the model grows on a line; prompts and the spinner are on stderr. All other output begins a
//! new line.

use std::io;

use crate::{
    layout::{self, WordWrap},
    output,
    spinner::Spinner,
    style::{self, OutputMode, Tone},
    text,
};

#[derive(Debug)]
pub(super) struct Canvas {
    pub(super) mode: OutputMode,
    /// The line already has text.
    within_line: bool,
    /// The line has a prompt.
    prompted: bool,
    /// Lines of other runs that arrived during the model's text; they wait until its line ends.
    waiting: Vec<String>,
    wrap: WordWrap,
    spinner: Spinner,
}

impl Canvas {
    pub(super) fn new(mode: OutputMode) -> Self {
        Self {
            mode,
            within_line: false,
            prompted: false,
            waiting: Vec::new(),
            wrap: WordWrap::default(),
            spinner: Spinner::new(mode),
        }
    }

    /// A line of the conversation itself.
    pub(super) fn line(&mut self, text: &str) -> io::Result<()> {
        self.end_line()?;
        output::line(text)
    }

    /// A line of another run, which does not interrupt the model's text.
    pub(super) fn line_beside(&mut self, text: &str) -> io::Result<()> {
        if self.within_line {
            self.waiting.push(text.to_owned());
            return Ok(());
        }
        self.line(text)
    }

    /// A note about the conversation, wrapped and dimmed at a terminal.
    pub(super) fn aside(&mut self, text: &str) -> io::Result<()> {
        let text = text::printable(text);
        if !self.mode.is_terminal() {
            return self.line(&text);
        }
        for line in layout::wrap(&text, style::columns()) {
            let line = self.mode.paint(Tone::Dim, &line);
            self.line(&line)?;
        }
        Ok(())
    }

    /// Appends to the model's text.
    pub(super) fn piece(&mut self, text: &str) -> io::Result<()> {
        // A paragraph after other lines needs no empty lines before it.
        let text = if self.within_line { text } else { text.trim_start_matches('\n') };
        if text.is_empty() {
            return Ok(());
        }
        self.end_prompt();
        let wrapped = match self.mode {
            OutputMode::Terminal(style) => self.wrap.push(text, style::columns(), style.cursor),
            OutputMode::Pipe | OutputMode::Json => text.to_owned(),
        };
        self.within_line = !text.ends_with('\n');
        output::piece(&wrapped)
    }

    /// Shows the prompt.
    pub(super) fn prompt(&mut self, text: &str) {
        self.spinner.end();
        if !self.mode.is_terminal() || self.prompted {
            return;
        }
        let text = text::printable(text);
        let lines = layout::wrap(text.trim_end(), style::columns());
        let lines: Vec<String> =
            lines.iter().map(|line| self.mode.paint(Tone::Strong, line)).collect();
        output::prompt(&format!("{} ", lines.join("\n")));
        self.prompted = true;
    }

    /// The person has pressed enter, which ended the current line.
    pub(super) fn typed(&mut self) {
        self.prompted = false;
        self.spinner.leave();
        // Lines from a pipe are not on the screen.
        if self.mode.is_terminal() {
            self.within_line = false;
            self.wrap.reset();
        }
    }

    /// Ensures that the next output begins a line.
    pub(super) fn end_line(&mut self) -> io::Result<()> {
        self.end_prompt();
        self.wrap.reset();
        if std::mem::take(&mut self.within_line) {
            output::line("")?;
        }
        std::mem::take(&mut self.waiting).iter().try_for_each(|line| output::line(line))
    }

    /// Moves below a prompt without typed text.
    fn end_prompt(&mut self) {
        self.spinner.clear();
        if std::mem::take(&mut self.prompted) {
            output::prompt("\n");
        }
    }

    /// Starts the spinner.
    pub(super) fn work(&mut self) {
        self.spinner.begin();
    }

    /// Waits until the spinner is due; for ever if it has no room.
    pub(super) async fn spinner_due(&self) {
        if self.within_line || self.prompted {
            return std::future::pending().await;
        }
        self.spinner.due().await;
    }

    pub(super) fn draw_spinner(&mut self) {
        self.spinner.draw();
    }
}
