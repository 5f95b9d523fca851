//! One file: its content when it was last read, and whether it is unchanged.

use std::{
    fs::{self, File},
    io::{self, Read},
    path::Path,
    time::{Duration, Instant, SystemTime},
};

use sha2::{Digest, Sha256};
use trackway_definition::{
    DefinitionDraft, FILE_BYTES_MAX, Finding, ReadDefinitionError, parse_definition_draft,
};

use super::{folder_scan, workflow_id_scan};

/// Coarsest time resolution of a file system. Two changes within it may have the same stamp, so a file counts
/// as unchanged only after it was read again this much later.
const STAMP_GRAIN: Duration = Duration::from_secs(2);

/// Detects that a file changed, without reading it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SourceFileStamp {
    modified: Option<SystemTime>,
    size: u64,
    inode: u64,
}

impl SourceFileStamp {
    pub(super) fn stamp_from_metadata(metadata: &fs::Metadata) -> Self {
        #[cfg(unix)]
        let inode = std::os::unix::fs::MetadataExt::ino(metadata);
        #[cfg(not(unix))]
        let inode = 0;
        Self { modified: metadata.modified().ok(), size: metadata.len(), inode }
    }
}

/// A file as it was read.
#[derive(Debug)]
pub(super) struct DefinitionSourceFile {
    stamp: SourceFileStamp,
    /// When the stamp was first read.
    since: Instant,
    /// Whether every change also changes the stamp.
    is_stamp_reliable: bool,
    digest: [u8; 32],
    pub(super) draft: Result<DefinitionDraft, ReadDefinitionError>,
}

impl DefinitionSourceFile {
    pub(super) fn read_source_file(path: &Path, stamp: SourceFileStamp) -> Self {
        // Taken before the read: a write during the read counts as later.
        let since = Instant::now();
        let content = read_file_content(path);
        let digest = file_content_digest(&content);
        Self {
            stamp,
            since,
            is_stamp_reliable: false,
            digest,
            draft: parse_draft_from_content(path, content, None),
        }
    }

    /// Updates it to the current file. Returns whether the file had changed.
    pub(super) fn reload_if_changed(&mut self, path: &Path, stamp: &SourceFileStamp) -> bool {
        if self.is_stamp_reliable && self.stamp == *stamp {
            return false;
        }
        let now = Instant::now();
        if self.stamp == *stamp {
            self.is_stamp_reliable = now.duration_since(self.since) > STAMP_GRAIN;
        } else {
            (self.stamp, self.since, self.is_stamp_reliable) = (stamp.clone(), now, false);
        }
        let content = read_file_content(path);
        let digest = file_content_digest(&content);
        if digest == self.digest {
            return false;
        }
        self.digest = digest;
        let draft = parse_draft_from_content(path, content, self.workflow_id());
        self.draft = draft;
        true
    }

    /// The workflow id of the file, if it is known.
    fn workflow_id(&self) -> Option<&str> {
        match &self.draft {
            Ok(draft) => Some(&draft.id),
            Err(unreadable) => unreadable.id.as_deref(),
        }
    }

    /// Whether the file still holds what was read.
    pub(super) fn matches_file_on_disk(&mut self, path: &Path) -> bool {
        let Ok(metadata) = fs::metadata(path) else { return false };
        if self.stamp != SourceFileStamp::stamp_from_metadata(&metadata) {
            return false;
        }
        if self.is_stamp_reliable {
            return true;
        }
        self.is_stamp_reliable = self.since.elapsed() > STAMP_GRAIN;
        file_content_digest(&read_file_content(path)) == self.digest
    }

    /// Whether the stamp alone says that the file still holds what was read.
    pub(super) fn has_unchanged_file_stamp(&self, path: &Path) -> bool {
        self.is_stamp_reliable
            && fs::metadata(path)
                .is_ok_and(|found| self.stamp == SourceFileStamp::stamp_from_metadata(&found))
    }
}

/// The first bytes of a file, up to one more than the maximum.
fn read_file_content(path: &Path) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    let most = u64::try_from(FILE_BYTES_MAX).unwrap_or(u64::MAX).saturating_add(1);
    File::open(path)?.take(most).read_to_end(&mut content)?;
    Ok(content)
}

fn file_content_digest(content: &io::Result<Vec<u8>>) -> [u8; 32] {
    match content {
        Ok(content) => Sha256::digest(content).into(),
        // Never the hash of a real content: a file that could not be read may be readable now.
        Err(_) => [0; 32],
    }
}

/// The draft in the file. A broken file still belongs to its last known workflow; if it was never readable,
/// to the one that its text names. A request for that workflow then gets the file's errors.
fn parse_draft_from_content(
    path: &Path,
    content: io::Result<Vec<u8>>,
    earlier_workflow_id: Option<&str>,
) -> Result<DefinitionDraft, ReadDefinitionError> {
    let refused = |why: String| ReadDefinitionError {
        id: earlier_workflow_id.map(str::to_owned),
        findings: vec![Finding::new("", why)],
    };
    let content = content.map_err(|error| refused(folder_scan::describe_file_read_error(&error)))?;
    if content.len() > FILE_BYTES_MAX {
        return Err(refused(format!("the file is larger than {FILE_BYTES_MAX} bytes")));
    }
    let text = String::from_utf8(content).map_err(|error| {
        let place = error.utf8_error().valid_up_to();
        refused(format!("the file is not text in UTF-8: see byte {place}"))
    })?;
    let format = folder_scan::detect_definition_format(path)
        .ok_or_else(|| refused("no definition's name".to_owned()))?;
    parse_definition_draft(&text, format).map_err(|ReadDefinitionError { id, findings: faults }| {
        let id = id
            .or_else(|| earlier_workflow_id.map(str::to_owned))
            .or_else(|| workflow_id_scan::find_workflow_id_in_text(&text, format));
        ReadDefinitionError { id, findings: faults }
    })
}
