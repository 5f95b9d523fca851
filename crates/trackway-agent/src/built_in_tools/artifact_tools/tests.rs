//! The returned form of an artifact, and the allowed writes.

use serde_json::json;
use trackway_domain::{Artifact, File, FileSource, Part};

use super::{PART_BYTES_MAX, artifact_text_output, parse_artifact_arguments};

fn file(mime_type: &str, base64: &str) -> Part {
    Part::file(File {
        name: Some("f".to_owned()),
        mime_type: Some(mime_type.to_owned()),
        source: FileSource::Base64(base64.to_owned()),
    })
}

#[test]
fn text_data_and_text_files_are_text_and_images_come_beside() {
    let mut artifact = Artifact::text("a", "one ").unwrap();
    artifact.parts.push(Part::data(json!({"n": 1})));
    artifact.parts.push(file("text/plain", "IHR3bw=="));
    let output = artifact_text_output(json!({}), &artifact, 0);
    assert_eq!(output.value, json!({"text": "one {\"n\":1} two"}));
    assert!(output.parts.is_empty());
    let image = file("image/png", "aGk=");
    artifact.parts = vec![image.clone()];
    let output = artifact_text_output(json!({}), &artifact, 0);
    assert_eq!(output.parts[1], image);
    assert!(output.value["text"].as_str().unwrap().contains("image/png"));
}

#[test]
fn a_long_text_comes_in_pieces() {
    for letter in ["a", "ä", "語", "🦉", "\n"] {
        let artifact = Artifact::text("a", letter.repeat(120_000)).unwrap();
        let (mut offset, mut read) = (0, 0);
        loop {
            let output = artifact_text_output(json!({}), &artifact, offset);
            assert!(output.value.to_string().len() <= PART_BYTES_MAX, "it is not cut: {letter:?}");
            read += output.value["text"].as_str().unwrap().chars().count();
            match output.value["next"].as_u64() {
                Some(next) => offset = usize::try_from(next).unwrap(),
                None => break,
            }
        }
        assert_eq!(read, 120_000, "{letter:?}");
        assert_eq!(artifact_text_output(json!({}), &artifact, 200_000).value, json!({"text": ""}));
    }
}

/// A model cannot overwrite its own text or calls.
#[test]
fn names_of_the_conversation_itself_are_refused() {
    for name in ["text-response", "tool-call-x", "tool-result-x.2", ""] {
        assert!(parse_artifact_arguments(&json!({"name": name, "text": "x"})).is_err(), "{name}");
    }
    assert!(parse_artifact_arguments(&json!({"name": "a"})).is_err());
    assert!(parse_artifact_arguments(&json!({"name": "a", "text": "x", "data": 1})).is_err());
    let artifact =
        parse_artifact_arguments(&json!({"name": "a.json", "data": [1], "description": "d"})).unwrap();
    assert_eq!(artifact.parts, [Part::data(json!([1]))]);
    assert_eq!(artifact.description.as_deref(), Some("d"));
}
