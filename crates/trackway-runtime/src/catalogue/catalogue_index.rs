//! The contents of the files, and the definitions that they form together.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::Arc,
};

use trackway_definition::{Definition, DefinitionDraft, Finding};

use super::{
    CatalogueEntry, InvalidDefinitionFile, MissingFolderPolicy,
    definition_source_file::DefinitionSourceFile,
    folder_scan::{FolderScanResult, scan_workflow_folders},
};

/// Stamps that are checked on a thread that also serves requests: a few microseconds each. More are checked
/// on a thread that may block.
/// Limit (Definitions): files whose time stamps one check reads.
const GLANCE_FILES_MAX: usize = 8;

/// Everything that was read from the folders.
#[derive(Debug, Default)]
pub(super) struct CatalogueIndex {
    files: BTreeMap<PathBuf, DefinitionSourceFile>,
    /// By id.
    definitions: BTreeMap<String, LinkedDefinition>,
    /// By file: what could not be found, read or linked.
    invalid: Vec<InvalidDefinitionFile>,
    /// What the last search could not read.
    scan_findings: Vec<InvalidDefinitionFile>,
}

#[derive(Debug)]
struct LinkedDefinition {
    entry: CatalogueEntry,
    /// The files that it was made from, including its own.
    sources: BTreeSet<PathBuf>,
}

impl CatalogueIndex {
    pub(super) fn catalogue_entries(&self) -> impl Iterator<Item = &CatalogueEntry> {
        self.definitions.values().map(|linked| &linked.entry)
    }

    pub(super) fn invalid_files(&self) -> impl Iterator<Item = &InvalidDefinitionFile> {
        self.invalid.iter()
    }

    /// The invalid file of this workflow, if there is one.
    pub(super) fn find_invalid_file(&self, id: &str) -> Option<&InvalidDefinitionFile> {
        self.invalid.iter().find(|invalid| invalid.workflow.as_deref() == Some(id))
    }

    pub(super) fn find_entry(&self, workflow_id: &str) -> Option<&CatalogueEntry> {
        self.definitions.get(workflow_id).map(|linked| &linked.entry)
    }

    /// Whether a definition is known whose files are all unchanged since they were read. Checks no other
    /// file.
    pub(super) fn is_definition_current(&mut self, workflow_id: &str) -> bool {
        let Some(linked) = self.definitions.get(workflow_id) else { return false };
        linked
            .sources
            .iter()
            .all(|path| self.files.get_mut(path).is_some_and(|sheet| sheet.matches_file_on_disk(path)))
    }

    /// The same by a quick check: true only if a few stamps prove it.
    pub(super) fn has_unchanged_file_stamps(&self, id: &str) -> bool {
        let Some(linked) = self.definitions.get(id) else { return false };
        linked.sources.len() <= GLANCE_FILES_MAX
            && linked
                .sources
                .iter()
                .all(|path| self.files.get(path).is_some_and(|sheet| sheet.has_unchanged_file_stamp(path)))
    }

    /// Reads what changed, and links everything again if anything did.
    pub(super) fn refresh_from_folders(&mut self, folders: &[PathBuf], missing_folders: MissingFolderPolicy) {
        let FolderScanResult { files, invalid: unsearched } = scan_workflow_folders(folders, missing_folders);
        let before = self.files.len();
        self.files.retain(|path, _| files.contains_key(path));
        let mut changed = self.files.len() != before || unsearched != self.scan_findings;
        for (path, stamp) in files {
            match self.files.get_mut(&path) {
                Some(sheet) => changed |= sheet.reload_if_changed(&path, &stamp),
                None => {
                    let sheet = DefinitionSourceFile::read_source_file(&path, stamp);
                    self.files.insert(path, sheet);
                    changed = true;
                }
            }
        }
        self.scan_findings = unsearched;
        if changed {
            self.link_definition_drafts();
        }
    }

    fn link_definition_drafts(&mut self) {
        let mut invalid = self.scan_findings.clone();
        // In order of path: if two files have the same id, the first one gets it.
        let mut drafts: BTreeMap<&str, (&PathBuf, &DefinitionDraft)> = BTreeMap::new();
        for (path, sheet) in &self.files {
            match &sheet.draft {
                Ok(draft) => match drafts.get(draft.id.as_str()) {
                    None => {
                        drafts.insert(&draft.id, (path, draft));
                    }
                    Some((first, _)) => invalid.push(duplicate_id_invalid_file(path, draft, first)),
                },
                Err(unreadable) => invalid.push(InvalidDefinitionFile {
                    file: path.clone(),
                    workflow: unreadable.id.clone(),
                    errors: unreadable.findings.clone(),
                }),
            }
        }
        let mut linked = BTreeMap::new();
        for (id, (path, draft)) in &drafts {
            match link_definition(draft, &drafts) {
                Ok((definition, hash)) => {
                    let file = (*path).clone();
                    let known = CatalogueEntry { definition: Arc::new(definition), hash: hash.into(), file };
                    let sources = collect_source_files(id, &drafts);
                    linked.insert((*id).to_owned(), LinkedDefinition { entry: known, sources });
                }
                Err(errors) => {
                    let workflow = Some((*id).to_owned());
                    invalid.push(InvalidDefinitionFile { file: (*path).clone(), workflow, errors });
                }
            }
        }
        invalid.sort_by(|left, right| left.file.cmp(&right.file));
        (self.definitions, self.invalid) = (linked, invalid);
    }
}

type DraftsById<'a> = BTreeMap<&'a str, (&'a PathBuf, &'a DefinitionDraft)>;

/// A linked definition exactly as it will read back from its pin, so that a run uses the same value for its
/// first step and for those after a restart.
fn link_definition(
    draft: &DefinitionDraft,
    drafts: &DraftsById<'_>,
) -> Result<(Definition, String), Vec<Finding>> {
    let linked = draft.link_references(&|id| drafts.get(id).map(|(_, draft)| *draft))?;
    let pinned = Definition::from_pinned_json(&linked.to_canonical_json())
        .map_err(|reason| vec![Finding::new("", format!("this cannot be pinned: {reason}"))])?;
    let hash = pinned.definition_hash();
    Ok((pinned, hash))
}

fn collect_source_files(workflow_id: &str, drafts: &DraftsById<'_>) -> BTreeSet<PathBuf> {
    let mut sources = BTreeSet::new();
    let mut ahead = vec![workflow_id];
    while let Some(id) = ahead.pop() {
        if let Some((path, draft)) = drafts.get(id)
            && sources.insert((*path).clone())
        {
            ahead.extend(draft.referenced_workflow_ids());
        }
    }
    sources
}

fn duplicate_id_invalid_file(
    path: &Path,
    draft: &DefinitionDraft,
    first_file: &Path,
) -> InvalidDefinitionFile {
    let why = format!("the id {:?} is taken by {}", draft.id, first_file.display());
    let fault = Finding::new("/id", why).with_suggestion("give one of the two another id");
    InvalidDefinitionFile { file: path.to_owned(), workflow: Some(draft.id.clone()), errors: vec![fault] }
}
