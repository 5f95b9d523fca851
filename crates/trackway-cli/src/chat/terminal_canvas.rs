//! Lines on the screen: decides which output may write on the last one.
//!
//! Text of the model grows on a line; prompts and the spinner are on stderr. All other output begins a
//! new line.

use std::io;

use crate::{
    output_streams,
    spinner::Spinner,
    terminal_layout::{self, StreamingWordWrap},
    terminal_style::{self, OutputMode, TextTone},
    text_format,
};

#[derive(Debug)]
pub(super) struct TerminalCanvas {
    pub(super) mode: OutputMode,
    /// The line already has text.
    is_mid_line: bool,
    /// The line has a prompt.
    has_prompt: bool,
    /// Lines of other runs that arrived during the model's text; they wait until its line ends.
    deferred_lines: Vec<String>,
    word_wrap: StreamingWordWrap,
    spinner: Spinner,
}

impl TerminalCanvas {
    pub(super) fn new(mode: OutputMode) -> Self {
        Self {
            mode,
            is_mid_line: false,
            has_prompt: false,
            deferred_lines: Vec::new(),
            word_wrap: StreamingWordWrap::default(),
            spinner: Spinner::new(mode),
        }
    }

    /// A line of the conversation itself.
    pub(super) fn write_line(&mut self, text: &str) -> io::Result<()> {
        self.end_line()?;
        output_streams::write_stdout_line(text)
    }

    /// A line of another run, which does not interrupt the model's text.
    pub(super) fn write_or_defer_line(&mut self, text: &str) -> io::Result<()> {
        if self.is_mid_line {
            self.deferred_lines.push(text.to_owned());
            return Ok(());
        }
        self.write_line(text)
    }

    /// A note about the conversation, wrapped and dimmed at a terminal.
    pub(super) fn write_dimmed_line(&mut self, text: &str) -> io::Result<()> {
        let text = text_format::replace_control_chars(text);
        if !self.mode.is_terminal() {
            return self.write_line(&text);
        }
        for line in terminal_layout::wrap_text(&text, terminal_style::terminal_text_columns()) {
            let line = self.mode.paint_text(TextTone::Dim, &line);
            self.write_line(&line)?;
        }
        Ok(())
    }

    /// Appends to the model's text.
    pub(super) fn write_model_text(&mut self, text: &str) -> io::Result<()> {
        // A paragraph after other lines needs no empty lines before it.
        let text = if self.is_mid_line { text } else { text.trim_start_matches('\n') };
        if text.is_empty() {
            return Ok(());
        }
        self.move_below_prompt();
        let wrapped = match self.mode {
            OutputMode::Terminal(style) => self.word_wrap.wrap_text_delta(
                text,
                terminal_style::terminal_text_columns(),
                style.can_move_cursor,
            ),
            OutputMode::Pipe | OutputMode::Json => text.to_owned(),
        };
        self.is_mid_line = !text.ends_with('\n');
        output_streams::write_stdout_text(&wrapped)
    }

    /// Shows the prompt.
    pub(super) fn draw_prompt(&mut self, text: &str) {
        self.spinner.stop_spinning();
        if !self.mode.is_terminal() || self.has_prompt {
            return;
        }
        let text = text_format::replace_control_chars(text);
        let lines = terminal_layout::wrap_text(text.trim_end(), terminal_style::terminal_text_columns());
        let lines: Vec<String> =
            lines.iter().map(|line| self.mode.paint_text(TextTone::Strong, line)).collect();
        output_streams::write_stderr_prompt(&format!("{} ", lines.join("\n")));
        self.has_prompt = true;
    }

    /// The person has pressed enter, which ended the current line.
    pub(super) fn on_line_typed(&mut self) {
        self.has_prompt = false;
        self.spinner.leave_spinner_on_screen();
        // Lines from a pipe are not on the screen.
        if self.mode.is_terminal() {
            self.is_mid_line = false;
            self.word_wrap.reset_current_line();
        }
    }

    /// Ensures that the next output begins a line.
    pub(super) fn end_line(&mut self) -> io::Result<()> {
        self.move_below_prompt();
        self.word_wrap.reset_current_line();
        if std::mem::take(&mut self.is_mid_line) {
            output_streams::write_stdout_line("")?;
        }
        std::mem::take(&mut self.deferred_lines)
            .iter()
            .try_for_each(|line| output_streams::write_stdout_line(line))
    }

    /// Moves below a prompt without typed text.
    fn move_below_prompt(&mut self) {
        self.spinner.erase_spinner();
        if std::mem::take(&mut self.has_prompt) {
            output_streams::write_stderr_prompt("\n");
        }
    }

    /// Starts the spinner.
    pub(super) fn start_spinner(&mut self) {
        self.spinner.start_spinning();
    }

    /// Waits until the spinner is due; for ever if it has no room.
    pub(super) async fn wait_for_spinner_frame(&self) {
        if self.is_mid_line || self.has_prompt {
            return std::future::pending().await;
        }
        self.spinner.wait_for_next_animation_frame().await;
    }

    pub(super) fn draw_spinner(&mut self) {
        self.spinner.draw_animation_frame();
    }
}
