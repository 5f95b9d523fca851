//! Values, lines, and refusals of a text.

use proptest::prelude::*;
use serde_json::{Value, json};
use trackway_domain::JSON_DEPTH_MAX;

use super::{FILE_BYTES_MAX, LocatedValue, join_pointer, parse_located};
use crate::{FileFormat, Finding, test_support::any_json_strategy};

fn refused(text: &str, format: FileFormat) -> Finding {
    parse_located(text, format).expect_err("the text is refused")
}

/// Checks the path, the line and a part of the message of a refusal.
fn check_refused(format: FileFormat, text: &str, path: &str, line: u32, part: &str) {
    let fault = refused(text, format);
    assert!(fault.message.contains(part), "{part:?} is not in {fault:?}");
    assert_eq!((fault.path.as_str(), fault.line), (path, Some(line)), "{fault:?}");
}

const JSON: &str = include_str!("tests/places.json");
const YAML: &str = include_str!("tests/places.yaml");

/// Proves T9: every part of a file has its line, in both formats.
#[test]
fn lines_are_those_of_the_file() {
    let json = parse_located(JSON, FileFormat::Json).expect("valid");
    let lines = [
        ("", 1),
        ("/id", 2),
        ("/name", 2),
        ("/steps", 3),
        ("/steps/0", 4),
        ("/steps/0/id", 4),
        ("/steps/0/set", 5),
        ("/steps/1", 6),
        ("/steps/2", 7),
        ("/a~1b~0c/deep", 9),
        ("/a~1b~0c/deep/0", 10),
    ];
    for (pointer, line) in lines {
        assert!(json.value.pointer(pointer).is_some(), "{pointer}");
        assert_eq!(json.line_of_pointer(pointer), Some(line), "{pointer}");
    }
    let yaml = parse_located(YAML, FileFormat::Yaml).expect("valid");
    let lines = [
        ("", 2),
        ("/id", 2),
        ("/name", 3),
        ("/steps", 4),
        ("/steps/0", 5),
        ("/steps/0/set", 6),
        ("/steps/1", 8),
        ("/steps/2", 9),
        ("/a~1b~0c", 10),
        ("/a~1b~0c/deep", 11),
        ("/a~1b~0c/deep/0", 12),
        ("/text", 13),
    ];
    for (pointer, line) in lines {
        assert!(yaml.value.pointer(pointer).is_some(), "{pointer}");
        assert_eq!(yaml.line_of_pointer(pointer), Some(line), "{pointer}");
    }
}

#[test]
fn missing_key_has_the_line_of_its_object() {
    let json = parse_located(JSON, FileFormat::Json).expect("valid");
    assert_eq!(json.line_of_pointer("/steps/0/title"), Some(4));
    assert_eq!(json.line_of_pointer("/steps/17/id"), Some(3));
    assert_eq!(json.line_of_pointer("no pointer"), None);
}

#[test]
fn both_formats_give_the_same_value() {
    let json = parse_located(JSON, FileFormat::Json).expect("valid").value;
    let mut yaml = parse_located(YAML, FileFormat::Yaml).expect("valid").value;
    let text = yaml.as_object_mut().and_then(|entries| entries.remove("text"));
    assert_eq!(text, Some(json!("two\nlines\n")));
    assert_eq!(json, yaml);
}

/// Proves T9: a file that is not JSON or YAML is refused with the line.
#[test]
fn broken_texts_are_refused_with_their_line() {
    check_refused(FileFormat::Json, "{\n  \"a\": 1,\n  oops\n}", "", 3, "not JSON");
    check_refused(FileFormat::Json, "{\n  \"a\": [1, 2\n", "", 3, "not JSON");
    check_refused(FileFormat::Json, "{} {}", "", 1, "trailing characters");
    check_refused(FileFormat::Json, " \n", "", 1, "empty");
    check_refused(FileFormat::Yaml, "a: 1\nb: [1, 2\n", "", 2, "not YAML");
    check_refused(FileFormat::Yaml, "a: 1\nb: 'never ends\n", "", 3, "not YAML");
    check_refused(FileFormat::Yaml, "a: 1\n b: 2\n", "", 2, "not YAML");
    check_refused(FileFormat::Yaml, "# nothing\n", "", 1, "empty");
    check_refused(FileFormat::Yaml, "a: 1\n---\nb: 2\n", "", 2, "more than one document");
    check_refused(FileFormat::Yaml, "a: *nothing\n", "", 1, "not YAML");
}

#[test]
fn a_key_that_is_given_twice_is_a_fault() {
    let json = "{\"a\": {\n \"b\": 1,\n \"\\u0062\": 2\n}}";
    check_refused(FileFormat::Json, json, "/a/b", 3, "the first time on line 2");
    check_refused(FileFormat::Yaml, "a:\n  b: 1\n  'b': 2\n", "/a/b", 3, "the first time on line 2");
}

#[test]
fn yaml_only_constructs_are_refused() {
    check_refused(FileFormat::Yaml, "a:\n  - [.inf]\n", "/a/0/0", 2, "JSON");
    check_refused(FileFormat::Yaml, "a: 1e999\n", "/a", 1, "out of range");
    check_refused(FileFormat::Yaml, "? [a]\n: 1\n", "", 1, "a key has to be a word");
    check_refused(FileFormat::Yaml, "a: !!binary x\n", "/a", 1, "tag");
    check_refused(FileFormat::Yaml, "a: &a {b: 1}\nc:\n  <<: *a\n", "/c", 3, "merge keys");
    check_refused(FileFormat::Yaml, "a: &a x\n*a : 1\n", "", 2, "not an alias");
}

