//! Every part reaches the model.

use serde_json::json;
use trackway_domain::{File, FileSource, MessageId};

use super::*;
use crate::samples::text;

fn file(name: Option<&str>, mime_type: Option<&str>, source: FileSource) -> Part {
    Part::file(File { name: name.map(str::to_owned), mime_type: mime_type.map(str::to_owned), source })
}

fn bytes(base64: &str) -> FileSource {
    FileSource::Base64(base64.into())
}

/// Not only the first text: all parts, in their order.
#[test]
fn every_part_of_a_message_reaches_the_model() {
    let parts = [
        Part::text("one"),
        Part::data(json!({"two": 2})),
        file(Some("three.md"), Some("text/markdown"), bytes("IyAz")),
        Part::text("four"),
        file(None, None, FileSource::Uri("https://example.org/five".into())),
    ];
    let expected = [
        text("one"),
        text("```json\n{\"two\":2}\n```"),
        text("File \"three.md\" (text/markdown, 3 bytes):\n```\n# 3\n```"),
        text("four"),
        text("File is at https://example.org/five"),
    ];
    assert_eq!(pieces_from_parts(&parts), expected);
}

#[test]
fn files_are_read_shown_or_named() {
    let uri = || FileSource::Uri("https://x.org/a b\nc".into());
    let table = [
        (
            "a.json",
            "application/json",
            bytes("e30="),
            "File \"a.json\" (application/json, 2 bytes):\n```\n{}\n```",
        ),
        // Omitted padding, a type with parameters and capitals.
        (
            "a.txt",
            "Text/Plain; charset=utf-8",
            bytes("aGk"),
            "File \"a.txt\" (Text/Plain; charset=utf-8, 2 bytes):\n```\nhi\n```",
        ),
        (
            "a.svg",
            "image/svg+xml",
            bytes("PHMvPg=="),
            "File \"a.svg\" (image/svg+xml, 4 bytes):\n```\n<s/>\n```",
        ),
        ("a", "", bytes("aGk="), "File \"a\" (, 2 bytes):\n```\nhi\n```"),
        (
            "a.txt",
            "text/plain",
            bytes("//4="),
            "File \"a.txt\" (text/plain, 2 bytes) is left out: its text is not UTF-8.",
        ),
        (
            "a.zip",
            "application/zip",
            bytes("AAAA"),
            "File \"a.zip\" (application/zip, 3 bytes) is left out: it is neither text nor an image that can be shown.",
        ),
        (
            "a.tiff",
            "image/tiff",
            bytes("aGk="),
            "File \"a.tiff\" (image/tiff, 2 bytes) is left out: it is neither text nor an image that can be shown.",
        ),
        (
            "a.txt",
            "text/plain",
            bytes("no!"),
            "File \"a.txt\" (text/plain) is left out: its bytes are not base64.",
        ),
        ("a\nb", "text/plain", uri(), "File \"a b\" (text/plain) is at https://x.org/a b c"),
    ];
    for (name, kind, source, line) in table {
        let part = file(Some(name), Some(kind), source);
        assert_eq!(pieces_from_parts(&[part]), [text(line)], "{name} {kind}");
    }
}

#[test]
fn images_are_pieces_of_their_own_and_can_be_left_out() {
    let part = file(Some("a.png"), Some("image/PNG"), bytes("AAA"));
    let image = ContentPiece::Image { media_type: "image/png".into(), base64: "AAA=".into() };
    let name = text("File \"a.png\" (image/PNG, 2 bytes):");
    let both = [Part::text("see"), part];
    assert_eq!(pieces_from_parts(&both), [text("see"), name.clone(), image.clone()]);
    assert_eq!(image_pieces_from_parts(&both), [name.clone(), image]);

    let result =
        |pieces| ConversationEntry::Result { call: "a".into(), tool: "t".into(), pieces, failed: false };
    let mut entries = [
        ConversationEntry::User { pieces: pieces_from_parts(&both) },
        result(image_pieces_from_parts(&both)),
    ];
    replace_images_with_text(&mut entries);
    let line = text("(image/png left out: this model does not take images)");
    assert_eq!(entries[0], ConversationEntry::User { pieces: vec![text("see"), name.clone(), line.clone()] });
    assert_eq!(entries[1], result(vec![name, line]));
}

/// Text that is too long is cut, and a note says so.
#[test]
fn bounds_are_told() {
    let long = Part::text("ü".repeat(PART_BYTES_MAX / 2 + 1));
    let shown = pieces_from_parts(&[long.clone(), long.clone(), long, Part::text("end"), Part::text("")]);
    let all = PART_BYTES_MAX + 2;
    for (piece, tail) in shown.iter().zip([
        format!("ü\n(cut here: {PART_BYTES_MAX} of {all} bytes are shown)"),
        " bytes are shown)".to_owned(),
        format!("(a part of {all} bytes is left out: the message is too long)"),
        "(a part of 3 bytes is left out: the message is too long)".to_owned(),
        String::new(),
    ]) {
        let ContentPiece::Text(text) = piece else { panic!() };
        assert!(text.ends_with(&tail), "{}", &text[text.len().saturating_sub(80)..]);
    }

    let image = file(None, Some("image/png"), bytes("AAAA"));
    let shown = pieces_from_parts(&vec![image; IMAGES_MAX + 1]);
    let count = shown.iter().filter(|piece| matches!(piece, ContentPiece::Image { .. })).count();
    assert_eq!(count, IMAGES_MAX);
    assert_eq!(shown.last(), Some(&text("(left out: 16 images are shown at once)")));
    let large = file(None, Some("image/png"), bytes(&"AAAA".repeat(IMAGE_BYTES_MAX / 3 + 1)));
    assert_eq!(pieces_from_parts(&[large]).last(), Some(&text("(left out: images may have 5242880 bytes)")));
}

