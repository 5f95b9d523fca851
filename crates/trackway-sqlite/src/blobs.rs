//! Large content as files named by their hash, in the folder `blobs` next to the database.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
    process,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use sha2::{Digest as _, Sha256};
use trackway_ports::{BlobHash, Blobs, ReadError, ReadFuture};

use crate::{
    database::{open_folder, sync_folder},
    private_files::{create_private_folder, private_file_options},
    reader_pool,
};

/// Why a blob was not written.
#[derive(Debug)]
pub(crate) enum BlobWriteError {
    /// The file got no name, so no reader finds it. It can be written again.
    Unavailable(io::Error),
    /// A sync failed: the content of the disk is unknown, and another sync may succeed without having
    /// written it.
    Unknown(io::Error),
}

impl BlobWriteError {
    /// If the disk is full, the file is removed, and the next attempt writes another one.
    fn from_file_sync_error(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Unavailable(error),
            _ => Self::Unknown(error),
        }
    }
}

/// Whether the file itself is missing or unreadable. Any other error, such as a lack of file
/// descriptors, says nothing about the file.
fn is_missing_or_unreadable_file(error: &io::Error) -> bool {
    /// The same number on every Unix.
    const EIO: i32 = 5;
    let kind = error.kind();
    kind == io::ErrorKind::NotFound
        || kind == io::ErrorKind::IsADirectory
        || (cfg!(unix) && error.raw_os_error() == Some(EIO))
}

/// Blobs in a folder. Cheap to clone.
#[derive(Debug, Clone)]
pub struct FolderBlobStore {
    folder: Arc<Path>,
}

impl FolderBlobStore {
    /// The blobs of the store in `folder`. Creates `folder/blobs` if it is missing.
    pub fn open_or_create_blob_folder(folder: &Path) -> io::Result<Self> {
        let blobs = Self::blobs_in_existing_folder(folder);
        create_private_folder(&blobs.folder)?;
        sync_folder(folder)?;
        Ok(blobs)
    }

    /// Like `open`, but creates nothing.
    pub(crate) fn blobs_in_existing_folder(folder: &Path) -> Self {
        Self { folder: folder.join("blobs").into() }
    }

    /// Writes the bytes under their hash. After it returns they survive a power cut.
    pub(crate) fn write_blob(&self, hash: BlobHash, bytes: &[u8]) -> Result<(), BlobWriteError> {
        let path = self.blob_path(hash);
        // Existing bytes are compared, so that a caller that still has the content repairs a damaged
        // blob.
        if fs::read(&path).ok().as_deref() != Some(bytes) {
            self.write_blob_file(&path, bytes)?;
        }
        // Also for an existing blob: its writer may not have reached this line yet.
        let Some(folder) = open_folder(&self.folder).map_err(BlobWriteError::Unavailable)? else {
            return Ok(());
        };
        folder.sync_all().map_err(BlobWriteError::Unknown)
    }

    pub(crate) fn read_blob(&self, hash: BlobHash) -> Result<Vec<u8>, ReadError> {
        let damaged = |reason: String| ReadError::DamagedBlob { hash: hash.to_string(), reason };
        let bytes =
            fs::read(self.blob_path(hash)).map_err(|error| match is_missing_or_unreadable_file(&error) {
                true => damaged(error.to_string()),
                false => ReadError::Unavailable { reason: format!("blob {hash}: {error}") },
            })?;
        if hash_bytes(&bytes) != hash {
            return Err(damaged("its bytes do not match its hash".to_owned()));
        }
        Ok(bytes)
    }

    /// Whether a file of that name exists; a named file is complete.
    pub(crate) fn contains_blob(&self, hash: BlobHash) -> bool {
        self.blob_path(hash).is_file()
    }

    /// A missing file is no error. After a power cut the file may exist again, which only costs disk
    /// space.
    pub(crate) fn remove_blob(&self, hash: BlobHash) -> io::Result<()> {
        match fs::remove_file(self.blob_path(hash)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }

    /// The file gets its name only after its bytes are durable, so a named file is complete.
    fn write_blob_file(&self, path: &Path, bytes: &[u8]) -> Result<(), BlobWriteError> {
        let (mut file, unfinished) = create_temporary_file(path).map_err(BlobWriteError::Unavailable)?;
        let written = file
            .write_all(bytes)
            .map_err(BlobWriteError::Unavailable)
            .and_then(|()| file.sync_all().map_err(BlobWriteError::from_file_sync_error))
            .and_then(|()| fs::rename(&unfinished, path).map_err(BlobWriteError::Unavailable));
        if written.is_err() {
            // Best effort: the error that matters is the one above.
            let _ = fs::remove_file(&unfinished);
        }
        written
    }

    fn blob_path(&self, hash: BlobHash) -> PathBuf {
        self.folder.join(hash.to_string())
    }
}

impl FolderBlobStore {
    /// Writes bytes that the caller needs again.
    pub(crate) async fn store_shared_blob(&self, bytes: &Arc<Vec<u8>>) -> Result<BlobHash, ReadError> {
        let (blobs, bytes) = (self.clone(), Arc::clone(bytes));
        reader_pool::run_blocking_read(move || {
            let hash = hash_bytes(&bytes);
            match blobs.write_blob(hash, &bytes) {
                Ok(()) => Ok(hash),
                Err(BlobWriteError::Unavailable(error)) => Err(ReadError::Unavailable {
                    reason: format!("blob {hash} cannot be written now: {error}"),
                }),
                Err(BlobWriteError::Unknown(error)) => {
                    Err(ReadError::Broken { reason: format!("blob {hash} cannot be written: {error}") })
                }
            }
        })
        .await
    }
}

impl Blobs for FolderBlobStore {
    fn store_blob(&self, bytes: Vec<u8>) -> ReadFuture<'_, BlobHash> {
        Box::pin(async move { self.store_shared_blob(&Arc::new(bytes)).await })
    }

    fn load_blob(&self, hash: BlobHash) -> ReadFuture<'_, Vec<u8>> {
        let blobs = self.clone();
        Box::pin(reader_pool::run_blocking_read(move || blobs.read_blob(hash)))
    }
}

pub(crate) fn hash_bytes(bytes: &[u8]) -> BlobHash {
    BlobHash(Sha256::digest(bytes).into())
}

/// A new file next to `path` that no other writer uses.
fn create_temporary_file(path: &Path) -> io::Result<(File, PathBuf)> {
    /// Makes the names of this process's unfinished files unique.
    static NEXT: AtomicU64 = AtomicU64::new(0);
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let unfinished = path.with_extension(format!("{}-{number}.part", process::id()));
        match private_file_options().write(true).create_new(true).open(&unfinished) {
            Ok(file) => return Ok((file, unfinished)),
            // Left by a dead process with the same id, or in use by a process in another container.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}
