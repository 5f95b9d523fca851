//! Files that go along with the next message of a conversation.

use std::{
    fs,
    io::{self, Read as _},
    path::Path,
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use trackway::{api::AttachedFile, artifacts::media_type_from_content};
use trackway_domain::ArtifactFilename;

/// All files of one message together: in base64, with the rest of the request, they fit into the body that a
/// server reads by default.
/// Limit (CLI): files that a chat sends along with one message, together.
const ATTACHED_BYTES_MAX: usize = 7 * 1024 * 1024;

/// As many as the server takes.
/// Limit (CLI): files that a chat sends along with one message.
const ATTACHED_FILES_MAX: usize = 32;

#[derive(Debug, Default)]
pub(super) struct PendingAttachments {
    files: Vec<AttachedFile>,
    bytes: usize,
}

impl PendingAttachments {
    /// Reads a file now, so that the message has its content of this moment. Returns what to tell the user, in
    /// both cases.
    pub(super) fn attach_file(&mut self, path: &str) -> Result<String, String> {
        if path.is_empty() {
            return Err("Name the file: /attach data.csv".to_owned());
        }
        if self.files.len() >= ATTACHED_FILES_MAX {
            return Err(format!("A message takes {ATTACHED_FILES_MAX} files."));
        }
        let room = ATTACHED_BYTES_MAX - self.bytes;
        let content = read_up_to(Path::new(path), room)
            .map_err(|error| format!("{path} cannot be attached: {error}"))?
            .ok_or_else(|| {
                format!(
                    "{path} is too large: the files of a message may have {ATTACHED_BYTES_MAX} bytes together. \
                     `trackway artifacts put` stores larger ones."
                )
            })?;
        let name = Path::new(path).file_name().map(|name| name.to_string_lossy().into_owned());
        let name = name.ok_or_else(|| format!("{path} is not a file."))?;
        let size = content.len();
        let media_type = media_type_from_content(&ArtifactFilename::from_text_lossy(&name), &content);
        self.bytes += size;
        self.files.push(AttachedFile {
            mime_type: Some(media_type.to_owned()),
            bytes: BASE64_STANDARD.encode(content),
            name: name.clone(),
        });
        Ok(format!("{name} ({size} bytes) goes along with your next message."))
    }

    /// The files for a message that is sent now.
    pub(super) fn take_files(&mut self) -> Vec<AttachedFile> {
        std::mem::take(self).files
    }

    /// What to say if the conversation ends now.
    pub(super) fn unsent_note(&self) -> Option<String> {
        let names: Vec<&str> = self.files.iter().map(|file| file.name.as_str()).collect();
        (!names.is_empty()).then(|| format!("{} was not sent: no message followed.", names.join(", ")))
    }
}

/// The content of a file; `None` if it has more bytes.
fn read_up_to(path: &Path, bytes_max: usize) -> io::Result<Option<Vec<u8>>> {
    // Reading a pipe or a device may never end.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    let mut content = Vec::new();
    let limit = u64::try_from(bytes_max).unwrap_or(u64::MAX).saturating_add(1);
    fs::File::open(path)?.take(limit).read_to_end(&mut content)?;
    Ok((content.len() <= bytes_max).then_some(content))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_once_and_within_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
        fs::write(path("data.csv"), "a,b\n").unwrap();
        fs::write(path("large.bin"), vec![0; ATTACHED_BYTES_MAX]).unwrap();
        let mut pending = PendingAttachments::default();
        assert_eq!(pending.unsent_note(), None);
        let note = pending.attach_file(&path("data.csv")).unwrap();
        assert_eq!(note, "data.csv (4 bytes) goes along with your next message.");
        // There is no room for both.
        assert!(pending.attach_file(&path("large.bin")).unwrap_err().contains("too large"));
        for wrong in ["", "missing.csv", "/", "/dev/zero", &path("")] {
            assert!(pending.attach_file(wrong).is_err(), "{wrong:?}");
        }
        assert_eq!(pending.unsent_note().unwrap(), "data.csv was not sent: no message followed.");
        let files = pending.take_files();
        assert_eq!((files.len(), files[0].bytes.as_str()), (1, "YSxiCg=="));
        assert_eq!(files[0].mime_type.as_deref(), Some("text/csv"));
        assert!(pending.take_files().is_empty());
        assert!(pending.attach_file(&path("large.bin")).is_ok(), "there is room again");
    }
}
