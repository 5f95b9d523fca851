//! The definitions in the workflow folders, as they are now.

use std::{path::PathBuf, sync::Arc};

use trackway_definition::{Definition, Fault};
use trackway_domain::Warning;

/// The folders that hold definitions, and what was read from them.
#[derive(Debug)]
pub struct Catalogue {
    folders: Vec<PathBuf>,
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
    pub fn new(folders: Vec<PathBuf>) -> Self {
        Self { folders }
    }

    /// What is in the folders now: files that changed since are read again.
    pub fn list(&self) -> Listing {
        let _ = &self.folders;
        todo!("the catalogue")
    }

    pub fn get(&self, id: &str) -> Result<Known, NotKnown> {
        let _ = id;
        todo!("the catalogue")
    }

    /// What to say to somebody whose run is pinned to `hash`, where the file is not that any more. Looks
    /// only at the files that this definition was made from unless one of them changed.
    pub fn drift(&self, id: &str, hash: &str) -> Option<Warning> {
        let _ = (id, hash);
        todo!("the catalogue")
    }
}
