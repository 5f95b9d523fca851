//! Text for people: without control characters, shortened, in columns.

use serde_json::Value;
use trackway::api::{File, Part, PartContent};
use trackway_domain::ValidationError;

/// Characters of one part that are shown; the whole is in `--json`.
/// Limit (CLI): characters of one part that are shown; the whole is in `--json`.
const SHOWN_MAX: usize = 2_000;

/// The text without control characters for the terminal, because it may come from any source.
pub(crate) fn replace_control_chars(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() && c != '\n' && c != '\t' { char::REPLACEMENT_CHARACTER } else { c })
        .collect()
}

/// The problems of a value: one line for each problem, and one for its hint.
pub(crate) fn render_validation_errors(problems: &[ValidationError]) -> Vec<String> {
    let mut lines = Vec::new();
    for problem in problems {
        let path = if problem.path.is_empty() { "(the whole value)" } else { &problem.path };
        let mut line =
            format!("  {path}: {} (expected {}", problem.message, format_value_as_line(&problem.expected));
        if let Some(got) = &problem.got {
            line.push_str(&format!(", got {}", format_value_as_line(got)));
        }
        line.push(')');
        lines.push(replace_control_chars(&line));
        if let Some(hint) = &problem.hint {
            lines.push(replace_control_chars(&format!("    {hint}")));
        }
    }
    lines
}

/// A value in one line; a plain string has no quotes.
fn format_value_as_line(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    truncate_text(&text, 120)
}

/// The first characters of a text, with a mark where there were more.
pub(crate) fn truncate_text(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// Parts as indented lines.
pub(crate) fn render_indented_parts(parts: &[Part], indent: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for part in parts {
        let shown = match &part.content {
            PartContent::Text { text } => truncate_text(text, SHOWN_MAX),
            PartContent::Data { data } => truncate_text(&data.to_string(), SHOWN_MAX),
            PartContent::File { file } => format_file_label(file),
        };
        lines.extend(replace_control_chars(&shown).lines().map(|line| format!("{indent}{line}")));
    }
    lines
}

/// `1 error`, `2 errors`.
pub(crate) fn format_counted_noun(number: usize, singular_noun: &str) -> String {
    if number == 1 { format!("1 {singular_noun}") } else { format!("{number} {singular_noun}s") }
}

/// A file by what is known of it.
pub(crate) fn format_file_label(file: &File) -> String {
    let name = file.name.as_deref().unwrap_or("file");
    let kind = file.mime_type.as_deref().unwrap_or("unknown type");
    let uri = file.uri.as_deref().map(|uri| format!(", {uri}")).unwrap_or_default();
    format!("[{name}, {kind}{uri}]")
}

/// Rows in columns as wide as their widest cell; the last column is not padded.
pub(crate) fn align_table_columns(rows: &[Vec<String>]) -> Vec<String> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells =
            row.iter().zip(&widths).map(|(cell, width)| format!("{:<width$}", replace_control_chars(cell)));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

/// A time without its fraction, for tables.
pub(crate) fn strip_timestamp_fraction(text: &str) -> String {
    match text.split_once('.') {
        Some((seconds, _)) => format!("{seconds}Z"),
        None => text.to_owned(),
    }
}

/// An argument, quoted for a shell.
pub(crate) fn quote_for_shell(argument: &str) -> String {
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
        assert_eq!(replace_control_chars("a\x1b[2Jb\r\nc\td"), "a\u{fffd}[2Jb\u{fffd}\nc\td");
    }

    #[test]
    fn tables_align_and_arguments_are_quoted() {
        let rows = [vec!["A".into(), "B".into()], vec!["long".into(), "x".into()]];
        assert_eq!(align_table_columns(&rows), ["A     B", "long  x"]);
        assert_eq!(quote_for_shell("run_1"), "run_1");
        assert_eq!(quote_for_shell("it's"), r"'it'\''s'");
    }
}
