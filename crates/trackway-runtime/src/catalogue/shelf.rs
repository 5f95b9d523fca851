//! What was read from the files, and the definitions that they make together.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::Arc,
};

use trackway_definition::{Definition, Draft, Fault};

use super::{
    Absent, Invalid, Known,
    files::Sheet,
    scan::{Found, scan},
};

/// Stamps that are looked at in one glance, on a thread that serves others too: a few microseconds each.
/// More are looked at on a thread where waiting is allowed.
/// Limit (Definitions): files whose time stamps one look reads.
const GLANCE_FILES_MAX: usize = 8;

/// Everything that was read.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    sheets: BTreeMap<PathBuf, Sheet>,
    /// By id.
    linked: BTreeMap<String, Linked>,
    /// By file: what could not be found, read or linked.
    invalid: Vec<Invalid>,
    /// What the last search could not look at.
    unsearched: Vec<Invalid>,
}

#[derive(Debug)]
struct Linked {
    known: Known,
    /// The files that it was made from, its own among them.
    sources: BTreeSet<PathBuf>,
}

impl Shelf {
    pub(super) fn workflows(&self) -> impl Iterator<Item = &Known> {
        self.linked.values().map(|linked| &linked.known)
    }

    pub(super) fn invalid(&self) -> impl Iterator<Item = &Invalid> {
        self.invalid.iter()
    }

    /// The file that would be this workflow's if it could be used.
    pub(super) fn invalid_of(&self, id: &str) -> Option<&Invalid> {
        self.invalid.iter().find(|invalid| invalid.workflow.as_deref() == Some(id))
    }

    pub(super) fn known(&self, id: &str) -> Option<&Known> {
        self.linked.get(id).map(|linked| &linked.known)
    }

    /// Whether a definition is known whose files are all as they were read. Looks at no other file.
    pub(super) fn is_current(&mut self, id: &str) -> bool {
        let Some(linked) = self.linked.get(id) else { return false };
        linked
            .sources
            .iter()
            .all(|path| self.sheets.get_mut(path).is_some_and(|sheet| sheet.is_current(path)))
    }

    /// The same at a glance: true only where a few stamps are enough to tell.
    pub(super) fn is_settled(&self, id: &str) -> bool {
        let Some(linked) = self.linked.get(id) else { return false };
        linked.sources.len() <= GLANCE_FILES_MAX
            && linked
                .sources
                .iter()
                .all(|path| self.sheets.get(path).is_some_and(|sheet| sheet.is_settled(path)))
    }

    /// Reads what changed, and links everything again if anything did.
    pub(super) fn refresh(&mut self, folders: &[PathBuf], absent: Absent) {
        let Found { files, invalid: unsearched } = scan(folders, absent);
        let before = self.sheets.len();
        self.sheets.retain(|path, _| files.contains_key(path));
        let mut changed = self.sheets.len() != before || unsearched != self.unsearched;
        for (path, stamp) in files {
            match self.sheets.get_mut(&path) {
                Some(sheet) => changed |= sheet.renew(&path, &stamp),
                None => {
                    let sheet = Sheet::read(&path, stamp);
                    self.sheets.insert(path, sheet);
                    changed = true;
                }
            }
        }
        self.unsearched = unsearched;
        if changed {
            self.link();
        }
    }

    fn link(&mut self) {
        let mut invalid = self.unsearched.clone();
        // In order of path: of two files with one id, the first has it.
        let mut drafts: BTreeMap<&str, (&PathBuf, &Draft)> = BTreeMap::new();
        for (path, sheet) in &self.sheets {
            match &sheet.draft {
                Ok(draft) => match drafts.get(draft.id.as_str()) {
                    None => {
                        drafts.insert(&draft.id, (path, draft));
                    }
                    Some((first, _)) => invalid.push(taken(path, draft, first)),
                },
                Err(unreadable) => invalid.push(Invalid {
                    file: path.clone(),
                    workflow: unreadable.id.clone(),
                    errors: unreadable.faults.clone(),
                }),
            }
        }
        let mut linked = BTreeMap::new();
        for (id, (path, draft)) in &drafts {
            match definition(draft, &drafts) {
                Ok((definition, hash)) => {
                    let file = (*path).clone();
                    let known = Known { definition: Arc::new(definition), hash: hash.into(), file };
                    let sources = sources(id, &drafts);
                    linked.insert((*id).to_owned(), Linked { known, sources });
                }
                Err(errors) => {
                    let workflow = Some((*id).to_owned());
                    invalid.push(Invalid { file: (*path).clone(), workflow, errors });
                }
            }
        }
        invalid.sort_by(|left, right| left.file.cmp(&right.file));
        (self.linked, self.invalid) = (linked, invalid);
    }
}

type Drafts<'a> = BTreeMap<&'a str, (&'a PathBuf, &'a Draft)>;

/// A linked definition exactly as it will read back from its pin, so that the first step of a run and
/// those after a restart are of the same value.
fn definition(draft: &Draft, drafts: &Drafts<'_>) -> Result<(Definition, String), Vec<Fault>> {
    let linked = draft.link(&|id| drafts.get(id).map(|(_, draft)| *draft))?;
    let pinned = Definition::pinned(&linked.normal())
        .map_err(|reason| vec![Fault::new("", format!("this cannot be pinned: {reason}"))])?;
    let hash = pinned.hash();
    Ok((pinned, hash))
}

fn sources(id: &str, drafts: &Drafts<'_>) -> BTreeSet<PathBuf> {
    let mut sources = BTreeSet::new();
    let mut ahead = vec![id];
    while let Some(id) = ahead.pop() {
        if let Some((path, draft)) = drafts.get(id)
            && sources.insert((*path).clone())
        {
            ahead.extend(draft.references());
        }
    }
    sources
}

fn taken(path: &Path, draft: &Draft, first: &Path) -> Invalid {
    let why = format!("the id {:?} is taken by {}", draft.id, first.display());
    let fault = Fault::new("/id", why).suggest("give one of the two another id");
    Invalid { file: path.to_owned(), workflow: Some(draft.id.clone()), errors: vec![fault] }
}
