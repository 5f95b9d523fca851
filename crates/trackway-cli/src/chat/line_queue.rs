//! Lines that were read but cannot be used yet.

use std::collections::VecDeque;

/// Lines that are read ahead: more than a person types during a turn, and a small part of a long pipe.
/// Limit (CLI): lines that a chat reads ahead.
const AHEAD_MAX: usize = 64;

/// In the order of the input.
#[derive(Debug, Default)]
pub(super) struct InputLineQueue {
    lines: VecDeque<String>,
}

impl InputLineQueue {
    pub(super) fn push_line(&mut self, line: String) {
        self.lines.push_back(line);
    }

    /// No further line is read for now.
    pub(super) fn is_line_queue_full(&self) -> bool {
        self.lines.len() >= AHEAD_MAX
    }

    pub(super) fn queued_line_count(&self) -> usize {
        self.lines.len()
    }

    /// The next line if it can be used, else the first line that need not wait for earlier ones.
    pub(super) fn take_usable_line(
        &mut self,
        is_usable: impl Fn(&str) -> bool,
        overtakes: impl Fn(&str) -> bool,
    ) -> Option<String> {
        let mut lines = self.lines.iter().enumerate();
        let (at, _) = lines.find(|(at, line)| if *at == 0 { is_usable(line) } else { overtakes(line) })?;
        self.lines.remove(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves L12: what cannot be used yet holds up the messages behind it, and no command.
    #[test]
    fn urgent_lines_overtake() {
        let mut typed = InputLineQueue::default();
        for line in ["one", "two", "/stop"] {
            typed.push_line(line.to_owned());
        }
        let urgent = |line: &str| line.starts_with('/');
        assert_eq!(typed.take_usable_line(|_| false, |_| false), None);
        assert_eq!(typed.take_usable_line(urgent, urgent).as_deref(), Some("/stop"));
        assert_eq!(typed.take_usable_line(|_| true, urgent).as_deref(), Some("one"));
        assert_eq!(typed.queued_line_count(), 1);
    }
}
