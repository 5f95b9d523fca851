//! Parts: the form in each generation, and that a round trip loses nothing.

use serde_json::{Value, json};
use trackway_a2a_wire::{JsonDialect, ReceivedPartV1};
use trackway_domain::{Artifact, ArtifactId, File, FileSource, Object, Part};

use super::super::{received_part_v03::ReceivedPartV03, received_types::ReceivedPart};

fn there(dialect: JsonDialect, part: &Part) -> Value {
    let artifact = Artifact::new(ArtifactId::new("a").unwrap(), vec![part.clone()]);
    let written = trackway_a2a_wire::WireArtifact { artifact: &artifact, dialect };
    serde_json::to_value(written).unwrap()["parts"][0].take()
}

fn back<P: ReceivedPart>(json: Value) -> Option<Part> {
    serde_json::from_value::<P>(json).ok()?.into_part().ok()
}

fn file(source: FileSource) -> Part {
    let (name, mime_type) = (Some("a.txt".to_owned()), Some("text/plain".to_owned()));
    Part::file(File { name, mime_type, source })
}

#[test]
fn every_part_is_written_as_its_generation_says_and_comes_back_as_it_was() {
    let bare = |value: Value| Part {
        content: trackway_domain::MessagePartContent::Data(value),
        metadata: Object::new(),
    };
    for (part, old, new) in [
        (Part::text("hi"), json!({"kind": "text", "text": "hi"}), json!({"text": "hi"})),
        (Part::text(""), json!({"kind": "text", "text": ""}), json!({"text": ""})),
        (
            Part::text("hi").with_metadata("schema", json!({})),
            json!({"kind": "text", "text": "hi", "metadata": {"schema": {}}}),
            json!({"text": "hi", "metadata": {"schema": {}}}),
        ),
        (
            Part::data(json!({"a": 1})),
            json!({"kind": "data", "data": {"a": 1}, "metadata": {"mimeType": "application/json"}}),
            json!({"data": {"a": 1}, "mediaType": "application/json",
                "metadata": {"mimeType": "application/json"}}),
        ),
        (
            bare(json!([1, 2])),
            json!({"kind": "data", "data": {"value": [1, 2]}, "metadata": {"data_part_compat": true}}),
            json!({"data": [1, 2]}),
        ),
        (
            bare(Value::Null),
            json!({"kind": "data", "data": {"value": null}, "metadata": {"data_part_compat": true}}),
            json!({"data": null}),
        ),
        (
            file(FileSource::Base64("aGk=".to_owned())),
            json!({"kind": "file", "file": {"name": "a.txt", "mimeType": "text/plain", "bytes": "aGk="}}),
            json!({"raw": "aGk=", "filename": "a.txt", "mediaType": "text/plain"}),
        ),
        (
            file(FileSource::Uri("https://x/a".to_owned())).with_metadata("k", 1),
            json!({"kind": "file", "metadata": {"k": 1},
                "file": {"name": "a.txt", "mimeType": "text/plain", "uri": "https://x/a"}}),
            json!({"url": "https://x/a", "filename": "a.txt", "mediaType": "text/plain", "metadata": {"k": 1}}),
        ),
    ] {
        assert_eq!(there(JsonDialect::V03, &part), old);
        assert_eq!(there(JsonDialect::V1, &part), new);
        assert_eq!(back::<ReceivedPartV03>(old), Some(part.clone()));
        assert_eq!(back::<ReceivedPartV1>(new), Some(part));
    }
}

#[test]
fn what_others_write_is_understood() {
    let markdown =
        back::<ReceivedPartV1>(json!({"text": "*", "mediaType": "text/markdown", "filename": "a.md"}));
    let expected =
        Part::text("*").with_metadata("mimeType", "text/markdown").with_metadata("filename", "a.md");
    assert_eq!(markdown, Some(expected));
    let padded = json!({"text": "x", "mediaType": "", "filename": "", "metadata": null});
    assert_eq!(back::<ReceivedPartV1>(padded), Some(Part::text("x")));
    // A mark without the wrapper is left unchanged.
    let marked = json!({"kind": "data", "data": {"v": 1}, "metadata": {"data_part_compat": true}});
    assert_eq!(back::<ReceivedPartV03>(marked).unwrap().as_data(), Some(&json!({"v": 1})));
}

#[test]
fn a_part_without_its_content_is_refused() {
    for json in [
        json!({}),
        json!({"kind": "text"}),
        json!({"kind": "data", "text": "x"}),
        json!({"kind": "file", "file": {"name": "x"}}),
        json!({"kind": "video", "text": "x"}),
        json!({"text": "x"}),
    ] {
        assert_eq!(back::<ReceivedPartV03>(json.clone()), None, "{json}");
    }
    for json in [json!({}), json!({"metadata": {}}), json!({"text": "x", "url": "y"}), json!({"raw": 1})] {
        assert_eq!(back::<ReceivedPartV1>(json.clone()), None, "{json}");
    }
}
