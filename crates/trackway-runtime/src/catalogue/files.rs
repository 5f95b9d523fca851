//! One file: what it held when it was read last, and whether it still does.

use std::{
    fs::{self, File},
    io::{self, Read},
    path::Path,
    time::{Duration, Instant, SystemTime},
};

use sha2::{Digest, Sha256};
use trackway_definition::{Draft, Fault, TEXT_MAX, Unreadable, read};

use super::{id, scan};

/// Coarsest time that a file system keeps of a change. Two changes within it may leave one stamp, so a
/// file is not taken to be unchanged before it was read again after this long.
const STAMP_GRAIN: Duration = Duration::from_secs(2);

/// What tells that a file changed, without reading it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Stamp {
    modified: Option<SystemTime>,
    size: u64,
    inode: u64,
}

impl Stamp {
    pub(super) fn of(metadata: &fs::Metadata) -> Self {
        #[cfg(unix)]
        let inode = std::os::unix::fs::MetadataExt::ino(metadata);
        #[cfg(not(unix))]
        let inode = 0;
        Self { modified: metadata.modified().ok(), size: metadata.len(), inode }
    }
}

/// A file as it was read.
#[derive(Debug)]
pub(super) struct Sheet {
    stamp: Stamp,
    /// When the stamp was seen first.
    since: Instant,
    /// Whether nothing can have changed without changing the stamp.
    settled: bool,
    digest: [u8; 32],
    pub(super) draft: Result<Draft, Unreadable>,
}

impl Sheet {
    pub(super) fn read(path: &Path, stamp: Stamp) -> Self {
        // From before the reading: what is written during it counts as later.
        let since = Instant::now();
        let content = content(path);
        let digest = digest(&content);
        Self { stamp, since, settled: false, digest, draft: draft(path, content, None) }
    }

    /// Makes it that of the file as it is now. Whether it had changed.
    pub(super) fn renew(&mut self, path: &Path, stamp: &Stamp) -> bool {
        if self.settled && self.stamp == *stamp {
            return false;
        }
        let now = Instant::now();
        if self.stamp == *stamp {
            self.settled = now.duration_since(self.since) > STAMP_GRAIN;
        } else {
            (self.stamp, self.since, self.settled) = (stamp.clone(), now, false);
        }
        let content = content(path);
        let digest = digest(&content);
        if digest == self.digest {
            return false;
        }
        self.digest = digest;
        let draft = draft(path, content, self.id());
        self.draft = draft;
        true
    }

    /// Whose file it is, as far as that is known.
    fn id(&self) -> Option<&str> {
        match &self.draft {
            Ok(draft) => Some(&draft.id),
            Err(unreadable) => unreadable.id.as_deref(),
        }
    }

    /// Whether the file still holds what was read.
    pub(super) fn is_current(&mut self, path: &Path) -> bool {
        let Ok(metadata) = fs::metadata(path) else { return false };
        if self.stamp != Stamp::of(&metadata) {
            return false;
        }
        if self.settled {
            return true;
        }
        self.settled = self.since.elapsed() > STAMP_GRAIN;
        digest(&content(path)) == self.digest
    }

    /// Whether the stamp alone says that the file still holds what was read.
    pub(super) fn is_settled(&self, path: &Path) -> bool {
        self.settled && fs::metadata(path).is_ok_and(|found| self.stamp == Stamp::of(&found))
    }
}

/// The first bytes of a file, one more than it may have at most.
fn content(path: &Path) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    let most = u64::try_from(TEXT_MAX).unwrap_or(u64::MAX).saturating_add(1);
    File::open(path)?.take(most).read_to_end(&mut content)?;
    Ok(content)
}

fn digest(content: &io::Result<Vec<u8>>) -> [u8; 32] {
    match content {
        Ok(content) => Sha256::digest(content).into(),
        // Never that of a content: what could not be read may be readable now.
        Err(_) => [0; 32],
    }
}

/// What the file says. One that is broken stays the file of the workflow that it was, and where it never
/// could be read, of the one that it names: whoever asks for that is then told what is wrong with it.
fn draft(
    path: &Path,
    content: io::Result<Vec<u8>>,
    was: Option<&str>,
) -> Result<Draft, Unreadable> {
    let refused =
        |why: String| Unreadable { id: was.map(str::to_owned), faults: vec![Fault::new("", why)] };
    let content = content.map_err(|error| refused(scan::unreadable(&error)))?;
    if content.len() > TEXT_MAX {
        return Err(refused(format!("the file is larger than {TEXT_MAX} bytes")));
    }
    let text = String::from_utf8(content).map_err(|error| {
        let place = error.utf8_error().valid_up_to();
        refused(format!("the file is not text in UTF-8: see byte {place}"))
    })?;
    let format = scan::format(path).ok_or_else(|| refused("no definition's name".to_owned()))?;
    read(&text, format).map_err(|Unreadable { id, faults }| {
        let id = id.or_else(|| was.map(str::to_owned)).or_else(|| id::written(&text, format));
        Unreadable { id, faults }
    })
}
