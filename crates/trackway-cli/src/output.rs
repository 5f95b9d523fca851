//! The two ways out: data on stdout, everything else on stderr.

use std::io::{self, Write};

use serde::Serialize;

/// Writes a line of data. It is flushed, since whoever reads it may be waiting for it.
pub(crate) fn line(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()
}

/// Writes a piece of a line. It is flushed, since it is read while the next one is made.
pub(crate) fn piece(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    write!(out, "{text}")?;
    out.flush()
}

/// Writes a value as one line of JSON.
pub(crate) fn json(value: &impl Serialize) -> io::Result<()> {
    line(&serde_json::to_string(value)?)
}

/// Tells the person at the terminal something that is no data.
pub(crate) fn note(text: &str) {
    // There is nobody left to tell if this fails.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// As [`note`], and stays on the line: an answer is typed behind it.
pub(crate) fn prompt(text: &str) {
    let mut err = io::stderr().lock();
    let _ = write!(err, "{text}");
    let _ = err.flush();
}
