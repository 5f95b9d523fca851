//! Reads strings of the file, replaces references to variables, and records where one is wrong.

use std::{
    cell::RefCell,
    fmt::Display,
    ops::Range,
    path::{Path, PathBuf},
};

use super::{lenient_toml::ParseFinding, raw_config::SpannedText};
use crate::workspace::{
    env_reference::{self, EnvLookup},
    finding::Finding,
};

pub(super) struct ConfigReader<'a> {
    pub(super) path: &'a Path,
    /// Where relative paths begin.
    pub(super) folder: &'a Path,
    pub(super) text: &'a str,
    pub(super) variables: EnvLookup<'a>,
    /// The findings so far.
    pub(super) findings: RefCell<Vec<Finding>>,
}

impl ConfigReader<'_> {
    /// A string with every `${env:NAME}` replaced. If that is not possible, it records a finding and
    /// returns none.
    pub(super) fn read_text(&self, key: &str, text: &SpannedText) -> Option<String> {
        let bad = match env_reference::resolve_references(text.get_ref(), self.variables) {
            Ok(text) => return Some(text),
            Err(bad) => bad,
        };
        let finding = self.finding_at(text.span(), key, bad.message());
        self.push_finding(match bad.suggestion() {
            Some(suggestion) => finding.with_suggestion(suggestion),
            None => finding,
        })
    }

    /// A string that must not be empty.
    pub(super) fn read_nonempty(&self, key: &str, text: &SpannedText) -> Option<String> {
        let value = self.read_text(key, text)?;
        if value.is_empty() { self.report(text.span(), key, "it is empty") } else { Some(value) }
    }

    /// A path, relative to the folder of the file.
    pub(super) fn read_path(&self, key: &str, text: &SpannedText) -> Option<PathBuf> {
        Some(self.folder.join(self.read_nonempty(key, text)?))
    }

    /// Records that the value at this position is wrong. It returns none, for use as the value.
    pub(super) fn report<T>(&self, at: Range<usize>, key: &str, why: impl Display) -> Option<T> {
        self.push_finding(self.finding_at(at, key, why))
    }

    /// The same, with what to do about it.
    pub(super) fn report_with_hint<T>(
        &self,
        at: Range<usize>,
        key: &str,
        why: impl Display,
        suggestion: &str,
    ) -> Option<T> {
        self.push_finding(self.finding_at(at, key, why).with_suggestion(suggestion))
    }

    /// Records a part of the file that is not a valid setting.
    pub(super) fn report_unreadable(&self, misread: ParseFinding) {
        let ParseFinding { at, key, message, meant } = misread;
        self.push_finding::<()>(self.finding_at(at, &key, message).with_nearest_name(meant.as_deref()));
    }

    pub(super) fn line_at(&self, at: usize) -> u32 {
        let before = self.text.get(..at).unwrap_or(self.text);
        u32::try_from(before.matches('\n').count() + 1).unwrap_or(u32::MAX)
    }

    fn finding_at(&self, at: Range<usize>, key: &str, why: impl Display) -> Finding {
        let line = self.line_at(at.start);
        Finding::error(why.to_string()).with_file(self.path).with_line(Some(line)).with_key(key)
    }

    fn push_finding<T>(&self, finding: Finding) -> Option<T> {
        self.findings.borrow_mut().push(finding);
        None
    }
}
