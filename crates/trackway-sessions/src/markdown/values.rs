//! Values as Markdown: objects and rows as tables, lists as lists, the rest as it stands.

use serde_json::{Map, Value};

use super::source::fenced;

/// Nothing worth a line of its own.
pub(super) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(fields) => fields.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::String(text) => text.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// A value as it was sent.
pub(super) fn block(value: &Value) -> String {
    fenced(&format!("{value:#}"), "json")
}

/// The text of a value that is one.
pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

pub(super) fn document(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let rows = fields.iter().map(|(field, value)| vec![cell_text(field), cell(value)]);
            table(&["Field".to_owned(), "Value".to_owned()], rows)
        }
        Value::Array(items) if items.is_empty() => "(empty)".to_owned(),
        Value::Array(items) => match objects(items) {
            Some(rows) => rows_table(&rows),
            None => items.iter().map(item).collect(),
        },
        other => plain(other),
    }
}

/// The items, where all of them have fields.
fn objects(items: &[Value]) -> Option<Vec<&Map<String, Value>>> {
    items.iter().map(|item| item.as_object().filter(|fields| !fields.is_empty())).collect()
}

/// One column per field, in the order in which fields first appear.
fn rows_table(rows: &[&Map<String, Value>]) -> String {
    let mut columns: Vec<&String> = Vec::new();
    for field in rows.iter().flat_map(|row| row.keys()) {
        if !columns.contains(&field) {
            columns.push(field);
        }
    }
    let head: Vec<String> = columns.iter().map(|column| cell_text(column)).collect();
    let cells = |row: &&Map<String, Value>| -> Vec<String> {
        columns.iter().map(|column| row.get(*column).map(cell).unwrap_or_default()).collect()
    };
    table(&head, rows.iter().map(cells))
}

fn table(head: &[String], rows: impl Iterator<Item = Vec<String>>) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let mut text = line(head);
    text.push_str(&line(&vec!["---".to_owned(); head.len()]));
    rows.for_each(|row| text.push_str(&line(&row)));
    text
}

fn item(value: &Value) -> String {
    // Lines after the first stay inside the item.
    format!("- {}\n", plain(value).replace('\n', "\n  "))
}

fn cell(value: &Value) -> String {
    cell_text(&plain(value))
}

/// Text that ends neither its cell nor its row. Backslashes right before a bar are doubled with it:
/// one of them would otherwise take away the mark that keeps the bar inside.
fn cell_text(text: &str) -> String {
    let mut cell = String::with_capacity(text.len());
    let mut slashes = 0;
    for letter in text.chars() {
        if letter == '|' {
            cell.push_str(&"\\".repeat(slashes + 1));
        }
        cell.push(letter);
        slashes = if letter == '\\' { slashes + 1 } else { 0 };
    }
    cell.lines().collect::<Vec<_>>().join("<br>")
}

fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
