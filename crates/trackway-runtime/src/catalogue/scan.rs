//! Which files there are: the folders, searched to their depths.

use std::{
    collections::{BTreeMap, HashSet},
    fs, io,
    path::{Path, PathBuf},
};

use trackway_definition::{Fault, Format};

use super::{Absent, Invalid, files::Stamp};

/// Most definition files that are read. Some hundreds are a large library; beyond this a wrong folder
/// was named, and each list would take seconds.
/// Limit (Definitions): definition files that are read.
const FILES_MAX: usize = 2_000;

/// Most entries of folders that are looked at, for the same reason: a project's root holds more.
/// Limit (Definitions): entries of folders that are looked at.
const ENTRIES_MAX: usize = 50_000;

/// What a search of the folders came to.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) files: BTreeMap<PathBuf, Stamp>,
    /// What could not be looked at.
    pub(super) invalid: Vec<Invalid>,
}

/// How a file is written, by its name; none for files that are no definitions.
pub(super) fn format(path: &Path) -> Option<Format> {
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    match extension.as_str() {
        "json" => Some(Format::Json),
        "yaml" | "yml" => Some(Format::Yaml),
        _ => None,
    }
}

/// Searches the folders. Names that begin with a dot are passed by:
/// they belong to editors and version control.
pub(super) fn scan(folders: &[PathBuf], absent: Absent) -> Found {
    let mut search = Search::default();
    for folder in folders {
        if absent == Absent::Invalid && !folder.exists() {
            search.refuse(folder.clone(), "there is no such folder".to_owned());
        }
        let mut ahead = vec![folder.clone()];
        while let Some(folder) = ahead.pop() {
            match search.folder(&folder, &mut ahead) {
                Ok(()) => {}
                Err(Halt::Unreadable(error)) if error.kind() == io::ErrorKind::NotFound => {}
                Err(Halt::Unreadable(error)) => search.refuse(folder, unreadable(&error)),
                Err(Halt::TooMany(why)) => {
                    search.refuse(folder, why);
                    return search.found;
                }
            }
        }
    }
    search.found
}

pub(super) fn unreadable(error: &io::Error) -> String {
    format!("this cannot be read: {error}")
}

/// Why a folder was not searched to its end.
enum Halt {
    Unreadable(io::Error),
    TooMany(String),
}

impl From<io::Error> for Halt {
    fn from(error: io::Error) -> Self {
        Self::Unreadable(error)
    }
}

#[derive(Default)]
struct Search {
    found: Found,
    entries: usize,
    /// Folders and files by their real path: links may lead in circles, and folders may overlap.
    met: HashSet<PathBuf>,
}

impl Search {
    /// One folder; the folders in it are put `ahead`.
    fn folder(&mut self, folder: &Path, ahead: &mut Vec<PathBuf>) -> Result<(), Halt> {
        let real = fs::canonicalize(folder)?;
        if !self.met.insert(real.clone()) {
            return Ok(());
        }
        let mut entries = Vec::new();
        for entry in fs::read_dir(folder)? {
            self.entries += 1;
            if self.entries > ENTRIES_MAX {
                return Err(Halt::TooMany(format!(
                    "the search ended here: the folders hold more than {ENTRIES_MAX} entries"
                )));
            }
            entries.push(entry?);
        }
        // The order of a folder's entries is nobody's promise, and which of two links wins depends on it.
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name();
            if name.as_encoded_bytes().starts_with(b".") {
                continue;
            }
            let path = folder.join(&name);
            match fs::metadata(&path) {
                Ok(metadata) if metadata.is_dir() => ahead.push(path),
                _ if format(&path).is_none() => {}
                Ok(metadata) if metadata.is_file() => {
                    let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
                    let real = if is_link { fs::canonicalize(&path)? } else { real.join(&name) };
                    self.file(path, real, &metadata)?;
                }
                // Opening a pipe or a socket would wait for whoever is at its other end.
                Ok(_) => self.refuse(path, "this is not a regular file".to_owned()),
                Err(error) => self.refuse(path, unreadable(&error)),
            }
        }
        Ok(())
    }

    fn file(&mut self, path: PathBuf, real: PathBuf, metadata: &fs::Metadata) -> Result<(), Halt> {
        if !self.met.insert(real) {
            return Ok(());
        }
        if self.found.files.len() == FILES_MAX {
            return Err(Halt::TooMany(format!(
                "the search ended here: the folders hold more than {FILES_MAX} definitions"
            )));
        }
        self.found.files.insert(path, Stamp::of(metadata));
        Ok(())
    }

    fn refuse(&mut self, file: PathBuf, why: String) {
        self.found.invalid.push(Invalid {
            file,
            workflow: None,
            errors: vec![Fault::new("", why)],
        });
    }
}
