//! What a reading has to say about a file: everything that is wrong, and everything that is left unheeded.

use std::cell::RefCell;

use crate::Fault;
use crate::model::Unheeded;

/// A file with more faults than this is not mended one by one; the rest is left out.
/// Limit (Definitions): faults of one file that are reported.
const MOST_FAULTS: usize = 100;

/// Collects while a file is read, so that one reading names all that is wrong.
#[derive(Debug)]
pub(super) struct Sink {
    /// Every key has to be known, every construct acted on.
    pub(super) strict: bool,
    faults: RefCell<Vec<Fault>>,
    unheeded: RefCell<Vec<Unheeded>>,
}

impl Sink {
    pub(super) fn new(strict: bool) -> Self {
        Self { strict, faults: RefCell::default(), unheeded: RefCell::default() }
    }

    pub(super) fn fault(&self, fault: Fault) {
        let mut faults = self.faults.borrow_mut();
        // The same place may be read twice, such as a body that two loops share.
        if faults.len() < MOST_FAULTS && !faults.contains(&fault) {
            faults.push(fault);
        }
    }

    /// It is only for the reader of the file: nothing else runs without it.
    pub(super) fn aside(&self, path: &str, message: impl Into<String>) {
        self.note(path, message.into(), false);
    }

    /// Leaving it out would change what runs. Where every construct is to be acted on, it is a fault.
    pub(super) fn beyond(&self, path: &str, message: impl Into<String>) {
        if self.strict {
            self.fault(Fault::new(path, message));
        } else {
            self.note(path, message.into(), true);
        }
    }

    fn note(&self, path: &str, message: String, matters: bool) {
        let note = Unheeded { path: path.to_owned(), message, matters };
        let mut unheeded = self.unheeded.borrow_mut();
        if !unheeded.contains(&note) {
            unheeded.push(note);
        }
    }

    pub(super) fn clean(&self) -> bool {
        self.faults.borrow().is_empty()
    }

    pub(super) fn into_parts(self) -> (Vec<Fault>, Vec<Unheeded>) {
        (self.faults.into_inner(), self.unheeded.into_inner())
    }
}
