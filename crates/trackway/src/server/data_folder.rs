//! The data folder: locked by one process at a time, with a note that says which.

use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use serde::{Deserialize, Serialize};
use trackway_sqlite::{create_private_folder, private_file_options};

const LOCK_FILE: &str = "trackway.lock";
const NOTE_FILE: &str = "server.json";

/// A folder that this process has locked. The lock ends on drop, or when the process ends.
#[derive(Debug)]
pub struct DataFolder {
    path: PathBuf,
    _lock: File,
}

/// Who serves a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct FolderServerNote {
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
    /// Creates the folder if it is missing, and locks it.
    pub fn lock(path: &Path) -> Result<Self, DataFolderError> {
        let folder = path.display().to_string();
        let unusable = |source| DataFolderError::Unusable { folder: folder.clone(), source };
        create_private_folder(path).map_err(unusable)?;
        let lock = private_file_options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path.join(LOCK_FILE))
            .map_err(unusable)?;
        match try_lock_with_retries(&lock) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(DataFolderError::InUse { url: read_server_url(path), folder });
            }
            Err(TryLockError::Error(source)) => return Err(unusable(source)),
        }
        // The previous process is gone, so its address is not valid any more.
        let _ = fs::remove_file(path.join(NOTE_FILE));
        Ok(Self { path: path.to_owned(), _lock: lock })
    }

    /// The address of the server that has locked this folder, if there is one.
    pub fn running_server_url(path: &Path) -> Option<String> {
        let lock = File::options().write(true).open(path.join(LOCK_FILE)).ok()?;
        // A shared lock, so that two commands that check at the same time do not take each other for a
        // server.
        match lock.try_lock_shared() {
            Err(TryLockError::WouldBlock) => read_server_url(path),
            Ok(()) | Err(TryLockError::Error(_)) => None,
        }
    }

    pub fn data_folder_path(&self) -> &Path {
        &self.path
    }

    /// Stores the address at which this folder is served, for commands on the same machine.
    pub(crate) fn write_server_note(&self, url: &str) -> Result<(), DataFolderError> {
        let note = FolderServerNote { url: url.to_owned(), pid: std::process::id() };
        let written = serde_json::to_vec(&note).map_err(io::Error::from).and_then(|text| {
            // The rename is atomic, so that no reader sees half a note.
            let fresh = self.path.join("server.json.new");
            let mut file = private_file_options().write(true).create(true).truncate(true).open(&fresh)?;
            io::Write::write_all(&mut file, &text)?;
            fs::rename(fresh, self.path.join(NOTE_FILE))
        });
        written
            .map_err(|source| DataFolderError::Unusable { folder: self.path.display().to_string(), source })
    }
}

impl Drop for DataFolder {
    fn drop(&mut self) {
        let _ = fs::remove_file(self.path.join(NOTE_FILE));
    }
}

/// A command that only checks whether the folder is served has the lock for a moment. That must not
/// prevent the start of a server. A process that still has the lock after these tries owns the folder.
fn try_lock_with_retries(lock: &File) -> Result<(), TryLockError> {
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

fn read_server_url(path: &Path) -> Option<String> {
    let text = fs::read(path.join(NOTE_FILE)).ok()?;
    serde_json::from_slice::<FolderServerNote>(&text).ok().map(|note| note.url)
}
