//! Where output goes, and how it is emphasised there.

use std::io::{self, IsTerminal};

use rustix::termios::tcgetwinsize;

use crate::config;

/// Columns of a terminal of unknown width.
const WIDTH_DEFAULT: usize = 80;
/// Limit (CLI): columns that text fills; longer lines are hard to read.
const WIDTH_MAX: usize = 100;
/// Limit (CLI): smallest number of columns that text is laid out for.
const WIDTH_MIN: usize = 20;

/// Where the output of a command goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputMode {
    /// A person at a terminal.
    Terminal(TerminalStyle),
    /// Input or output is a pipe.
    Pipe,
    /// Updates as JSON.
    Json,
}

/// What a terminal can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TerminalStyle {
    /// The terminal supports colours and bold, and the user wants them.
    pub(crate) has_colour: bool,
    /// The cursor can be moved.
    pub(crate) can_move_cursor: bool,
}

/// The role of a text, which decides how it looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextTone {
    /// A side note.
    Dim,
    /// Asks for something.
    Strong,
    /// The name of a speaker.
    Name,
    /// A success.
    Good,
    /// A failure.
    Bad,
}

impl OutputMode {
    pub(crate) fn new(json: bool) -> Self {
        let is_person = io::stdin().is_terminal() && io::stdout().is_terminal();
        match (json, is_person) {
            (true, _) => Self::Json,
            (false, false) => Self::Pipe,
            (false, true) => Self::Terminal(TerminalStyle::new(&config::read_env_var)),
        }
    }

    pub(crate) const fn is_terminal(self) -> bool {
        matches!(self, Self::Terminal(_))
    }

    /// The text with its emphasis, if there is any.
    pub(crate) fn paint_text(self, tone: TextTone, text: &str) -> String {
        match self {
            Self::Terminal(style) => style.paint_text(tone, text),
            Self::Pipe | Self::Json => text.to_owned(),
        }
    }
}

impl TerminalStyle {
    fn new(variable: &dyn Fn(&str) -> Option<String>) -> Self {
        // A terminal without a name has no capabilities.
        let cursor = variable("TERM").is_some_and(|name| !name.is_empty() && name != "dumb");
        // https://no-color.org: any value that is not empty.
        let wanted = variable("NO_COLOR").is_none_or(|value| value.is_empty());
        Self { has_colour: cursor && wanted, can_move_cursor: cursor }
    }

    pub(crate) fn paint_text(self, tone: TextTone, text: &str) -> String {
        let code = match tone {
            TextTone::Dim => "2",
            TextTone::Strong => "1",
            TextTone::Name => "36",
            TextTone::Good => "32",
            TextTone::Bad => "31",
        };
        if self.has_colour && !text.is_empty() {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}

/// Columns that text may fill at this terminal. Read each time, because a window can change its size.
pub(crate) fn terminal_text_columns() -> usize {
    let columns = tcgetwinsize(io::stdout()).map_or(0, |size| usize::from(size.ws_col));
    let columns = if columns == 0 { WIDTH_DEFAULT } else { columns };
    // The last column stays free: after it, some terminals keep the cursor on the line, and others
    // move it to the next.
    columns.clamp(WIDTH_MIN, WIDTH_MAX) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_terminals_that_know_and_want_colour_get_it() {
        for (term, no_color, expected) in [
            (Some("xterm"), None, (true, true)),
            (Some("xterm"), Some(""), (true, true)),
            (Some("xterm"), Some("1"), (false, true)),
            (Some("dumb"), None, (false, false)),
            (None, None, (false, false)),
        ] {
            let style = TerminalStyle::new(&|name| {
                let value = if name == "TERM" { term } else { no_color };
                value.map(str::to_owned)
            });
            assert_eq!((style.has_colour, style.can_move_cursor), expected, "{term:?} {no_color:?}");
        }
    }

    #[test]
    fn emphasis_ends_with_its_text() {
        let style = TerminalStyle { has_colour: true, can_move_cursor: true };
        assert_eq!(style.paint_text(TextTone::Bad, "failed"), "\x1b[31mfailed\x1b[0m");
        assert_eq!(style.paint_text(TextTone::Bad, ""), "");
        assert_eq!(OutputMode::Pipe.paint_text(TextTone::Bad, "failed"), "failed");
    }
}
