//! A command in a terminal, as a person sees it: the test types and reads the screen.

use std::{
    io::{Read, Write},
    process::{Child, ChildStdout, Command, Stdio},
};

use super::external_clients::python_client;

/// A running command in a separate terminal. It is hung up when it is dropped.
#[derive(Debug)]
pub(crate) struct PseudoTerminal {
    child: Child,
    out: ChildStdout,
    /// Every byte that was shown.
    screen: Vec<u8>,
    /// How much of the text on it was already read.
    seen: usize,
}

impl PseudoTerminal {
    pub(super) fn start(command: &Command, columns: u16) -> Self {
        let mut terminal = python_client("TRACKWAY_TEST_PYTHON", "terminal.py");
        terminal.arg(columns.to_string()).arg(command.get_program()).args(command.get_args());
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
    pub(crate) fn type_text(&mut self, text: &str) {
        self.child.stdin.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
    }

    /// Waits until this appears, and returns the new text up to its end: without colours, and without the
    /// spinner.
    #[track_caller]
    pub(crate) fn read_until(&mut self, text: &str) -> String {
        loop {
            let visible = visible_text(&self.raw_output());
            if let Some(at) = visible[self.seen..].find(text) {
                let end = self.seen + at + text.len();
                let shown = visible[self.seen..end].to_owned();
                self.seen = end;
                return shown;
            }
            assert!(self.read_more(), "it ended without {text:?}: {visible}");
        }
    }

    /// Waits until exactly these bytes have been written.
    #[track_caller]
    pub(crate) fn read_until_raw(&mut self, text: &str) {
        while !self.raw_output().contains(text) {
            assert!(self.read_more(), "it ended without {text:?}: {:?}", self.raw_output());
        }
    }

    /// Waits for its end; its exit code, and all its output. Nothing of it may control the terminal.
    pub(crate) fn wait_for_exit(self) -> (i32, String) {
        let (code, raw) = self.wait_for_raw_exit();
        assert_harmless(&raw);
        (code, visible_text(&raw))
    }

    /// As [`Self::wait_for_exit`], with colours.
    pub(crate) fn wait_for_raw_exit(mut self) -> (i32, String) {
        while self.read_more() {}
        (self.child.wait().unwrap().code().unwrap_or(-1), self.raw_output())
    }

    fn read_more(&mut self) -> bool {
        let mut piece = [0; 4_096];
        let count = self.out.read(&mut piece).unwrap();
        self.screen.extend_from_slice(&piece[..count]);
        count > 0
    }

    fn raw_output(&self) -> String {
        String::from_utf8_lossy(&self.screen).into_owned()
    }
}

/// The text on the screen, without colours and without the spinner.
fn visible_text(raw: &str) -> String {
    let (mut visible, mut rest) = (String::new(), raw);
    while let Some(c) = rest.chars().next() {
        let after = [drawn, redrawn, cleared, painted].iter().find_map(|skip| skip(rest));
        rest = match after {
            Some(after) => after,
            None => {
                visible.push(c);
                &rest[c.len_utf8()..]
            }
        };
    }
    visible
}

/// The spinner appears.
fn drawn(text: &str) -> Option<&str> {
    let sign = text.strip_prefix("\x1b[2m").unwrap_or(text);
    sign.starts_with(|c: char| ('\u{2800}'..='\u{28ff}').contains(&c)).then_some(())?;
    let columns = sign.char_indices().nth(20)?;
    let after = &sign[columns.0..];
    Some(after.strip_prefix("\x1b[0m").unwrap_or(after))
}

/// The spinner is redrawn: the cursor returns to its position.
fn redrawn(text: &str) -> Option<&str> {
    Some(text.strip_prefix("\x1b7\r")?.split_once("\x1b8")?.1)
}

/// The spinner is removed.
fn cleared(text: &str) -> Option<&str> {
    text.strip_prefix("\r\x1b[K")
}

/// Colour or weight, and their end.
fn painted(text: &str) -> Option<&str> {
    ["0", "1", "2", "31", "32", "36"]
        .iter()
        .find_map(|code| text.strip_prefix(format!("\x1b[{code}m").as_str()))
}

/// The output has only colours, which end with their line, and the spinner.
fn assert_harmless(raw: &str) {
    for line in visible_text(raw).split_terminator('\n') {
        let line = line.strip_suffix('\r').unwrap_or(line);
        assert!(!line.contains(char::is_control), "{line:?} in {raw:?}");
    }
    for line in raw.split_terminator('\n') {
        let ends = line.matches("\x1b[0m").count();
        let begins =
            ["1", "2", "31", "32", "36"].iter().map(|code| line.matches(&format!("\x1b[{code}m")).count());
        assert_eq!(begins.sum::<usize>(), ends, "{line:?} in {raw:?}");
    }
}

impl Drop for PseudoTerminal {
    fn drop(&mut self) {
        // Without it the terminal is closed, and the command gets a hangup.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
