//! For whom a conversation is shown.

use std::io::{self, IsTerminal};

use crate::config;

/// How things look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Looks {
    /// A person at a terminal.
    Person { colour: bool },
    /// Lines that come from a pipe, or go into one.
    Pipe,
    /// Updates as JSON.
    Json,
}

impl Looks {
    pub(super) fn new(json: bool) -> Self {
        let is_person = io::stdin().is_terminal() && io::stdout().is_terminal();
        match (json, is_person) {
            (true, _) => Self::Json,
            (false, false) => Self::Pipe,
            (false, true) => Self::Person { colour: wants_colour(&config::variable) },
        }
    }

    pub(super) const fn is_person(self) -> bool {
        matches!(self, Self::Person { .. })
    }

    /// Less than what is said.
    pub(super) fn dim(self, text: &str) -> String {
        match self {
            Self::Person { colour: true } => format!("\x1b[2m{text}\x1b[0m"),
            Self::Person { colour: false } | Self::Pipe | Self::Json => text.to_owned(),
        }
    }
}

/// Whether the terminal can show colours, and whoever sits there wants them.
fn wants_colour(variable: &dyn Fn(&str) -> Option<String>) -> bool {
    // https://no-color.org: any value that is not empty.
    let wanted = variable("NO_COLOR").is_none_or(|value| value.is_empty());
    // A terminal without a name is taken for one that knows nothing.
    wanted && variable("TERM").is_some_and(|name| !name.is_empty() && name != "dumb")
}
