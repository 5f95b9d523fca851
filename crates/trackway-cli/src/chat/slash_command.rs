//! Commands for the chat itself, not for the agent.

/// A command of the chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SlashCommand {
    Stop,
    Skip,
    Fork,
    Help,
    Quit,
    /// Show the shortened value with this number in full.
    Show(usize),
    /// Send the file at this path along with the next message.
    Attach(String),
}

pub(super) const HELP: &[&str] = &[
    "What you write goes to the agent. If a question is open, it answers the question.",
    "  /stop   stop the turn, and what it started",
    "  /skip   leave the open question for later",
    "  /fork   continue in a new session that begins with this conversation",
    "  /show N show the shortened value number N in full",
    "  /attach FILE send a file along with your next message",
    "  /help   this page",
    "  /quit   end; the session is kept (trackway chat --resume)",
    "Without a language model: /run NAME key=value … starts a workflow, help lists them.",
];

impl SlashCommand {
    /// Parses a line as a command; any other line goes to the agent.
    pub(super) fn parse_slash_command(line: &str) -> Option<Self> {
        let line = line.trim();
        if let Some(number) = line.strip_prefix("/show ") {
            return number.trim().parse().ok().map(Self::Show);
        }
        if let Some(path) = line.strip_prefix("/attach")
            && (path.is_empty() || path.starts_with(char::is_whitespace))
        {
            return Some(Self::Attach(unquote_path(path.trim()).to_owned()));
        }
        match line {
            "/stop" => Some(Self::Stop),
            "/skip" => Some(Self::Skip),
            "/fork" => Some(Self::Fork),
            "/help" => Some(Self::Help),
            "/quit" | "/exit" => Some(Self::Quit),
            _ => None,
        }
    }

    /// Whether it is executed immediately, ahead of earlier lines. A person refers to the current
    /// screen; from a pipe, only a stop is urgent.
    pub(super) const fn is_urgent(&self, is_person: bool) -> bool {
        match self {
            Self::Stop => true,
            Self::Skip | Self::Help | Self::Quit | Self::Show(_) => is_person,
            Self::Fork | Self::Attach(_) => false,
        }
    }
}

/// The path without the quotes that terminals put around a file that is dropped into them.
fn unquote_path(path: &str) -> &str {
    let inside = |quote: char| path.strip_prefix(quote)?.strip_suffix(quote);
    inside('\'').or_else(|| inside('"')).unwrap_or(path)
}

/// Whether a line goes to the agent even if a question is open: it is a command of the offline rules.
pub(super) fn is_offline_agent_command(line: &str) -> bool {
    line.split_whitespace().next() == Some("/run")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_commands_are_for_the_terminal() {
        for (line, expected) in [
            ("/stop", Some(SlashCommand::Stop)),
            (" /show 12 ", Some(SlashCommand::Show(12))),
            ("/attach my data.csv ", Some(SlashCommand::Attach("my data.csv".to_owned()))),
            ("/attach '/tmp/a b.csv'", Some(SlashCommand::Attach("/tmp/a b.csv".to_owned()))),
            ("/attach", Some(SlashCommand::Attach(String::new()))),
            ("/attachment", None),
            ("/show", None),
            ("/show me", None),
            ("/run echo", None),
        ] {
            assert_eq!(SlashCommand::parse_slash_command(line), expected, "{line:?}");
        }
    }
}
