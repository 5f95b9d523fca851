//! Keys as files in the data folder, `keys.json` and `token-keys.json`, which only their owner can open.
//!
//! A file is changed under a lock and replaced as a whole, so that a reader sees the old or the new one.

use std::{
    collections::HashMap,
    fs::{self, File, Metadata},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

use trackway_ports::{
    FaultInjector, KeyDocument, KeyDocumentName, KeyFuture, KeyInspection, KeyRevision, KeyStore,
    KeyStoreError, NoFaultInjection,
};

use crate::{
    blobs::hash_bytes,
    database::sync_folder,
    private_files::{create_private_folder, private_file_options},
};

/// The keys of a data folder. Cheap to clone. Nothing is created before the first replacement.
#[derive(Debug, Clone)]
pub struct FolderKeys {
    folder: Arc<Path>,
    faults: Arc<dyn FaultInjector>,
    /// The files as they were read last. A plain mutex: it is locked only to look up or insert.
    known: Arc<Mutex<HashMap<KeyDocumentName, KnownFile>>>,
}

#[derive(Debug)]
struct KnownFile {
    stamp: FileStamp,
    revision: KeyRevision,
    /// Open, so that no other file gets its inode: every replaced file has another stamp, even if it has
    /// the same size and is written in the same tick of the clock.
    _file: File,
}

/// What tells a changed file from the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileStamp {
    modified: Option<SystemTime>,
    bytes: u64,
    inode: u64,
}

impl FileStamp {
    fn from_metadata(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        let inode = std::os::unix::fs::MetadataExt::ino(metadata);
        #[cfg(not(unix))]
        let inode = 0;
        Self { modified: metadata.modified().ok(), bytes: metadata.len(), inode }
    }
}

impl FolderKeys {
    pub fn in_folder(folder: &Path) -> Self {
        Self::with_faults(folder, Arc::new(NoFaultInjection))
    }

    pub fn with_faults(folder: &Path, faults: Arc<dyn FaultInjector>) -> Self {
        Self { folder: folder.into(), faults, known: Arc::default() }
    }

    /// The file of a document.
    pub fn path(&self, name: KeyDocumentName) -> PathBuf {
        self.folder.join(name.as_str()).with_extension("json")
    }

    /// Never removed, so it shows that a document was once written.
    fn lock_path(&self, name: KeyDocumentName) -> PathBuf {
        self.folder.join(name.as_str()).with_extension("lock")
    }

    /// The stamp comes from the open file and before its content: a change during the read is noticed at
    /// the next look.
    fn read_document(&self, name: KeyDocumentName) -> Result<Option<KeyDocument>, KeyStoreError> {
        let Some(file) = found(File::open(self.path(name)))? else { return Ok(None) };
        let stamp = FileStamp::from_metadata(&file.metadata().map_err(io_error)?);
        let bytes_max = name.bytes_max() as u64;
        let mut bytes = Vec::new();
        if stamp.bytes <= bytes_max {
            (&file).take(bytes_max + 1).read_to_end(&mut bytes).map_err(io_error)?;
        }
        if stamp.bytes.max(bytes.len() as u64) > bytes_max {
            return Err(KeyStoreError::TooLarge);
        }
        let revision = KeyRevision(hash_bytes(&bytes).0);
        self.lock_known().insert(name, KnownFile { stamp, revision, _file: file });
        Ok(Some(KeyDocument { bytes, revision }))
    }

    fn replace_document(
        &self,
        name: KeyDocumentName,
        expected: Option<KeyRevision>,
        bytes: &[u8],
    ) -> Result<KeyRevision, KeyStoreError> {
        if bytes.len() > name.bytes_max() {
            return Err(KeyStoreError::TooLarge);
        }
        create_private_folder(&self.folder).map_err(io_error)?;
        let lock = private_file_options().write(true).create(true).truncate(false).open(self.lock_path(name));
        let lock = lock.map_err(io_error)?;
        // Waits until nobody else changes the file. The lock ends with `lock`, or with the process.
        lock.lock().map_err(io_error)?;
        if self.read_document(name)?.map(|document| document.revision) != expected {
            return Err(KeyStoreError::Conflict);
        }
        self.write_file(&self.path(name), bytes).map_err(io_error)?;
        self.faults.reach_fault_point("keys.replaced");
        sync_folder(&self.folder).map_err(|error| KeyStoreError::Unknown { reason: error.to_string() })?;
        Ok(KeyRevision(hash_bytes(bytes).0))
    }

