//! Files that go along with an input, as parts of its message.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use trackway_domain::{File, FileSource, Part};

use super::{runs_service::RunsError, wire_types::AttachedFile};

/// More than a person attaches to one message.
/// Limit (HTTP): files that go along with one input.
pub(super) const FILES_MAX: usize = 32;

/// The files as parts. The bytes are checked here: a part that nobody can read would stay in the log.
pub(super) fn parts_from_attached_files(files: Vec<AttachedFile>) -> Result<Vec<Part>, RunsError> {
    if files.len() > FILES_MAX {
        return Err(RunsError::TooManyFiles { count: files.len() });
    }
    files.into_iter().map(part_from_attached_file).collect()
}

fn part_from_attached_file(file: AttachedFile) -> Result<Part, RunsError> {
    let AttachedFile { name, mime_type, bytes } = file;
    if name.trim().is_empty() {
        return Err(RunsError::BadFile { name, why: "it has no name" });
    }
    if BASE64_STANDARD.decode(&bytes).is_err() {
        return Err(RunsError::BadFile { name, why: "its bytes are not base64" });
    }
    Ok(Part::file(File { name: Some(name), mime_type, source: FileSource::Base64(bytes) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_named_files_in_base64_are_taken() {
        let file = |name: &str, bytes: &str| AttachedFile {
            name: name.to_owned(),
            mime_type: Some("text/csv".to_owned()),
            bytes: bytes.to_owned(),
        };
        let part = parts_from_attached_files(vec![file("a.csv", "aGk=")]).unwrap().remove(0);
        let expected = File {
            name: Some("a.csv".to_owned()),
            mime_type: Some("text/csv".to_owned()),
            source: FileSource::Base64("aGk=".to_owned()),
        };
        assert_eq!(part, Part::file(expected));
        for (name, bytes) in [("", "aGk="), (" ", ""), ("a", "aGk"), ("a", "hi!"), ("a", "aGk=\n")] {
            assert!(parts_from_attached_files(vec![file(name, bytes)]).is_err(), "{name:?} {bytes:?}");
        }
        assert!(parts_from_attached_files(vec![file("a", ""); FILES_MAX]).is_ok());
        assert!(parts_from_attached_files(vec![file("a", ""); FILES_MAX + 1]).is_err());
    }
}
