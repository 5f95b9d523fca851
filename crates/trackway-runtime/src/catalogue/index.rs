//! The contents of the files, and the definitions that they form together.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::Arc,
};

use trackway_definition::{Definition, DefinitionDraft, Finding};

use super::{
    CatalogueEntry, InvalidFile, MissingFolderPolicy,
    folder_scan::{ScanResult, scan_folders},
    source_file::SourceFile,
};

/// Stamps that are checked on a thread that also serves requests: a few microseconds each. More are checked
/// on a thread that may block.
/// Limit (Definitions): files whose time stamps one check reads.
const GLANCE_FILES_MAX: usize = 8;

/// Everything that was read from the folders.
#[derive(Debug, Default)]
pub(super) struct CatalogueIndex {
    files: BTreeMap<PathBuf, SourceFile>,
    /// By id.
    definitions: BTreeMap<String, LinkedDefinition>,
    /// By file: what could not be found, read or linked.
    invalid: Vec<InvalidFile>,
    /// What the last search could not read.
    scan_findings: Vec<InvalidFile>,
}

#[derive(Debug)]
struct LinkedDefinition {
    entry: CatalogueEntry,
    /// The files that it was made from, including its own.
    sources: BTreeSet<PathBuf>,
}

impl CatalogueIndex {
    pub(super) fn workflows(&self) -> impl Iterator<Item = &CatalogueEntry> {
        self.definitions.values().map(|linked| &linked.entry)
    }

    pub(super) fn invalid_files(&self) -> impl Iterator<Item = &InvalidFile> {
        self.invalid.iter()
    }

    /// The invalid file of this workflow, if there is one.
    pub(super) fn find_invalid(&self, id: &str) -> Option<&InvalidFile> {
        self.invalid.iter().find(|invalid| invalid.workflow.as_deref() == Some(id))
    }

    pub(super) fn find(&self, id: &str) -> Option<&CatalogueEntry> {
        self.definitions.get(id).map(|linked| &linked.entry)
    }

    /// Whether a definition is known whose files are all unchanged since they were read. Checks no other
    /// file.
    pub(super) fn is_current(&mut self, id: &str) -> bool {
        let Some(linked) = self.definitions.get(id) else { return false };
        linked.sources.iter().all(|path| self.files.get_mut(path).is_some_and(|sheet| sheet.is_current(path)))
    }

    /// The same by a quick check: true only if a few stamps prove it.
    pub(super) fn is_unchanged_by_stamps(&self, id: &str) -> bool {
        let Some(linked) = self.definitions.get(id) else { return false };
        linked.sources.len() <= GLANCE_FILES_MAX
            && linked
                .sources
                .iter()
                .all(|path| self.files.get(path).is_some_and(|sheet| sheet.is_unchanged_by_stamp(path)))
    }

    /// Reads what changed, and links everything again if anything did.
    pub(super) fn refresh(&mut self, folders: &[PathBuf], absent: MissingFolderPolicy) {
        let ScanResult { files, invalid: unsearched } = scan_folders(folders, absent);
        let before = self.files.len();
        self.files.retain(|path, _| files.contains_key(path));
        let mut changed = self.files.len() != before || unsearched != self.scan_findings;
        for (path, stamp) in files {
            match self.files.get_mut(&path) {
                Some(sheet) => changed |= sheet.reload_if_changed(&path, &stamp),
                None => {
                    let sheet = SourceFile::read_file(&path, stamp);
                    self.files.insert(path, sheet);
                    changed = true;
                }
            }
        }
        self.scan_findings = unsearched;
        if changed {
            self.link_drafts();
        }
    }

    fn link_drafts(&mut self) {
        let mut invalid = self.scan_findings.clone();
        // In order of path: if two files have the same id, the first one gets it.
        let mut drafts: BTreeMap<&str, (&PathBuf, &DefinitionDraft)> = BTreeMap::new();
        for (path, sheet) in &self.files {
            match &sheet.draft {
                Ok(draft) => match drafts.get(draft.id.as_str()) {
                    None => {
                        drafts.insert(&draft.id, (path, draft));
                    }
                    Some((first, _)) => invalid.push(duplicate_id(path, draft, first)),
                },
                Err(unreadable) => invalid.push(InvalidFile {
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
                    let sources = source_files(id, &drafts);
                    linked.insert((*id).to_owned(), LinkedDefinition { entry: known, sources });
                }
                Err(errors) => {
                    let workflow = Some((*id).to_owned());
                    invalid.push(InvalidFile { file: (*path).clone(), workflow, errors });
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
    let linked = draft.link(&|id| drafts.get(id).map(|(_, draft)| *draft))?;
    let pinned = Definition::from_pinned(&linked.normal_form())
        .map_err(|reason| vec![Finding::new("", format!("this cannot be pinned: {reason}"))])?;
    let hash = pinned.hash();
    Ok((pinned, hash))
}

fn source_files(id: &str, drafts: &DraftsById<'_>) -> BTreeSet<PathBuf> {
    let mut sources = BTreeSet::new();
    let mut ahead = vec![id];
    while let Some(id) = ahead.pop() {
        if let Some((path, draft)) = drafts.get(id)
            && sources.insert((*path).clone())
        {
            ahead.extend(draft.referenced_workflows());
        }
    }
    sources
}

fn duplicate_id(path: &Path, draft: &DefinitionDraft, first: &Path) -> InvalidFile {
    let why = format!("the id {:?} is taken by {}", draft.id, first.display());
    let fault = Finding::new("/id", why).with_suggestion("give one of the two another id");
    InvalidFile { file: path.to_owned(), workflow: Some(draft.id.clone()), errors: vec![fault] }
}
