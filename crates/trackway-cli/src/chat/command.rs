//! Lines that are for the terminal, not for the agent.

/// What a line asks the terminal to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Command {
    Stop,
    Skip,
    Fork,
    Help,
    Quit,
    /// The whole of what was shortened under this number.
    Show(usize),
}

pub(super) const HELP: &[&str] = &[
    "What you write is said to the agent. Where a question is open, it answers that.",
    "  /stop   stop the turn, and what it started",
    "  /skip   leave the open question for later",
    "  /fork   go on in a new session that begins with this conversation",
    "  /show N show whole what was shortened as number N",
    "  /help   this page",
    "  /quit   end; the session is kept (trackway chat --resume)",
    "Without a language model: /run NAME key=value … starts a workflow, help lists them.",
];

impl Command {
    /// The command that a line is; anything else is said to the agent.
    pub(super) fn of(line: &str) -> Option<Self> {
        let line = line.trim();
        if let Some(number) = line.strip_prefix("/show ") {
            return number.trim().parse().ok().map(Self::Show);
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

    /// Whether it is obeyed at once, whatever is going on and whatever was written before it. A person
    /// means what can be seen; of a pipe, only that something is to stop cannot wait.
    pub(super) const fn is_urgent(self, is_person: bool) -> bool {
        match self {
            Self::Stop => true,
            Self::Skip | Self::Help | Self::Quit | Self::Show(_) => is_person,
            Self::Fork => false,
        }
    }
}

/// Whether a line is for the agent, also where a question is open: the offline rules obey it.
pub(super) fn is_for_agent(line: &str) -> bool {
    line.split_whitespace().next() == Some("/run")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_commands_are_for_the_terminal() {
        for (line, expected) in [
            ("/stop", Some(Command::Stop)),
            (" /show 12 ", Some(Command::Show(12))),
            ("/show", None),
            ("/show me", None),
            ("/run echo", None),
        ] {
            assert_eq!(Command::of(line), expected, "{line:?}");
        }
    }
}
