//! Reads strings of the file, replaces references to variables, and records where one is wrong.

use std::{
    cell::RefCell,
    fmt::Display,
    ops::Range,
    path::{Path, PathBuf},
};

use super::{lenient_toml::TomlParseFinding, raw_config::SpannedText};
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
    pub(super) fn read_text_setting(&self, key: &str, text: &SpannedText) -> Option<String> {
        let bad = match env_reference::resolve_env_references(text.get_ref(), self.variables) {
            Ok(text) => return Some(text),
            Err(bad) => bad,
        };
        let finding = self.finding_at_span(text.span(), key, bad.reference_error_message());
        self.push_finding(match bad.reference_error_suggestion() {
            Some(suggestion) => finding.with_suggestion(suggestion),
            None => finding,
        })
    }

    /// A string that must not be empty.
    pub(super) fn read_nonempty_setting(&self, key: &str, text: &SpannedText) -> Option<String> {
        let value = self.read_text_setting(key, text)?;
        if value.is_empty() { self.report_finding(text.span(), key, "it is empty") } else { Some(value) }
    }

    /// A path, relative to the folder of the file.
    pub(super) fn read_path_setting(&self, key: &str, text: &SpannedText) -> Option<PathBuf> {
        Some(self.folder.join(self.read_nonempty_setting(key, text)?))
    }

    /// Records that the value at this position is wrong. It returns none, for use as the value.
    pub(super) fn report_finding<T>(
        &self,
        span: Range<usize>,
        key: &str,
        message: impl Display,
    ) -> Option<T> {
        self.push_finding(self.finding_at_span(span, key, message))
    }

    /// The same, with what to do about it.
    pub(super) fn report_finding_with_hint<T>(
        &self,
        span: Range<usize>,
        key: &str,
        message: impl Display,
        suggestion: &str,
    ) -> Option<T> {
        self.push_finding(self.finding_at_span(span, key, message).with_suggestion(suggestion))
    }

    /// Records a part of the file that is not a valid setting.
    pub(super) fn report_parse_finding(&self, parse_finding: TomlParseFinding) {
        let TomlParseFinding { at, key, message, meant } = parse_finding;
        self.push_finding::<()>(
            self.finding_at_span(at, &key, message).with_nearest_name_suggestion(meant.as_deref()),
        );
    }

    pub(super) fn line_of_offset(&self, offset: usize) -> u32 {
        let before = self.text.get(..offset).unwrap_or(self.text);
        u32::try_from(before.matches('\n').count() + 1).unwrap_or(u32::MAX)
    }

    fn finding_at_span(&self, span: Range<usize>, key: &str, message: impl Display) -> Finding {
        let line = self.line_of_offset(span.start);
        Finding::error_finding(message.to_string())
            .located_in_file(self.path)
            .located_at_line(Some(line))
            .located_at_key(key)
    }

    fn push_finding<T>(&self, finding: Finding) -> Option<T> {
        self.findings.borrow_mut().push(finding);
        None
    }
}
