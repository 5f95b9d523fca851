//! Content of every type, and content that is not what it says.

use serde_json::json;

use super::*;

fn value(media_type: &str, filename: &str, bytes: &[u8]) -> Result<Value, String> {
    content_as_value(media_type, filename, bytes).map_err(|error| error.to_string())
}

/// Proves I5 and I9: content by its type.
#[test]
fn content_is_read_by_its_type() {
    let table: [(&str, &str, &[u8], Value); 14] = [
        ("application/json", "a.json", b"{\"a\": [1, 2.5]}", json!({"a": [1, 2.5]})),
        ("application/vnd.api+json; charset=utf-8", "a", b"17", json!(17)),
        ("application/json", "a", b"\xef\xbb\xbf{}", json!({})),
        ("application/x-ndjson", "a", b"{\"a\":1}\n\n2\n", json!([{"a": 1}, 2])),
        ("application/yaml", "a", b"a: 1\nb: [x, true]\n", json!({"a": 1, "b": ["x", true]})),
        ("text/csv", "a.csv", b"name,age\nAnn,7\n", json!({"rows": [{"name": "Ann", "age": "7"}]})),
        ("text/csv", "a.csv", b"name\n", json!({"rows": []})),
        ("text/markdown", "a.md", b"# T", json!("# T")),
        ("text/plain", "a.json", b"{}", json!("{}")),
        ("", "a.json", b"{}", json!({})),
        ("application/octet-stream", "a.csv", b"n\nx", json!({"rows": [{"n": "x"}]})),
        ("application/octet-stream", "a", b"plain", json!("plain")),
        ("IMAGE/PNG", "a.png", b"\x89P", json!({"name": "a.png", "mimeType": "IMAGE/PNG", "bytes": "iVA="})),
        ("text/plain", "a", b"", json!("")),
    ];
    for (media_type, filename, bytes, expected) in table {
        assert_eq!(value(media_type, filename, bytes), Ok(expected), "{media_type} {filename}");
    }
}

/// Proves I9 and X5: content that is not what it says is refused with its place, and never panics.
#[test]
fn malformed_content_is_refused() {
    let deep_json = "[".repeat(5_000);
    let deep = format!("{}{}", "[".repeat(110), "]".repeat(110));
    let large = vec![b'a'; VALUE_BYTES_MAX + 1];
    let table: [(&str, &[u8], &str); 9] = [
        ("application/json", b"{\"a\": }", "not valid JSON: expected value at line 1"),
        ("application/json", b"", "not valid JSON: EOF"),
        ("application/json", b"{} x", "not valid JSON: trailing"),
        ("application/json", deep_json.as_bytes(), "not valid JSON: recursion limit"),
        ("application/json", deep.as_bytes(), "nested too deeply"),
        ("application/yaml", b"a: [1", "not valid YAML"),
        ("text/plain", b"\xff", "not valid UTF-8"),
        ("text/csv", b"a,b\n1\n", "not valid CSV"),
        ("text/plain", &large, "it may have 8388608"),
    ];
    for (media_type, bytes, expected) in table {
        let error = value(media_type, "a", bytes).unwrap_err();
        assert!(error.contains(expected), "{media_type}: {error}");
    }
}

/// Proves X5: a small file must not become an endless value.
#[test]
fn yaml_that_repeats_itself_is_refused() {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let item = format!("*a{}", level - 1);
        text.push_str(&format!("a{level}: &a{level} [{}]\n", [item.as_str(); 10].join(", ")));
    }
    assert!(value("application/yaml", "a.yaml", text.as_bytes()).is_err());
}
