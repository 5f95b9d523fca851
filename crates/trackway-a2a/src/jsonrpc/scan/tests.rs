//! Places in JSON text.

use super::*;

/// The place where the text has `^`, which is taken out first.
fn at_mark(text: &str) -> String {
    let offset = text.find('^').expect("a mark");
    let text = text.replace('^', "");
    let before = &text[..offset];
    let line = before.matches('\n').count() + 1;
    let column = offset - before.rfind('\n').map_or(0, |newline| newline + 1);
    pointer(&text, line, column)
}

#[test]
fn the_value_that_ends_at_a_place_or_is_being_read_there() {
    for (text, expected) in [
        (r#"{"a": 3^}"#, "/a"),
        (r#"{"a": ^{}}"#, "/a"),
        (r#"{"a": {}^}"#, "/a"),
        (r#"{"a": {"b": "x, ]}"^}}"#, "/a/b"),
        (r#"{"a": 1, "b": [1, [2, 3^]]}"#, "/b/1/1"),
        (r#"{"a": 1, "b": [1, [2, 3]^]}"#, "/b/1"),
        ("{\n \"a\": [\n  true,\n  nul^l]}", "/a/1"),
        (r#"{"a": 1, "a"^: 2}"#, "/a"),
        (r#"{"a/b~c": "\"^"}"#, "/a~1b~0c"),
        (r#"{"\u0061": 1^}"#, "/a"),
        (r#"{"a": 1}^"#, ""),
        ("^", ""),
        (r#"{"ü": ["ö", 4^]}"#, "/ü/1"),
    ] {
        assert_eq!(at_mark(text), expected, "{text}");
    }
}
