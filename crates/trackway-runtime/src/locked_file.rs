//! A small file of a data folder that several processes read and change, for example a key file.
//!
//! It is changed under a lock and replaced as a whole, so that a reader sees the old or the new one. Only its
//! owner may open it. Its stamp distinguishes a changed file from the one before.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    time::SystemTime,
};

use serde::Serialize;

#[derive(Debug, Clone)]
pub struct LockedFile {
    path: PathBuf,
    bytes_max: u64,
}

/// What distinguishes a changed file from the one before. A replacement has another inode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileStamp {
    Absent,
    Present { modified: Option<SystemTime>, bytes: u64, inode: u64 },
}

impl LockedFile {
    /// A file of this name. A file that is larger than the limit is not read.
    pub fn new(folder: &Path, name: &str, bytes_max: u64) -> Self {
        Self { path: folder.join(name), bytes_max }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn stamp(&self) -> io::Result<FileStamp> {
        let metadata = match fs::metadata(&self.path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(FileStamp::Absent),
            Err(error) => return Err(error),
        };
        #[cfg(unix)]
        let inode = std::os::unix::fs::MetadataExt::ino(&metadata);
        #[cfg(not(unix))]
        let inode = 0;
        let (modified, bytes) = (metadata.modified().ok(), metadata.len());
        Ok(FileStamp::Present { modified, bytes, inode })
    }

    /// Its contents; none if there is no file. The stamp is taken first: a change during the read is noticed
    /// at the next look.
    pub fn read(&self) -> io::Result<(FileStamp, Option<Vec<u8>>)> {
        let stamp = self.stamp()?;
        let file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((stamp, None)),
            Err(error) => return Err(error),
        };
        let mut text = Vec::new();
        file.take(self.bytes_max + 1).read_to_end(&mut text)?;
        if text.len() as u64 > self.bytes_max {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "it is too large"));
        }
        Ok((stamp, Some(text)))
    }

    /// Waits until no other process changes the file. The lock ends when it is dropped, or with the process.
    pub fn lock(&self) -> io::Result<File> {
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder)?;
        }
        let lock = private().create(true).truncate(false).open(self.lock_path())?;
        lock.lock()?;
        Ok(lock)
    }

    /// Whether a process ever locked it. The lock file is never removed.
    pub fn was_locked(&self) -> bool {
        self.lock_path().exists()
    }

    /// Writes a temporary file, makes it durable, and renames it: a crash leaves the old or the new file.
    pub fn replace(&self, contents: &impl Serialize) -> io::Result<()> {
        let text = serde_json::to_vec_pretty(contents)?;
        let fresh = self.path.with_extension("json.new");
        match fs::remove_file(&fresh) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = private().create_new(true).open(&fresh)?;
        file.write_all(&text)?;
        file.sync_all()?;
        fs::rename(&fresh, &self.path)?;
        self.path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
    }

    fn lock_path(&self) -> PathBuf {
        self.path.with_extension("lock")
    }
}

/// Options for a file that only its owner may open.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}
