//! Lines on the screen: whose turn it is to write on the last one.
//!
//! Text of the model grows on a line; prompts and the sign of work stand on stderr. Whatever comes next
//! finds its own line.

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
    /// Something stands on the line already.
    within_line: bool,
    /// A prompt stands on it.
    prompted: bool,
    /// Lines of others that came while the model was speaking, until its line ends.
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

    /// A line of the conversation's own.
    pub(super) fn line(&mut self, text: &str) -> io::Result<()> {
        self.end_line()?;
        output::line(text)
    }

    /// A line of somebody else, who does not interrupt.
    pub(super) fn line_beside(&mut self, text: &str) -> io::Result<()> {
        if self.within_line {
            self.waiting.push(text.to_owned());
            return Ok(());
        }
        self.line(text)
    }

    /// A line beside the conversation, wrapped and dimmed at a terminal.
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

    /// The model's text goes on.
    pub(super) fn piece(&mut self, text: &str) -> io::Result<()> {
        // A paragraph after other lines needs no empty ones before it.
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

    /// Where a person writes.
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

    /// The person has written: the line has ended, with a prompt on it or with what was being said.
    pub(super) fn typed(&mut self) {
        self.prompted = false;
        self.spinner.leave();
        // What comes from a pipe is not on the screen.
        if self.mode.is_terminal() {
            self.within_line = false;
            self.wrap.reset();
        }
    }

    /// What comes next stands at the beginning of a line.
    pub(super) fn end_line(&mut self) -> io::Result<()> {
        self.end_prompt();
        self.wrap.reset();
        if std::mem::take(&mut self.within_line) {
            output::line("")?;
        }
        std::mem::take(&mut self.waiting).iter().try_for_each(|line| output::line(line))
    }

    /// What is shown stands below a prompt that nobody has written behind.
    fn end_prompt(&mut self) {
        self.spinner.clear();
        if std::mem::take(&mut self.prompted) {
            output::prompt("\n");
        }
    }

    /// Something is at work.
    pub(super) fn work(&mut self) {
        self.spinner.begin();
    }

    /// Waits until the sign of work is due; for ever where it has no room.
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
