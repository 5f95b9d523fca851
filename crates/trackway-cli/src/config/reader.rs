//! Reads texts of the file, with the variables that they refer to, and says where one is wrong.

use std::{
    fmt::Display,
    ops::Range,
    path::{Path, PathBuf},
};

use super::file::Text;
use crate::{exit::Exit, failure::Failure, suggest};

/// Begins a reference to a variable of the environment.
const OPEN: &str = "${env:";

pub(super) struct Reader<'a> {
    pub(super) path: &'a Path,
    /// Where relative paths begin.
    pub(super) folder: &'a Path,
    pub(super) text: &'a str,
    pub(super) variable: &'a dyn Fn(&str) -> Option<String>,
}

impl Reader<'_> {
    /// A text with every `${env:NAME}` replaced.
    pub(super) fn text(&self, text: &Text) -> Result<String, Failure> {
        let mut rest = text.get_ref().as_str();
        let mut whole = String::new();
        while let Some((before, after)) = rest.split_once(OPEN) {
            let Some((name, behind)) = after.split_once('}') else {
                return Err(self.wrong(text.span(), "`${env:` has no `}`"));
            };
            let Some(value) = (self.variable)(name) else {
                let message = format!("the environment has no variable {name:?}");
                return Err(self
                    .wrong(text.span(), message)
                    .hint(format!("set it, or write the value instead of {OPEN}{name}}}")));
            };
            whole.push_str(before);
            whole.push_str(&value);
            rest = behind;
        }
        whole.push_str(rest);
        Ok(whole)
    }

    /// A text that must say something.
    pub(super) fn some(&self, key: &str, text: &Text) -> Result<String, Failure> {
        let value = self.text(text)?;
        if value.is_empty() {
            return Err(self.wrong(text.span(), format!("{key} is empty")));
        }
        Ok(value)
    }

    /// A path, from the file's folder on.
    pub(super) fn file(&self, key: &str, text: &Text) -> Result<PathBuf, Failure> {
        Ok(self.folder.join(self.some(key, text)?))
    }

    /// Something at this place is not right.
    pub(super) fn wrong(&self, at: Range<usize>, why: impl Display) -> Failure {
        let place = format!("{}, line {}", self.path.display(), self.line(at.start));
        Failure::new(format!("{place}: {why}")).exit(Exit::Usage)
    }

    /// The file is not TOML, or has a key or a type that no setting has. The line itself is not shown:
    /// it may hold a secret.
    pub(super) fn misread(&self, error: &toml::de::Error) -> Failure {
        let failure = self.wrong(error.span().unwrap_or(0..0), error.message());
        // Which keys there are stands only in the message: "unknown field `a`, expected `b` or `c`".
        let words: Vec<String> =
            error.message().split('`').skip(1).step_by(2).map(str::to_owned).collect();
        match words.split_first() {
            Some((written, known)) if error.message().starts_with("unknown field") => {
                match suggest::closest(written, known) {
                    Some(meant) => failure.hint(format!("did you mean {meant:?}?")),
                    None => failure,
                }
            }
            _ => failure,
        }
    }

    fn line(&self, at: usize) -> usize {
        let before = self.text.get(..at).unwrap_or(self.text);
        before.matches('\n').count() + 1
    }
}
