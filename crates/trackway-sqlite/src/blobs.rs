//! Large content as files named by their hash, in the folder `blobs` beside the database.

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
use trackway_ports::{BlobHash, Blobs, PortFuture, ReadError};

use crate::{database::sync_folder, readers};

/// Blobs in a folder. Cheap to clone.
#[derive(Debug, Clone)]
pub struct FolderBlobs {
    folder: Arc<Path>,
}

impl FolderBlobs {
    /// The blobs of the store in `folder`; makes `folder/blobs` where it is missing.
    pub fn open(folder: &Path) -> io::Result<Self> {
        let blobs = Self::existing(folder);
        fs::create_dir_all(&blobs.folder)?;
        sync_folder(folder)?;
        Ok(blobs)
    }

    /// As `open`, without making anything.
    pub(crate) fn existing(folder: &Path) -> Self {
        Self { folder: folder.join("blobs").into() }
    }

    /// Writes the bytes under their hash. After it returns they survive a power cut.
    pub(crate) fn write(&self, hash: BlobHash, bytes: &[u8]) -> io::Result<()> {
        let path = self.path(hash);
        // Bytes that are there already are compared, so that a damaged blob is mended by who still
        // has its content.
        if fs::read(&path).ok().as_deref() != Some(bytes) {
            self.write_file(&path, bytes)?;
        }
        // Also for a blob that was found: whoever wrote it may not have come to this line yet.
        sync_folder(&self.folder)
    }

    pub(crate) fn read(&self, hash: BlobHash) -> Result<Vec<u8>, ReadError> {
        let damaged = |reason: String| ReadError::DamagedBlob { hash: hash.to_string(), reason };
        let bytes = fs::read(self.path(hash)).map_err(|error| damaged(error.to_string()))?;
        if hash_of(&bytes) != hash {
            return Err(damaged("its bytes do not match its hash".to_owned()));
        }
        Ok(bytes)
    }

    /// Whether there is a file of that name; a named file is a whole one.
    pub(crate) fn has(&self, hash: BlobHash) -> bool {
        self.path(hash).is_file()
    }

    /// One that is gone already is no error. It may come back after a power cut, which costs its room.
    pub(crate) fn remove(&self, hash: BlobHash) -> io::Result<()> {
        match fs::remove_file(self.path(hash)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }

    /// The file gets its name only when its bytes are durable, so a named file is a whole one.
    fn write_file(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let (mut file, unfinished) = create_unfinished(path)?;
        let written = file
            .write_all(bytes)
            .and_then(|()| file.sync_all())
            .and_then(|()| fs::rename(&unfinished, path));
        if written.is_err() {
            // Best effort: the error that matters is the one above.
            let _ = fs::remove_file(&unfinished);
        }
        written
    }

    fn path(&self, hash: BlobHash) -> PathBuf {
        self.folder.join(hash.to_string())
    }
}

impl Blobs for FolderBlobs {
    fn put(&self, bytes: Vec<u8>) -> PortFuture<'_, Result<BlobHash, ReadError>> {
        let blobs = self.clone();
        Box::pin(readers::off_the_runtime(move || {
            let hash = hash_of(&bytes);
            match blobs.write(hash, &bytes) {
                Ok(()) => Ok(hash),
                Err(error) => Err(ReadError::Broken {
                    reason: format!("blob {hash} cannot be written: {error}"),
                }),
            }
        }))
    }

    fn get(&self, hash: BlobHash) -> PortFuture<'_, Result<Vec<u8>, ReadError>> {
        let blobs = self.clone();
        Box::pin(readers::off_the_runtime(move || blobs.read(hash)))
    }
}

pub(crate) fn hash_of(bytes: &[u8]) -> BlobHash {
    BlobHash(Sha256::digest(bytes).into())
}

/// A new file beside `path` that nobody else writes to.
fn create_unfinished(path: &Path) -> io::Result<(File, PathBuf)> {
    /// Makes the names of this process's unfinished files differ.
    static NEXT: AtomicU64 = AtomicU64::new(0);
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let unfinished = path.with_extension(format!("{}-{number}.part", process::id()));
        match File::create_new(&unfinished) {
            Ok(file) => return Ok((file, unfinished)),
            // Left by a process of the same number that died, or at work in another container.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}