    /// The file gets its name only after its bytes are durable. One that a dead process left is removed.
    fn write_file(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let unfinished = path.with_extension("json.new");
        match fs::remove_file(&unfinished) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = private_file_options().write(true).create_new(true).open(&unfinished)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        self.faults.reach_fault_point("keys.written");
        fs::rename(&unfinished, path)
    }

    fn inspect_files(&self, name: KeyDocumentName) -> Result<KeyInspection, KeyStoreError> {
        let metadata = found(fs::metadata(self.path(name)))?;
        let was_removed = metadata.is_none() && self.lock_path(name).exists();
        Ok(KeyInspection { was_removed, exposed_permissions: metadata.as_ref().and_then(exposed_mode) })
    }

    fn lock_known(&self) -> MutexGuard<'_, HashMap<KeyDocumentName, KnownFile>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, KeyStoreError> + Send + 'static,
    ) -> KeyFuture<'_, T> {
        let keys = self.clone();
        Box::pin(async move {
            let ended = tokio::task::spawn_blocking(move || work(&keys)).await;
            ended.unwrap_or_else(|error| Err(KeyStoreError::Unknown { reason: error.to_string() }))
        })
    }
}

impl KeyStore for FolderKeys {
    fn load(&self, name: KeyDocumentName) -> KeyFuture<'_, Option<KeyDocument>> {
        self.run_blocking(move |keys| keys.read_document(name))
    }

    /// One call to the system if nothing has changed, which is faster than another thread.
    fn revision(&self, name: KeyDocumentName) -> KeyFuture<'_, Option<KeyRevision>> {
        Box::pin(async move {
            let Some(metadata) = found(fs::metadata(self.path(name)))? else { return Ok(None) };
            let stamp = FileStamp::from_metadata(&metadata);
            let known =
                self.lock_known().get(&name).filter(|known| known.stamp == stamp).map(|it| it.revision);
            match known {
                Some(revision) => Ok(Some(revision)),
                None => Ok(self.load(name).await?.map(|document| document.revision)),
            }
        })
    }

    fn replace(
        &self,
        name: KeyDocumentName,
        expected: Option<KeyRevision>,
        bytes: Vec<u8>,
    ) -> KeyFuture<'_, KeyRevision> {
        self.run_blocking(move |keys| keys.replace_document(name, expected, &bytes))
    }

    fn inspect(&self, name: KeyDocumentName) -> KeyFuture<'_, KeyInspection> {
        self.run_blocking(move |keys| keys.inspect_files(name))
    }

    fn location(&self, name: KeyDocumentName) -> String {
        self.path(name).display().to_string()
    }
}

/// `None` if there is no such file.
fn found<T>(result: io::Result<T>) -> Result<Option<T>, KeyStoreError> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io_error(error)),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is used as the argument of map_err")]
fn io_error(error: io::Error) -> KeyStoreError {
    /// No file descriptor left, in the system or in this process. The same numbers on every Unix.
    const OUT_OF_DESCRIPTORS: [i32; 2] = [23, 24];
    use io::ErrorKind::{Interrupted, OutOfMemory, QuotaExceeded, ResourceBusy, StorageFull, TimedOut};
    let reason = error.to_string();
    let is_out_of_descriptors =
        cfg!(unix) && error.raw_os_error().is_some_and(|code| OUT_OF_DESCRIPTORS.contains(&code));
    match error.kind() {
        Interrupted | OutOfMemory | QuotaExceeded | ResourceBusy | StorageFull | TimedOut => {
            KeyStoreError::Unavailable { reason }
        }
        _ if is_out_of_descriptors => KeyStoreError::Unavailable { reason },
        _ => KeyStoreError::Broken { reason },
    }
}

#[cfg(unix)]
fn exposed_mode(metadata: &Metadata) -> Option<String> {
    let mode = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o777;
    (mode & 0o077 != 0).then(|| format!("{mode:03o}"))
}

#[cfg(not(unix))]
fn exposed_mode(_metadata: &Metadata) -> Option<String> {
    None
}
