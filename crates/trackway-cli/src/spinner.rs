//! A spinner with the elapsed time. It is on stderr, at terminals only.

use std::{
    io::{self, IsTerminal},
    time::Duration,
};

use tokio::time::Instant;

use crate::{
    output_streams,
    terminal_style::{OutputMode, TerminalStyle, TextTone},
};

/// How long a frame stays.
const FRAME: Duration = Duration::from_millis(120);
/// Faster work needs no spinner.
const QUIET: Duration = Duration::from_millis(400);
const PICTURES: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
/// Width of the spinner, so that each frame covers the previous one.
const COLUMNS: usize = 20;

#[derive(Debug)]
pub(crate) struct Spinner {
    /// Absent if nothing is drawn.
    style: Option<TerminalStyle>,
    /// When the work began.
    started_at: Option<Instant>,
    /// The spinner is on the line.
    is_drawn: bool,
    frame: usize,
}

impl Spinner {
    pub(crate) fn new(mode: OutputMode) -> Self {
        let style = match mode {
            OutputMode::Terminal(style) if style.can_move_cursor && io::stderr().is_terminal() => Some(style),
            OutputMode::Terminal(_) | OutputMode::Pipe | OutputMode::Json => None,
        };
        Self { style, started_at: None, is_drawn: false, frame: 0 }
    }

    /// Work begins or continues.
    pub(crate) fn start_spinning(&mut self) {
        self.started_at = self.started_at.or_else(|| Some(Instant::now()));
    }

    /// Work has ended.
    pub(crate) fn stop_spinning(&mut self) {
        self.erase_spinner();
        self.started_at = None;
    }

    /// Waits until the next frame is due; for ever if there is none.
    pub(crate) async fn wait_for_next_animation_frame(&self) {
        match self.started_at.filter(|_| self.style.is_some()) {
            Some(since) => {
                let next = (since + QUIET).max(Instant::now() + FRAME);
                tokio::time::sleep_until(next).await;
            }
            None => std::future::pending().await,
        }
    }

    /// Draws the next frame. Text that the user typed after the spinner stays.
    pub(crate) fn draw_animation_frame(&mut self) {
        let (Some(style), Some(since)) = (self.style, self.started_at) else { return };
        let picture = PICTURES[self.frame % PICTURES.len()];
        self.frame += 1;
        let sign = format!("{picture} working {}", format_elapsed(since.elapsed()));
        let sign = style.paint_text(TextTone::Dim, &format!("{sign:<COLUMNS$}"));
        if self.is_drawn {
            output_streams::write_stderr_prompt(&format!("\x1b7\r{sign}\x1b8"));
        } else {
            output_streams::write_stderr_prompt(&sign);
            self.is_drawn = true;
        }
    }

    /// Removes the spinner, to make room for other output.
    pub(crate) fn erase_spinner(&mut self) {
        if std::mem::take(&mut self.is_drawn) {
            output_streams::write_stderr_prompt("\r\x1b[K");
        }
    }

    /// The user typed a line after the spinner: it stays there.
    pub(crate) fn leave_spinner_on_screen(&mut self) {
        self.is_drawn = false;
    }
}

fn format_elapsed(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds => format!("{} min {:02} s", seconds / 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_shown_in_seconds_and_minutes() {
        for (seconds, expected) in [(0, "0 s"), (59, "59 s"), (63, "1 min 03 s")] {
            assert_eq!(format_elapsed(Duration::from_secs(seconds)), expected);
            assert!(format!("⠋ working {expected}").chars().count() <= COLUMNS);
        }
    }
}
