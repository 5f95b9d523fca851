//! Reads strings of the file, replaces references to variables, and records where one is wrong.

use std::{
    cell::RefCell,
    fmt::Display,
    ops::Range,
    path::{Path, PathBuf},
};

use super::{file::Text, tolerant::Misread};
use crate::workspace::{
    finding::Finding,
    reference::{self, Variables},
};

pub(super) struct Reader<'a> {
    pub(super) path: &'a Path,
    /// Where relative paths begin.
    pub(super) folder: &'a Path,
    pub(super) text: &'a str,
    pub(super) variables: Variables<'a>,
    /// The findings so far.
    pub(super) findings: RefCell<Vec<Finding>>,
}

impl Reader<'_> {
    /// A string with every `${env:NAME}` replaced. If that is not possible, it records a finding and
    /// returns none.
    pub(super) fn text(&self, key: &str, text: &Text) -> Option<String> {
        let bad = match reference::resolve(text.get_ref(), self.variables) {
            Ok(text) => return Some(text),
            Err(bad) => bad,
        };
        let finding = self.at(text.span(), key, bad.message());
        self.note(match bad.suggestion() {
            Some(suggestion) => finding.suggest(suggestion),
            None => finding,
        })
    }

    /// A string that must not be empty.
    pub(super) fn some(&self, key: &str, text: &Text) -> Option<String> {
        let value = self.text(key, text)?;
        if value.is_empty() { self.wrong(text.span(), key, "it is empty") } else { Some(value) }
    }

    /// A path, relative to the folder of the file.
    pub(super) fn file(&self, key: &str, text: &Text) -> Option<PathBuf> {
        Some(self.folder.join(self.some(key, text)?))
    }

    /// Records that the value at this position is wrong. It returns none, for use as the value.
    pub(super) fn wrong<T>(&self, at: Range<usize>, key: &str, why: impl Display) -> Option<T> {
        self.note(self.at(at, key, why))
    }

    /// The same, with what to do about it.
    pub(super) fn wrong_so<T>(
        &self,
        at: Range<usize>,
        key: &str,
        why: impl Display,
        suggestion: &str,
    ) -> Option<T> {
        self.note(self.at(at, key, why).suggest(suggestion))
    }

    /// Records a part of the file that is not a valid setting.
    pub(super) fn misread(&self, misread: Misread) {
        let Misread { at, key, message, meant } = misread;
        self.note::<()>(self.at(at, &key, message).meant(meant.as_deref()));
    }

    pub(super) fn line(&self, at: usize) -> u32 {
        let before = self.text.get(..at).unwrap_or(self.text);
        u32::try_from(before.matches('\n').count() + 1).unwrap_or(u32::MAX)
    }

    fn at(&self, at: Range<usize>, key: &str, why: impl Display) -> Finding {
        let line = self.line(at.start);
        Finding::error(why.to_string()).file(self.path).line(Some(line)).key(key)
    }

    fn note<T>(&self, finding: Finding) -> Option<T> {
        self.findings.borrow_mut().push(finding);
        None
    }
}