/// Text of a file cannot close its own fence and continue as if the user had written it.
#[test]
fn a_fence_holds_what_is_inside() {
    let inside = "a\n````\nb";
    assert_eq!(text_truncation::fence_as_code_block("", inside), format!("`````\n{inside}\n`````"));
    assert_eq!(text_truncation::fence_as_code_block("json", "1\n"), "```json\n1\n```");
}

#[test]
fn a_user_asks_by_message_or_by_input() {
    let id = MessageId::new("m").unwrap();
    let message = Message::new(id, trackway_domain::MessageRole::User, vec![Part::text("hi")]);
    let table = [
        (Some(&message), json!({"prompt": "no"}), "hi"),
        (None, json!({"prompt": "yes", "output": {}}), "yes"),
        (None, json!("plain"), "plain"),
        (None, json!({"prompt": 1}), "```json\n{\"prompt\":1}\n```"),
        (None, json!(null), "```json\nnull\n```"),
    ];
    for (message, input, said) in table {
        assert_eq!(pieces_from_user_input(message, &input), [text(said)]);
    }
}

/// A tool returns parts if its value alone would lose something. Nothing is included twice.
#[test]
fn a_result_is_its_parts_or_else_its_value() {
    let part = Part::text("more");
    let table = [
        (json!({"a": 1}), vec![], vec![text("{\"a\":1}")]),
        (json!("as it is"), vec![], vec![text("as it is")]),
        (json!("as it is"), vec![part.clone()], vec![text("more")]),
        (json!(null), vec![part], vec![text("more")]),
        (json!(null), vec![], vec![text("null")]),
    ];
    for (value, parts, expected) in table {
        assert_eq!(pieces_from_tool_result(&value, &parts), expected);
    }
}

/// The form of parts in a dispatch result; no parts are a valid answer. Proves D3.
#[test]
fn parts_as_json() {
    let long = "A".repeat(4_000);
    let parts = [
        Part::text("t").with_metadata("k", 1),
        Part::data(json!([1])),
        file(Some("f"), Some("text/plain"), bytes("aGk=")),
        file(None, None, FileSource::Uri("u:x".into())),
        file(None, None, bytes(&long)),
        file(None, None, FileSource::Uri("u".repeat(20_000))),
    ];
    let expected = json!([
        {"kind": "text", "text": "t", "metadata": {"k": 1}},
        {"kind": "data", "data": [1]},
        {"kind": "file", "file": {"name": "f", "mimeType": "text/plain", "bytes": "aGk="}},
        {"kind": "file", "file": {"uri": "u:x"}},
        {"kind": "file", "file": {"leftOut": "about 3000 bytes"}},
        {"kind": "file", "file": {"leftOut": "an address of 20000 bytes"}},
    ]);
    assert_eq!(parts_to_json(&parts), expected);
    assert_eq!(parts_to_json(&[]), json!([]));
}

/// A child's answer is recorded and sent to the model within the limits of every other result.
#[test]
fn parts_as_json_are_bounded() {
    let long = "x".repeat(PART_BYTES_MAX + 1);
    let all = PART_BYTES_MAX + 1;
    let cut = format!("x\n(cut here: {PART_BYTES_MAX} of {all} bytes are shown)");
    let told = parts_to_json(&[Part::text(&long), Part::data(json!(long)), Part::data(json!([1, 2]))]);
    assert!(told[0]["text"].as_str().unwrap().ends_with(&cut));
    // A cut value is not valid JSON: it becomes text.
    assert_eq!(told[1]["kind"], "text");
    assert!(told[1]["text"].as_str().unwrap().starts_with("\"xxx"));
    let left_out = "(a part of 5 bytes is left out: the message is too long)";
    assert_eq!(told[2], json!({"kind": "text", "text": left_out}));
    assert!(told.to_string().len() < MESSAGE_BYTES_MAX + 1_000);
}

/// Very many small parts count as much as a few long ones.
#[test]
fn the_number_of_parts_is_bounded() {
    let many = vec![Part::text("a"); PARTS_MAX + 2];
    let line = "(2 more parts are left out)";
    assert_eq!(pieces_from_parts(&many).len(), PARTS_MAX + 1);
    assert_eq!(pieces_from_parts(&many).last(), Some(&text(line)));
    let told = parts_to_json(&many);
    assert_eq!(told.as_array().unwrap().len(), PARTS_MAX + 1);
    assert_eq!(told[PARTS_MAX], json!({"kind": "text", "text": line}));
}
