//! A sign that something is at work, with the time that it has taken. On stderr, at terminals only.

use std::{
    io::{self, IsTerminal},
    time::Duration,
};

use tokio::time::Instant;

use crate::{
    output,
    style::{OutputMode, Style, Tone},
};

/// How long a picture stays.
const FRAME: Duration = Duration::from_millis(120);
/// What is faster needs no sign.
const QUIET: Duration = Duration::from_millis(400);
const PICTURES: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
/// Columns of the sign, so that each picture covers the one before.
const COLUMNS: usize = 20;

#[derive(Debug)]
pub(crate) struct Spinner {
    /// Absent where nothing is drawn.
    style: Option<Style>,
    /// When the work began.
    since: Option<Instant>,
    /// The sign stands on the line.
    is_drawn: bool,
    picture: usize,
}

impl Spinner {
    pub(crate) fn new(mode: OutputMode) -> Self {
        let style = match mode {
            OutputMode::Terminal(style) if style.cursor && io::stderr().is_terminal() => {
                Some(style)
            }
            OutputMode::Terminal(_) | OutputMode::Pipe | OutputMode::Json => None,
        };
        Self { style, since: None, is_drawn: false, picture: 0 }
    }

    /// Work begins, or goes on.
    pub(crate) fn begin(&mut self) {
        self.since = self.since.or_else(|| Some(Instant::now()));
    }

    /// Nothing works any more.
    pub(crate) fn end(&mut self) {
        self.clear();
        self.since = None;
    }

    /// Waits until the next picture is due; for ever where none is.
    pub(crate) async fn due(&self) {
        match self.since.filter(|_| self.style.is_some()) {
            Some(since) => {
                let next = (since + QUIET).max(Instant::now() + FRAME);
                tokio::time::sleep_until(next).await;
            }
            None => std::future::pending().await,
        }
    }

    /// Draws the next picture. What was typed behind the sign stays where it is.
    pub(crate) fn draw(&mut self) {
        let (Some(style), Some(since)) = (self.style, self.since) else { return };
        let picture = PICTURES[self.picture % PICTURES.len()];
        self.picture += 1;
        let sign = format!("{picture} working {}", elapsed(since.elapsed()));
        let sign = style.paint(Tone::Dim, &format!("{sign:<COLUMNS$}"));
        if self.is_drawn {
            output::prompt(&format!("\x1b7\r{sign}\x1b8"));
        } else {
            output::prompt(&sign);
            self.is_drawn = true;
        }
    }

    /// Takes the sign away, so that something else can stand there.
    pub(crate) fn clear(&mut self) {
        if std::mem::take(&mut self.is_drawn) {
            output::prompt("\r\x1b[K");
        }
    }

    /// A line was typed behind the sign: it stays where it is.
    pub(crate) fn leave(&mut self) {
        self.is_drawn = false;
    }
}

fn elapsed(time: Duration) -> String {
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
            assert_eq!(elapsed(Duration::from_secs(seconds)), expected);
            assert!(format!("⠋ working {expected}").chars().count() <= COLUMNS);
        }
    }
}
