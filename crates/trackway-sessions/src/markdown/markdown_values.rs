//! Values as Markdown: objects and rows as tables, lists as lists, everything else unchanged.

use serde_json::{Map, Value};

use super::embedded_markdown::wrap_in_code_fence;

/// Whether the value is too empty for a line.
pub(super) fn is_empty_value(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(fields) => fields.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::String(text) => text.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// A value as it was sent.
pub(super) fn format_json_block(value: &Value) -> String {
    wrap_in_code_fence(&format!("{value:#}"), "json")
}

/// The text of a string value.
pub(super) fn string_value_or_empty(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

pub(super) fn format_document_value(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let rows =
                fields.iter().map(|(field, value)| vec![escape_table_cell(field), format_table_cell(value)]);
            format_markdown_table(&["Field".to_owned(), "Value".to_owned()], rows)
        }
        Value::Array(items) if items.is_empty() => "(empty)".to_owned(),
        Value::Array(items) => match as_non_empty_objects(items) {
            Some(rows) => format_objects_as_table(&rows),
            None => items.iter().map(format_list_item).collect(),
        },
        other => format_plain_json_value(other),
    }
}

/// The items, if all of them have fields.
fn as_non_empty_objects(items: &[Value]) -> Option<Vec<&Map<String, Value>>> {
    items.iter().map(|item| item.as_object().filter(|fields| !fields.is_empty())).collect()
}

/// One column per field, in the order in which fields first appear.
fn format_objects_as_table(rows: &[&Map<String, Value>]) -> String {
    let mut columns: Vec<&String> = Vec::new();
    for field in rows.iter().flat_map(|row| row.keys()) {
        if !columns.contains(&field) {
            columns.push(field);
        }
    }
    let head: Vec<String> = columns.iter().map(|column| escape_table_cell(column)).collect();
    let cells = |row: &&Map<String, Value>| -> Vec<String> {
        columns.iter().map(|column| row.get(*column).map(format_table_cell).unwrap_or_default()).collect()
    };
    format_markdown_table(&head, rows.iter().map(cells))
}

fn format_markdown_table(head: &[String], rows: impl Iterator<Item = Vec<String>>) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let mut text = line(head);
    text.push_str(&line(&vec!["---".to_owned(); head.len()]));
    rows.for_each(|row| text.push_str(&line(&row)));
    text
}

fn format_list_item(value: &Value) -> String {
    // Later lines stay inside the item.
    format!("- {}\n", format_plain_json_value(value).replace('\n', "\n  "))
}

fn format_table_cell(value: &Value) -> String {
    escape_table_cell(&format_plain_json_value(value))
}

/// Text that ends neither its cell nor its row. Backslashes directly before a bar are doubled: otherwise
/// one of them would cancel the escape that keeps the bar inside the cell.
fn escape_table_cell(text: &str) -> String {
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

fn format_plain_json_value(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
