//! The returned form of an artifact, and the allowed writes.

use serde_json::json;
use trackway_domain::{Caller, Object, Timestamp};
use trackway_ports::{ArtifactContent, ArtifactCursor, BlobHash};

use super::*;

fn stored(media_type: &str) -> StoredArtifact {
    StoredArtifact {
        owner: Caller::local_without_auth(),
        scope: ArtifactScope::User,
        filename: ArtifactFilename::new("f").unwrap(),
        version: 2,
        media_type: media_type.to_owned(),
        size_bytes: 0,
        sha256: None,
        created_at: Timestamp::from_millis(0),
        run: None,
        session: None,
        tags: Vec::new(),
        metadata: Object::new(),
        content: ArtifactContent::Blob(BlobHash([0; 32])),
        cursor: ArtifactCursor(1),
    }
}

#[test]
fn text_is_text_images_come_beside_and_the_rest_is_described() {
    let output = artifact_content_output(&stored("text/csv"), b"one two", 4);
    let expected = json!({"name": "f", "version": 2, "mediaType": "text/csv", "text": "two"});
    assert_eq!((output.value, output.parts.len()), (expected, 0));
    let output = artifact_content_output(&stored("image/png"), b"hi", 0);
    let image = File {
        name: Some("f".to_owned()),
        mime_type: Some("image/png".to_owned()),
        source: FileSource::Base64("aGk=".to_owned()),
    };
    assert_eq!(output.parts, [Part::data(output.value.clone()), Part::file(image)]);
    assert!(output.value["text"].as_str().unwrap().contains("image/png"));
    let output = artifact_content_output(&stored("application/zip"), &[0xff, 0xfe, 0], 0);
    assert_eq!(output.value["text"], "[file f, application/zip, 3 bytes]");
    let huge = vec![0; IMAGE_BYTES_MAX + 1];
    assert!(artifact_content_output(&stored("image/png"), &huge, 0).parts.is_empty());
}

#[test]
fn a_long_text_comes_in_pieces() {
    for letter in ["a", "ä", "語", "🦉", "\n"] {
        let text = letter.repeat(120_000);
        let read_from = |offset| artifact_content_output(&stored("text/plain"), text.as_bytes(), offset);
        let (mut offset, mut read) = (0, 0);
        loop {
            let output = read_from(offset);
            assert!(output.value.to_string().len() <= PART_BYTES_MAX, "it is not cut: {letter:?}");
            read += output.value["text"].as_str().unwrap().chars().count();
            match output.value["next"].as_u64() {
                Some(next) => offset = usize::try_from(next).unwrap(),
                None => break,
            }
        }
        assert_eq!(read, 120_000, "{letter:?}");
        assert_eq!(read_from(200_000).value["text"], "");
    }
}

/// A model cannot overwrite its own text or calls.
#[test]
fn names_of_the_conversation_itself_are_refused() {
    for name in ["text-response", "tool-call-x", "tool-result-x.2", "", " ", "..", "a/b", "a\u{7}b"] {
        assert!(parse_artifact_arguments(&json!({"name": name, "text": "x"})).is_err(), "{name}");
    }
    assert!(parse_artifact_arguments(&json!({"name": "a"})).is_err());
    assert!(parse_artifact_arguments(&json!({"name": "a", "text": "x", "data": 1})).is_err());
    let artifact =
        parse_artifact_arguments(&json!({"name": "a.json", "data": [1], "description": "d"})).unwrap();
    assert_eq!(artifact.parts, [Part::data(json!([1]))]);
    assert_eq!(artifact.description.as_deref(), Some("d"));
}
