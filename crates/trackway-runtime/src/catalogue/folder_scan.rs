//! Finds the files: a recursive search of the folders.

use std::{
    collections::{BTreeMap, HashSet},
    fs, io,
    path::{Path, PathBuf},
};

use trackway_definition::{FileFormat, Finding};

use super::{InvalidDefinitionFile, MissingFolderPolicy, definition_source_file::SourceFileStamp};

/// Most definition files that are read. Some hundreds are a large library. With more than this, a wrong
/// folder was named, and each listing would take seconds.
/// Limit (Definitions): definition files that are read.
const FILES_MAX: usize = 2_000;

/// Most folder entries that are read, for the same reason: a project's root holds more.
/// Limit (Definitions): folder entries that are read.
const ENTRIES_MAX: usize = 50_000;

/// The result of a search of the folders.
#[derive(Debug, Default)]
pub(super) struct FolderScanResult {
    pub(super) files: BTreeMap<PathBuf, SourceFileStamp>,
    /// What could not be read.
    pub(super) invalid: Vec<InvalidDefinitionFile>,
}

/// The format of a file, by its name; none for files that are not definitions.
pub(super) fn detect_definition_format(path: &Path) -> Option<FileFormat> {
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    match extension.as_str() {
        "json" => Some(FileFormat::Json),
        "yaml" | "yml" => Some(FileFormat::Yaml),
        _ => None,
    }
}

/// Searches the folders. Names that begin with a dot are skipped: they belong to editors and version control.
pub(super) fn scan_workflow_folders(
    folders: &[PathBuf],
    missing_folders: MissingFolderPolicy,
) -> FolderScanResult {
    let mut search = FolderScanner::default();
    for folder in folders {
        if missing_folders == MissingFolderPolicy::ReportAsInvalid && !folder.exists() {
            match folder.as_os_str().is_empty() {
                false => search.report_invalid_file(folder.clone(), "there is no such folder".to_owned()),
                true => {
                    search.report_invalid_file("\"\"".into(), "the name of this folder is empty".to_owned())
                }
            }
        }
        let mut ahead = vec![folder.clone()];
        while let Some(folder) = ahead.pop() {
            match search.scan_folder(&folder, &mut ahead) {
                Ok(()) => {}
                Err(FolderScanError::Unreadable(error)) if error.kind() == io::ErrorKind::NotFound => {}
                Err(FolderScanError::Unreadable(error)) => {
                    search.report_invalid_file(folder, describe_file_read_error(&error))
                }
                Err(FolderScanError::TooMany(why)) => {
                    search.report_invalid_file(folder, why);
                    return search.found;
                }
            }
        }
    }
    search.found
}

pub(super) fn describe_file_read_error(error: &io::Error) -> String {
    format!("this cannot be read: {error}")
}

/// Why a folder was not searched to its end.
enum FolderScanError {
    Unreadable(io::Error),
    TooMany(String),
}

impl From<io::Error> for FolderScanError {
    fn from(error: io::Error) -> Self {
        Self::Unreadable(error)
    }
}

#[derive(Default)]
struct FolderScanner {
    found: FolderScanResult,
    entries: usize,
    /// Folders and files by their real path: links may lead in circles, and folders may overlap.
    visited: HashSet<PathBuf>,
}

impl FolderScanner {
    /// Scans one folder; the folders in it are added to `ahead`.
    fn scan_folder(
        &mut self,
        folder: &Path,
        folders_to_scan: &mut Vec<PathBuf>,
    ) -> Result<(), FolderScanError> {
        let real = fs::canonicalize(folder)?;
        if !self.visited.insert(real.clone()) {
            return Ok(());
        }
        let mut entries = Vec::new();
        for entry in fs::read_dir(folder)? {
            self.entries += 1;
            if self.entries > ENTRIES_MAX {
                return Err(FolderScanError::TooMany(format!(
                    "the search ended here: the folders hold more than {ENTRIES_MAX} entries"
                )));
            }
            entries.push(entry?);
        }
        // The order of a folder's entries is not guaranteed, and it decides which of two links wins.
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name();
            if name.as_encoded_bytes().starts_with(b".") {
                continue;
            }
            let path = folder.join(&name);
            match fs::metadata(&path) {
                Ok(metadata) if metadata.is_dir() => folders_to_scan.push(path),
                _ if detect_definition_format(&path).is_none() => {}
                Ok(metadata) if metadata.is_file() => {
                    let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
                    let real = if is_link { fs::canonicalize(&path)? } else { real.join(&name) };
                    self.add_definition_file(path, real, &metadata)?;
                }
                // Opening a pipe or a socket would wait for the process at its other end.
                Ok(_) => self.report_invalid_file(path, "this is not a regular file".to_owned()),
                Err(error) => self.report_invalid_file(path, describe_file_read_error(&error)),
            }
        }
        Ok(())
    }

    fn add_definition_file(
        &mut self,
        path: PathBuf,
        real_path: PathBuf,
        metadata: &fs::Metadata,
    ) -> Result<(), FolderScanError> {
        if !self.visited.insert(real_path) {
            return Ok(());
        }
        if self.found.files.len() == FILES_MAX {
            return Err(FolderScanError::TooMany(format!(
                "the search ended here: the folders hold more than {FILES_MAX} definitions"
            )));
        }
        self.found.files.insert(path, SourceFileStamp::stamp_from_metadata(metadata));
        Ok(())
    }

    fn report_invalid_file(&mut self, file: PathBuf, why: String) {
        self.found.invalid.push(InvalidDefinitionFile {
            file,
            workflow: None,
            errors: vec![Finding::new("", why)],
        });
    }
}
