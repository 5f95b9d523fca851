//! Text for people: without control characters, shortened, in columns.

use serde_json::Value;
use trackway::api::{File, Part, PartContent};
use trackway_domain::Problem;

/// Characters of one part that are shown; the whole is in `--json`.
/// Limit (CLI): characters of one part that are shown; the whole is in `--json`.
const SHOWN_MAX: usize = 2_000;

/// The text without control characters for the terminal, because it may come from any source.
pub(crate) fn printable(text: &str) -> String {
    text.chars()
        .map(
            |c| {
                if c.is_control() && c != '\n' && c != '\t' {
                    char::REPLACEMENT_CHARACTER
                } else {
                    c
                }
            },
        )
        .collect()
}

/// The problems of a value: one line for each problem, and one for its hint.
pub(crate) fn problems(problems: &[Problem]) -> Vec<String> {
    let mut lines = Vec::new();
    for problem in problems {
        let path = if problem.path.is_empty() { "(the whole value)" } else { &problem.path };
        let mut line =
            format!("  {path}: {} (expected {}", problem.message, short(&problem.expected));
        if let Some(got) = &problem.got {
            line.push_str(&format!(", got {}", short(got)));
        }
        line.push(')');
        lines.push(printable(&line));
        if let Some(hint) = &problem.hint {
            lines.push(printable(&format!("    {hint}")));
        }
    }
    lines
}

/// A value in one line; a plain string has no quotes.
fn short(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    cut(&text, 120)
}

/// The first characters of a text, with a mark where there were more.
pub(crate) fn cut(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// Parts as indented lines.
pub(crate) fn parts(parts: &[Part], indent: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for part in parts {
        let shown = match &part.content {
            PartContent::Text { text } => cut(text, SHOWN_MAX),
            PartContent::Data { data } => cut(&data.to_string(), SHOWN_MAX),
            PartContent::File { file } => file_label(file),
        };
        lines.extend(printable(&shown).lines().map(|line| format!("{indent}{line}")));
    }
    lines
}

/// `1 error`, `2 errors`.
pub(crate) fn counted(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

/// A file by what is known of it.
pub(crate) fn file_label(file: &File) -> String {
    let name = file.name.as_deref().unwrap_or("file");
    let kind = file.mime_type.as_deref().unwrap_or("unknown type");
    let uri = file.uri.as_deref().map(|uri| format!(", {uri}")).unwrap_or_default();
    format!("[{name}, {kind}{uri}]")
}

/// Rows in columns as wide as their widest cell; the last column is not padded.
pub(crate) fn table(rows: &[Vec<String>]) -> Vec<String> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells =
            row.iter().zip(&widths).map(|(cell, width)| format!("{:<width$}", printable(cell)));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

/// A time without its fraction, for tables.
pub(crate) fn moment(text: &str) -> String {
    match text.split_once('.') {
        Some((seconds, _)) => format!("{seconds}Z"),
        None => text.to_owned(),
    }
}

/// An argument, quoted for a shell.
pub(crate) fn quoted(argument: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@".contains(c);
    if !argument.is_empty() && argument.chars().all(plain) {
        argument.to_owned()
    } else {
        format!("'{}'", argument.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves X5.
    #[test]
    fn text_from_elsewhere_cannot_steer_the_terminal() {
        assert_eq!(printable("a\x1b[2Jb\r\nc\td"), "a\u{fffd}[2Jb\u{fffd}\nc\td");
    }

    #[test]
    fn tables_align_and_arguments_are_quoted() {
        let rows = [vec!["A".into(), "B".into()], vec!["long".into(), "x".into()]];
        assert_eq!(table(&rows), ["A     B", "long  x"]);
        assert_eq!(quoted("run_1"), "run_1");
        assert_eq!(quoted("it's"), r"'it'\''s'");
    }
}
