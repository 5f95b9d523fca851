//! The definitions in the workflow folders, as they are now.
//!
//! Every question looks at the files' stamps first and reads again what changed, so there is nothing to
//! keep in step and no moment at which an old definition is handed out. Reading is synchronous: files
//! are small, their number is bounded, and what has not changed costs one look at its stamp.

mod files;
mod id;
mod scan;
mod shelf;
#[cfg(test)]
mod tests;
mod watching;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use trackway_definition::{Definition, Fault, nearest};
use trackway_domain::Warning;

use shelf::Shelf;
pub use watching::{Unwatchable, Watching, watch as watch_paths};

/// How many ids are offered to somebody who named one that does not exist.
/// Limit (Definitions): similar ids that are offered for an unknown one.
const NEAR_MAX: usize = 5;

/// The folders that hold definitions, and what was read from them.
#[derive(Debug)]
pub struct Catalogue {
    folders: Vec<PathBuf>,
    absent: Absent,
    /// Held while files are looked at, so that several who ask at once read a changed file once.
    shelf: Mutex<Shelf>,
}

/// What a folder is that does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Absent {
    Empty,
    Invalid,
}

/// A definition that can be started.
#[derive(Debug, Clone, PartialEq)]
pub struct Known {
    pub definition: Arc<Definition>,
    pub hash: Arc<str>,
    pub file: PathBuf,
}

/// A file that is no definition, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Invalid {
    pub file: PathBuf,
    pub workflow: Option<String>,
    pub errors: Vec<Fault>,
}

/// Everything in the folders.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Listing {
    /// In order of id.
    pub workflows: Vec<Known>,
    /// In order of file.
    pub invalid: Vec<Invalid>,
}

/// Why a workflow cannot be had from the folders.
#[derive(Debug, Clone, PartialEq)]
pub enum NotKnown {
    /// No file has this id; the nearest ids that there are.
    Unknown {
        near: Vec<String>,
    },
    Invalid(Invalid),
}

impl Catalogue {
    /// Folders of which each may be absent.
    pub fn new(folders: Vec<PathBuf>) -> Self {
        Self { folders, absent: Absent::Empty, shelf: Mutex::default() }
    }

    /// Folders that somebody named: one that is not there is listed as invalid until it is.
    pub fn named(folders: Vec<PathBuf>) -> Self {
        Self { absent: Absent::Invalid, ..Self::new(folders) }
    }

    /// The folders, as they were named.
    pub fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// The rules of a workflow. What they refer to is looked for beside the workflows, in the folder
    /// around them, and in the current one; an address is taken as it is.
    pub fn rules(&self, definition: &Definition) -> Vec<String> {
        definition.rules(&|source| {
            let around = self.folders.iter().flat_map(|folder| [Some(&**folder), folder.parent()]);
            let mut roots = around.flatten().chain([Path::new("")]);
            source.contains("://") || roots.any(|root| root.join(source).exists())
        })
    }

    /// What is in the folders now: files that changed since are read again.
    pub fn list(&self) -> Listing {
        let mut shelf = self.shelf();
        shelf.refresh(&self.folders, self.absent);
        Listing {
            workflows: shelf.workflows().cloned().collect(),
            invalid: shelf.invalid().cloned().collect(),
        }
    }

    pub fn get(&self, id: &str) -> Result<Known, NotKnown> {
        let mut shelf = self.shelf();
        shelf.refresh(&self.folders, self.absent);
        if let Some(known) = shelf.known(id) {
            return Ok(known.clone());
        }
        match shelf.invalid_of(id) {
            Some(invalid) => Err(NotKnown::Invalid(invalid.clone())),
            None => Err(NotKnown::Unknown { near: near(id, &shelf) }),
        }
    }

    /// Whether the definition is still that of `hash`, as far as a glance tells: no file is read, and
    /// nobody is waited for. Where it says no, [`Self::drift`] finds out.
    pub fn is_unchanged(&self, id: &str, hash: &str) -> bool {
        let Ok(shelf) = self.shelf.try_lock() else { return false };
        shelf.known(id).is_some_and(|known| *known.hash == *hash) && shelf.is_settled(id)
    }

    /// What to say to somebody whose run is pinned to `hash`, where the file is not that any more. Looks
    /// only at the files that this definition was made from unless one of them changed.
    pub fn drift(&self, id: &str, hash: &str) -> Option<Warning> {
        let mut shelf = self.shelf();
        if !shelf.is_current(id) {
            shelf.refresh(&self.folders, self.absent);
        }
        let (code, message) = match shelf.known(id) {
            Some(known) if *known.hash == *hash => return None,
            Some(_) => ("definition-changed", format!("The definition of {id:?} has changed.")),
            None => match shelf.invalid_of(id) {
                // A file that cannot be used any more is there all the same.
                Some(invalid) => ("definition-changed", not_valid(id, invalid)),
                None => (
                    "definition-missing",
                    format!("The definition of {id:?} is not there any more."),
                ),
            },
        };
        let message = format!("{message} This run keeps to the one that it was started with.");
        Some(Warning::new(code, message))
    }

    /// Calls `told` after something in the folders changed, until what is returned is dropped. Changes
    /// that come together are told once or several times; whoever is told asks for the list.
    pub fn watch(
        self: &Arc<Self>,
        told: impl Fn() + Send + 'static,
    ) -> Result<Watching, Unwatchable> {
        watching::watch(&self.folders, told)
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        // Whoever panicked while holding it left at worst a file that is read again.
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn not_valid(id: &str, invalid: &Invalid) -> String {
    let mut message = format!(
        "The definition of {id:?} has changed and is not valid now: {}",
        invalid.file.display()
    );
    if let Some(fault) = invalid.errors.first() {
        if let Some(line) = fault.line {
            message.push_str(&format!(", line {line}"));
        }
        message.push_str(&format!(": {}", fault.message.trim_end_matches('.')));
    }
    message.push('.');
    message
}

/// Ids that somebody may have meant: a slip of the pen first, then those that share their text.
fn near(id: &str, shelf: &Shelf) -> Vec<String> {
    let ids: Vec<&str> = shelf.workflows().map(|known| known.definition.id.as_str()).collect();
    let slip = nearest(id, ids.iter().copied());
    let word = id.to_lowercase();
    let alike = ids.iter().copied().filter(|other| {
        let other = other.to_lowercase();
        !word.is_empty() && (other.contains(&word) || word.contains(&other))
    });
    let mut near: Vec<String> = Vec::new();
    for candidate in slip.into_iter().chain(alike) {
        if near.len() < NEAR_MAX && !near.iter().any(|known| known == candidate) {
            near.push(candidate.to_owned());
        }
    }
    near
}
