//! A command in a terminal, as a person sees it: typed to, and read as it is shown.

use std::{
    io::{Read, Write},
    process::{Child, ChildStdout, Command, Stdio},
};

use super::prepared::python;

/// A command under way in a terminal of its own. It is hung up when it is dropped.
#[derive(Debug)]
pub(crate) struct Terminal {
    child: Child,
    out: ChildStdout,
    /// Everything that was shown.
    screen: Vec<u8>,
    /// What of it was looked at.
    seen: usize,
}

impl Terminal {
    pub(super) fn start(command: &Command) -> Self {
        let mut terminal = python("TRACKWAY_TEST_PYTHON", "terminal.py");
        terminal.arg(command.get_program()).args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => terminal.env(name, value),
                None => terminal.env_remove(name),
            };
        }
        let mut child = terminal.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let out = child.stdout.take().unwrap();
        Self { child, out, screen: Vec::new(), seen: 0 }
    }

    /// Types this. A line ends with `\n`; `\x03` is Ctrl-C, and `\x04` Ctrl-D.
    pub(crate) fn types(&mut self, text: &str) {
        self.child.stdin.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
    }

    /// Waits until this is shown, and returns what was shown since the last look, up to its end.
    #[track_caller]
    pub(crate) fn until(&mut self, text: &str) -> String {
        loop {
            let new = &self.screen[self.seen..];
            if let Some(at) = new.windows(text.len()).position(|it| it == text.as_bytes()) {
                let shown = String::from_utf8(new[..at + text.len()].to_vec()).unwrap();
                self.seen += shown.len();
                return shown;
            }
            assert!(self.read(), "it ended without {text:?}: {}", self.text());
        }
    }

    /// Waits for its end; its exit code, and everything that it has shown.
    pub(crate) fn ended(mut self) -> (i32, String) {
        while self.read() {}
        (self.child.wait().unwrap().code().unwrap_or(-1), self.text())
    }

    fn read(&mut self) -> bool {
        let mut piece = [0; 4_096];
        let count = self.out.read(&mut piece).unwrap();
        self.screen.extend_from_slice(&piece[..count]);
        count > 0
    }

    fn text(&self) -> String {
        String::from_utf8(self.screen.clone()).unwrap()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Without it the terminal is gone, and the command is told so.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