#[test]
fn plain_words_of_yaml_are_read_by_the_core_schema() {
    let text = "[null, ~, true, False, yes, 12, +3, -4, 0x1F, 0o17, 007, 1.5, .5, 2., 1e3, 1_000, \
                9007199254740992, '12', !!str 12, 1.2.3, 2026-01-02, e5, '-']";
    let expected = r#"[null, null, true, false, "yes", 12, 3, -4, 31, 15, 7, 1.5, 0.5, 2.0, 1000.0, "1_000",
                       9007199254740992, "12", "12", "1.2.3", "2026-01-02", "e5", "-"]"#;
    let expected: Value = serde_json::from_str(expected).expect("JSON");
    assert_eq!(parse_located(text, FileFormat::Yaml).expect("valid").value, expected);
}

/// Proves T9: no file content makes the reader exceed its limits.
#[test]
fn size_depth_and_aliases_are_bounded() {
    let large = format!("\"{}\"", "x".repeat(FILE_BYTES_MAX));
    assert!(refused(&large, FileFormat::Json).message.contains("larger than"));
    for levels in [JSON_DEPTH_MAX, 127, 10_000] {
        let deep = "[".repeat(levels) + &"]".repeat(levels);
        assert!(refused(&deep, FileFormat::Json).message.contains("deep"), "{levels}");
        let fault = refused(&deep, FileFormat::Yaml);
        assert!(fault.message.contains("deep"), "{levels}: {fault:?}");
    }
    let fits = "[".repeat(JSON_DEPTH_MAX - 1) + &"]".repeat(JSON_DEPTH_MAX - 1);
    for format in [FileFormat::Json, FileFormat::Yaml] {
        let value = parse_located(&fits, format).expect("not too deep").value;
        assert!(!trackway_domain::is_json_too_deep(&value));
    }
    let mut laughs = String::from("a0: &a0 [lol, lol]\n");
    for round in 1..40 {
        let before = round - 1;
        laughs += &format!("a{round}: &a{round} [*a{before}, *a{before}]\n");
    }
    assert!(refused(&laughs, FileFormat::Yaml).message.contains("aliases"));
    let mut deeper = String::from("a0: &a0 [x]\n");
    for round in 1..200 {
        deeper += &format!("a{round}: &a{round} [*a{}]\n", round - 1);
    }
    assert!(refused(&deeper, FileFormat::Yaml).message.contains("deeper"));
    check_refused(FileFormat::Yaml, "a: &a\n  b: *a\n", "/a/b", 2, "a part of");
    // Anchors alone: each keeps a copy of everything in it.
    let nested: String = (0..90).map(|level| format!("&a{level} [")).collect();
    let anchored = format!("{nested}\"{}\"{}", "x".repeat(FILE_BYTES_MAX / 2), "]".repeat(90));
    assert!(refused(&anchored, FileFormat::Yaml).message.contains("aliases"));
}

#[test]
fn numbers_that_would_change_are_refused() {
    check_refused(FileFormat::Json, "{\n\"a\": [1, 9007199254740993]}", "/a/1", 2, "not kept exactly");
    check_refused(FileFormat::Yaml, "a: 18446744073709551615", "/a", 1, "not kept exactly");
}

#[test]
fn an_alias_is_a_copy() {
    let located = parse_located("a: &a {b: [1]}\nc: *a\n", FileFormat::Yaml).expect("valid");
    assert_eq!(located.value, json!({ "a": { "b": [1] }, "c": { "b": [1] } }));
    assert_eq!(located.line_of_pointer("/c"), Some(2));
    // A fault inside a copy is fixed where the original is.
    assert_eq!(located.line_of_pointer("/c/b/0"), Some(1));
}

/// Checks the line of each part of a value that is written with one part per line.
fn check_lines(located: &LocatedValue, value: &Value, path: &str, line: &mut u32) {
    assert_eq!(located.line_of_pointer(path), Some(*line), "{path}");
    match value {
        Value::Array(items) if !items.is_empty() => {
            for (index, item) in items.iter().enumerate() {
                *line += 1;
                check_lines(located, item, &format!("{path}/{index}"), line);
            }
            *line += 1;
        }
        Value::Object(entries) if !entries.is_empty() => {
            for (key, entry) in entries {
                *line += 1;
                check_lines(located, entry, &format!("{path}{}", join_pointer([key.as_str()])), line);
            }
            *line += 1;
        }
        _ => {}
    }
}

proptest! {
    /// Proves T9: no text makes the reader panic, and every part of valid JSON has a line.
    #[test]
    fn no_text_panics(text in "[\\[\\]{}:,\"a\\\\\n \\-#&*!|>'0-9u]{0,60}") {
        let _ = parse_located(&text, FileFormat::Yaml);
        if let Ok(located) = parse_located(&text, FileFormat::Json) {
            prop_assert!(located.line_of_pointer("").is_some());
        }
    }

    /// Proves T9: for all JSON, the value is correct and the lines are right.
    #[test]
    fn every_place_has_its_line(
        // Numbers that are exact as doubles.
        value in any_json_strategy(
            prop_oneof![any::<i32>().prop_map(Value::from), (-1e9..1e9).prop_map(Value::from)],
            ".{0,8}",
            "[a/~\"\\\\é\n]{0,3}",
        )
    ) {
        let text = serde_json::to_string_pretty(&value).expect("JSON");
        let located = parse_located(&text, FileFormat::Json).expect("JSON");
        prop_assert_eq!(&located.value, &value);
        check_lines(&located, &value, "", &mut 1);
    }
}
