//! Tables with each separator, and tables that are refused.

use serde_json::json;

use super::*;

/// Proves I5: the same table with each separator.
#[test]
fn separators_are_guessed() {
    let table = [
        "name,note\nAnn,\"a;b\nc\"\n",
        "name;note\nAnn;\"a;b\nc\"\n",
        "name\tnote\r\nAnn\t\"a;b\nc\"",
        "\n\nname,note\n\nAnn,\"a;b\nc\"\n\n",
    ];
    for text in table {
        assert_eq!(parse_csv_rows(text).unwrap(), [json!({"name": "Ann", "note": "a;b\nc"})], "{text:?}");
    }
    let ragged = parse_csv_rows("one\nx,y\n").unwrap_err().to_string();
    assert!(ragged.contains("line: 2"), "{ragged}");
    assert_eq!(parse_csv_rows("\"a,b\";c\n1;2\n").unwrap(), [json!({"a,b": "1", "c": "2"})]);
    assert_eq!(parse_csv_rows("only\nx\n").unwrap(), [json!({"only": "x"})]);
    assert!(parse_csv_rows("").unwrap().is_empty());
}

/// Proves X5: tables that would lose values, or grow without end, are refused.
#[test]
fn bad_tables_are_refused() {
    let wide = (0..=COLUMNS_MAX).map(|number| format!("c{number}")).collect::<Vec<_>>().join(",");
    let tall = format!("n\n{}", "1\n".repeat(ROWS_MAX + 1));
    let long_name = format!("{}\n{}", "n".repeat(1 << 20), "1\n".repeat(64));
    let table = [
        ("a,a\n1,2\n".to_owned(), "column 2 has the same name"),
        ("a,,c\n1,2,3\n".to_owned(), "column 2 has no name"),
        ("a,b\n1,2,3\n".to_owned(), "CSV error"),
        (wide, "columns would have more than 1000"),
        (tall, "rows would have more than 100000"),
        (long_name, "bytes would have more than"),
    ];
    for (text, expected) in table {
        let error = parse_csv_rows(&text).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}
