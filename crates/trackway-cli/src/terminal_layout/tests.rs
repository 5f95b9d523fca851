//! Tables of what goes in and which lines come out.

use serde_json::{Value, json};
use trackway::api::{Part, PartContent};

use super::*;

#[test]
fn text_breaks_between_words() {
    for (text, width, expected) in [
        ("one two three", 7, vec!["one two", "three"]),
        ("one two three", 80, vec!["one two three"]),
        ("a\n\nb", 10, vec!["a", "", "b"]),
        ("  indented words here", 12, vec!["  indented", "  words here"]),
        ("https://example.org/long x", 8, vec!["https://example.org/long", "x"]),
        ("日本 日本", 5, vec!["日本", "日本"]),
        ("", 10, vec![""]),
    ] {
        assert_eq!(wrap_text(text, width), expected, "{text:?} at {width}");
    }
}

#[test]
fn streamed_text_breaks_between_words() {
    let stream = |pieces: &[&str], width: usize, can_move: bool| {
        let mut wrap = StreamingWordWrap::default();
        pieces.iter().map(|piece| wrap.wrap_text_delta(piece, width, can_move)).collect::<String>()
    };
    for (pieces, width, can_move, expected) in [
        (&["one two three"][..], 7, true, "one two\nthree"),
        (&["one", " two", " three"], 7, true, "one two\nthree"),
        (&["a\n", "  b c"], 80, true, "a\n  b c"),
        // "three" begins as "th", which still fits behind "one".
        (&["one th", "ree"], 7, true, "one th\x1b[2D\x1b[K\nthree"),
        (&["one th", "ree"], 7, false, "one three"),
        (&["much-too-long", " x"], 5, true, "much-too-long\nx"),
        (&["one ", "\n", "two"], 7, true, "one\ntwo"),
    ] {
        assert_eq!(stream(pieces, width, can_move), expected, "{pieces:?} at {width}");
    }
}

fn lines(value: &Value, width: usize) -> String {
    render_json_value(value, width, RenderLimits::SHORT).lines.join("\n")
}

#[test]
fn rows_are_a_table_and_everything_else_a_tree() {
    let rows = json!({ "opportunities": [
        { "protocol": "Aave", "apy": 5.2 },
        { "protocol": "Compound", "apy": 14.8 },
    ] });
    let table = "opportunities\n   apy  protocol\n   5.2  Aave\n  14.8  Compound";
    assert_eq!(lines(&rows, 40), table);
    let tree =
        "opportunities\n  - apy       5.2\n    protocol  Aave\n  - apy       14.8\n    protocol  Compound";
    assert_eq!(lines(&rows, 15), tree);

    for (value, expected) in [
        (json!("text"), "text"),
        (json!({}), "{}"),
        (json!([1, "two", null]), "- 1\n- two\n- null"),
        (json!({ "suggestions": ["0x1", "0x2"], "n": 1 }), "n            1\nsuggestions  0x1, 0x2"),
        (json!({ "a": { "b": { "c": true } } }), "a\n  b\n    c  true"),
        (json!([{ "a": 1 }, { "b": "x" }]), "a  b\n1\n   x"),
        (json!([[1, 2], [3]]), "- - 1\n  - 2\n- - 3"),
    ] {
        assert_eq!(lines(&value, 40), expected, "{value}");
    }
}

#[test]
fn long_values_hang_beside_their_key() {
    let value = json!({ "why": "because it is so", "id": "x" });
    assert_eq!(lines(&value, 15), "id   x\nwhy  because it\n     is so");
}

#[test]
fn long_data_is_clipped_and_says_so() {
    let many = json!({ "list": (0..50).collect::<Vec<_>>() });
    let rendered = render_json_value(&many, 40, RenderLimits::SHORT);
    assert!(rendered.clipped);
    assert_eq!(rendered.lines.last().unwrap(), "  … 30 more");
    assert!(!render_json_value(&many, 40, RenderLimits::UNLIMITED).clipped);
    assert_eq!(render_json_value(&many, 40, RenderLimits::UNLIMITED).lines.len(), 51);

    let long = json!({ "text": "x".repeat(500) });
    let rendered = render_json_value(&long, 40, RenderLimits::SHORT);
    assert!(rendered.clipped && rendered.lines[0].ends_with('…'));

    let mut deep = json!("end");
    for _ in 0..100 {
        deep = json!({ "a": deep });
    }
    assert!(render_json_value(&deep, 40, RenderLimits::SHORT).lines.len() <= DEEPEST);
}

/// A deep value ends as one line of JSON.
const DEEPEST: usize = 16;

/// Proves X5: data cannot steer the terminal.
#[test]
fn data_is_harmless() {
    let value = json!({ "\u{1b}[2J": "\u{7}", "rows": [{ "\r": "\u{9b}" }] });
    let rendered = render_json_value(&value, 40, RenderLimits::UNLIMITED);
    assert!(rendered.lines.iter().all(|line| !line.contains(char::is_control)), "{rendered:?}");
    assert!(!summarize_json_value(&value).contains(char::is_control));
}

#[test]
fn a_summary_is_one_line() {
    assert_eq!(summarize_json_value(&json!({ "a": 1, "b": "x y" })), "a: 1, b: x y");
    assert_eq!(summarize_json_value(&json!({ "a": { "b": [1] } })), r#"a: {"b":[1]}"#);
    assert_eq!(summarize_json_value(&json!("text")), "text");
}

#[test]
fn data_stands_below_its_text() {
    let part = |content| Part { content, metadata: Default::default() };
    let parts = [
        part(PartContent::Text { text: "Found one two three:".to_owned() }),
        part(PartContent::Data { data: json!([{ "a": 1 }]) }),
    ];
    let rendered = render_wrapped_parts(&parts, 12, RenderLimits::SHORT);
    assert_eq!(rendered.lines, ["Found one", "two three:", "  a", "  1"]);
}
