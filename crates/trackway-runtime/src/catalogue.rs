//! The current definitions in the workflow folders.
//!
//! Every query checks the files' stamps first and reads changed files again. So there is nothing to
//! synchronise, and an old definition is never returned. Reading is synchronous: files are small, their
//! number is bounded, and an unchanged file costs one check of its stamp.

mod catalogue_index;
mod definition_source_file;
mod folder_scan;
mod folder_watch;
#[cfg(test)]
mod tests;
mod workflow_id_scan;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use trackway_definition::{Definition, Finding, nearest_known_word};
use trackway_domain::GuidedRunWarning;

use catalogue_index::CatalogueIndex;
pub use folder_watch::{FolderWatch, FolderWatchError, watch_paths_for_changes};

/// How many ids are suggested for an id that does not exist.
/// Limit (Definitions): similar ids that are offered for an unknown one.
const NEAR_MAX: usize = 5;

/// The folders that hold definitions, and what was read from them.
#[derive(Debug)]
pub struct Catalogue {
    folders: Vec<PathBuf>,
    missing_folders: MissingFolderPolicy,
    /// Locked while files are checked, so that several callers at once read a changed file once.
    index: Mutex<CatalogueIndex>,
}

/// How a missing folder is treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MissingFolderPolicy {
    TreatAsEmpty,
    ReportAsInvalid,
}

/// A definition that can be started.
#[derive(Debug, Clone, PartialEq)]
pub struct CatalogueEntry {
    pub definition: Arc<Definition>,
    pub hash: Arc<str>,
    pub file: PathBuf,
}

/// A file that is not a valid definition, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct InvalidDefinitionFile {
    pub file: PathBuf,
    pub workflow: Option<String>,
    pub errors: Vec<Finding>,
}

/// Everything in the folders.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CatalogueListing {
    /// In order of id.
    pub workflows: Vec<CatalogueEntry>,
    /// In order of file.
    pub invalid: Vec<InvalidDefinitionFile>,
}

/// Why the folders do not have a workflow.
#[derive(Debug, Clone, PartialEq)]
pub enum WorkflowLookupError {
    /// No file has this id; with the nearest ids that exist.
    UnknownId {
        similar: Vec<String>,
    },
    Invalid(InvalidDefinitionFile),
}

impl Catalogue {
    /// Optional folders: each may be absent.
    pub fn new(folders: Vec<PathBuf>) -> Self {
        Self { folders, missing_folders: MissingFolderPolicy::TreatAsEmpty, index: Mutex::default() }
    }

    /// Folders that the user named: a missing one is listed as invalid until it exists.
    pub fn with_required_folders(folders: Vec<PathBuf>) -> Self {
        Self { missing_folders: MissingFolderPolicy::ReportAsInvalid, ..Self::new(folders) }
    }

    /// The folders, as they were named.
    pub fn workflow_folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// The rules of a workflow. Files that they refer to are looked up next to the workflows, in the parent
    /// folder, and in the current one. A URL is used as it is.
    pub fn render_workflow_rules(&self, definition: &Definition) -> Vec<String> {
        definition.render_workflow_rules(&|source| {
            let around = self.folders.iter().flat_map(|folder| [Some(&**folder), folder.parent()]);
            let mut roots = around.flatten().chain([Path::new("")]);
            source.contains("://") || roots.any(|root| root.join(source).exists())
        })
    }

    /// What is in the folders now. Changed files are read again.
    pub fn list_definitions(&self) -> CatalogueListing {
        let mut shelf = self.lock_index();
        shelf.refresh_from_folders(&self.folders, self.missing_folders);
        CatalogueListing {
            workflows: shelf.catalogue_entries().cloned().collect(),
            invalid: shelf.invalid_files().cloned().collect(),
        }
    }

    pub fn get_entry(&self, workflow_id: &str) -> Result<CatalogueEntry, WorkflowLookupError> {
        let mut shelf = self.lock_index();
        shelf.refresh_from_folders(&self.folders, self.missing_folders);
        if let Some(known) = shelf.find_entry(workflow_id) {
            return Ok(known.clone());
        }
        match shelf.find_invalid_file(workflow_id) {
            Some(invalid) => Err(WorkflowLookupError::Invalid(invalid.clone())),
            None => Err(WorkflowLookupError::UnknownId {
                similar: find_similar_workflow_ids(workflow_id, &shelf),
            }),
        }
    }

    /// Whether the definition still has this `hash`, by a quick check: it reads no file and waits for
    /// nothing. If it returns false, [`Self::definition_drift_warning`] finds out.
    pub fn is_definition_unchanged(&self, id: &str, pinned_hash: &str) -> bool {
        let Ok(shelf) = self.index.try_lock() else { return false };
        shelf.find_entry(id).is_some_and(|known| *known.hash == *pinned_hash)
            && shelf.has_unchanged_file_stamps(id)
    }

    /// The warning for a run that is pinned to `hash`, if the file has changed. Checks only the files of this
    /// definition unless one of them changed.
    pub fn definition_drift_warning(&self, id: &str, pinned_hash: &str) -> Option<GuidedRunWarning> {
        let mut shelf = self.lock_index();
        if !shelf.is_definition_current(id) {
            shelf.refresh_from_folders(&self.folders, self.missing_folders);
        }
        let (code, message) = match shelf.find_entry(id) {
            Some(known) if *known.hash == *pinned_hash => return None,
            Some(_) => ("definition-changed", format!("The definition of {id:?} has changed.")),
            None => match shelf.find_invalid_file(id) {
                // A file that is no longer valid still exists.
                Some(invalid) => ("definition-changed", invalid_definition_message(id, invalid)),
                None => ("definition-missing", format!("The definition of {id:?} no longer exists.")),
            },
        };
        let message = format!("{message} This run keeps the one that it was started with.");
        Some(GuidedRunWarning::new(code, message))
    }

    /// Calls `on_change` after something in the folders changed, until the returned value is dropped. Changes
    /// that come together cause one call or several; the callback then reads the list.
    pub fn watch_folders(
        self: &Arc<Self>,
        on_change: impl Fn() + Send + 'static,
    ) -> Result<FolderWatch, FolderWatchError> {
        folder_watch::watch_paths_for_changes(&self.folders, on_change)
    }

    fn lock_index(&self) -> MutexGuard<'_, CatalogueIndex> {
        // After a panic the worst case is a file that is read again.
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn invalid_definition_message(id: &str, invalid: &InvalidDefinitionFile) -> String {
    let mut message =
        format!("The definition of {id:?} has changed and is not valid now: {}", invalid.file.display());
    if let Some(fault) = invalid.errors.first() {
        if let Some(line) = fault.line {
            message.push_str(&format!(", line {line}"));
        }
        message.push_str(&format!(": {}", fault.message.trim_end_matches('.')));
    }
    message.push('.');
    message
}

/// Ids that the user may have meant: typing errors first, then ids that share a part of the text.
fn find_similar_workflow_ids(id: &str, index: &CatalogueIndex) -> Vec<String> {
    let ids: Vec<&str> = index.catalogue_entries().map(|known| known.definition.id.as_str()).collect();
    let slip = nearest_known_word(id, ids.iter().copied());
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
