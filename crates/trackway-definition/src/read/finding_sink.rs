//! The findings of one reading: everything that is wrong, and everything that is ignored.

use std::cell::RefCell;

use crate::Finding;
use crate::model::UnsupportedConstruct;

/// A file with more faults than this is not fixed one by one; the rest is left out.
/// Limit (Definitions): faults of one file that are reported.
const MOST_FAULTS: usize = 100;

/// Collects findings while a file is read, so that one reading reports everything that is wrong.
#[derive(Debug)]
pub(super) struct FindingSink {
    /// Every key has to be known, and every construct acted on.
    pub(super) is_strict: bool,
    findings: RefCell<Vec<Finding>>,
    unsupported: RefCell<Vec<UnsupportedConstruct>>,
}

impl FindingSink {
    pub(super) fn new(strict: bool) -> Self {
        Self { is_strict: strict, findings: RefCell::default(), unsupported: RefCell::default() }
    }

    pub(super) fn add_finding(&self, finding: Finding) {
        let mut faults = self.findings.borrow_mut();
        // The same value may be read twice, such as a body that two loops share.
        if faults.len() < MOST_FAULTS && !faults.contains(&finding) {
            faults.push(finding);
        }
    }

    /// Notes something that is only for the reader of the file: ignoring it does not change what runs.
    pub(super) fn note_ignored_construct(&self, path: &str, message: impl Into<String>) {
        self.add_unsupported_construct(path, message.into(), false);
    }

    /// Ignoring it would change what runs. In a strict file it is a fault.
    pub(super) fn report_unsupported_construct(&self, path: &str, message: impl Into<String>) {
        if self.is_strict {
            self.add_finding(Finding::new(path, message));
        } else {
            self.add_unsupported_construct(path, message.into(), true);
        }
    }

    fn add_unsupported_construct(&self, path: &str, message: String, matters: bool) {
        let note = UnsupportedConstruct { path: path.to_owned(), message, matters };
        let mut unheeded = self.unsupported.borrow_mut();
        if !unheeded.contains(&note) {
            unheeded.push(note);
        }
    }

    pub(super) fn has_no_findings(&self) -> bool {
        self.findings.borrow().is_empty()
    }

    pub(super) fn into_findings_and_unsupported(self) -> (Vec<Finding>, Vec<UnsupportedConstruct>) {
        (self.findings.into_inner(), self.unsupported.into_inner())
    }
}
