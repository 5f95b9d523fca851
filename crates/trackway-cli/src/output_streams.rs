//! The two outputs: data on stdout, everything else on stderr.

use std::io::{self, Write};

use serde::Serialize;

/// Writes a line of data. It is flushed, because a reader may wait for it.
pub(crate) fn write_stdout_line(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()
}

/// Writes a piece of a line. It is flushed, so that a person can read it before the next piece
/// arrives.
pub(crate) fn write_stdout_text(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    write!(out, "{text}")?;
    out.flush()
}

/// Writes a value as one line of JSON.
pub(crate) fn write_stdout_json_line(value: &impl Serialize) -> io::Result<()> {
    write_stdout_line(&serde_json::to_string(value)?)
}

/// Prints a note that is not data to stderr.
pub(crate) fn print_stderr_note(text: &str) {
    // If stderr fails, the error cannot be reported.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// As [`print_stderr_note`], without a line break: the user types the answer after it.
pub(crate) fn write_stderr_prompt(text: &str) {
    let mut err = io::stderr().lock();
    let _ = write!(err, "{text}");
    let _ = err.flush();
}
