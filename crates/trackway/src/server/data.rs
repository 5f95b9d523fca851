//! The data folder: held by one process at a time, and a note in it of who that is.

use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use serde::{Deserialize, Serialize};
use trackway_sqlite::{make_private_folder, private_file};

const LOCK_FILE: &str = "trackway.lock";
const NOTE_FILE: &str = "server.json";

/// A folder that this process holds. Given back when dropped, or by the system when the process ends.
#[derive(Debug)]
pub struct DataFolder {
    path: PathBuf,
    _lock: File,
}

/// Who serves a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Note {
    url: String,
    pid: u32,
}

#[derive(Debug, thiserror::Error)]
pub enum DataFolderError {
    #[error("another process holds the data folder {folder}{}", .url.as_ref().map(|url| format!(" and serves it at {url}")).unwrap_or_default())]
    InUse { folder: String, url: Option<String> },
    #[error("the data folder {folder} cannot be used")]
    Unusable { folder: String, source: io::Error },
}

impl DataFolder {
    /// Makes the folder where it is missing, and holds it.
    pub fn hold(path: &Path) -> Result<Self, DataFolderError> {
        let folder = path.display().to_string();
        let unusable = |source| DataFolderError::Unusable { folder: folder.clone(), source };
        make_private_folder(path).map_err(unusable)?;
        let lock = private_file()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path.join(LOCK_FILE))
            .map_err(unusable)?;
        match try_hold(&lock) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(DataFolderError::InUse { url: read_note(path), folder });
            }
            Err(TryLockError::Error(source)) => return Err(unusable(source)),
        }
        // Whoever held it before is gone; so is its address.
        let _ = fs::remove_file(path.join(NOTE_FILE));
        Ok(Self { path: path.to_owned(), _lock: lock })
    }

    /// The address of the server that holds this folder, where one does.
    pub fn served_at(path: &Path) -> Option<String> {
        let lock = File::options().write(true).open(path.join(LOCK_FILE)).ok()?;
        // Shared, so that two commands that look at the same time do not take each other for a server.
        match lock.try_lock_shared() {
            Err(TryLockError::WouldBlock) => read_note(path),
            Ok(()) | Err(TryLockError::Error(_)) => None,
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes down where this folder is served, for commands run beside the server.
    pub(crate) fn note(&self, url: &str) -> Result<(), DataFolderError> {
        let note = Note { url: url.to_owned(), pid: std::process::id() };
        let written = serde_json::to_vec(&note).map_err(io::Error::from).and_then(|text| {
            // Renamed into place, so that nobody reads half a note.
            let fresh = self.path.join("server.json.new");
            let mut file = private_file().write(true).create(true).truncate(true).open(&fresh)?;
            io::Write::write_all(&mut file, &text)?;
            fs::rename(fresh, self.path.join(NOTE_FILE))
        });
        written.map_err(|source| DataFolderError::Unusable {
            folder: self.path.display().to_string(),
            source,
        })
    }
}

impl Drop for DataFolder {
    fn drop(&mut self) {
        let _ = fs::remove_file(self.path.join(NOTE_FILE));
    }
}

/// A command that only looks whether the folder is served has the lock for a moment, which must not
/// keep a server from starting; one that still has it after these tries holds it.
fn try_hold(lock: &File) -> Result<(), TryLockError> {
    const TRIES: u32 = 10;
    const PAUSE: Duration = Duration::from_millis(10);
    for _ in 1..TRIES {
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
            other => return other,
        }
    }
    lock.try_lock()
}

fn read_note(path: &Path) -> Option<String> {
    let text = fs::read(path.join(NOTE_FILE)).ok()?;
    serde_json::from_slice::<Note>(&text).ok().map(|note| note.url)
}
