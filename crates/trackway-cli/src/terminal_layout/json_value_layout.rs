//! Data for people: a table if a list has rows, else an indented tree.

use serde_json::{Map, Value};

use super::{RenderLimits, RenderedLines, clip_text, display_width, wrap_text};
use crate::text_format::replace_control_chars;

/// Columns by which each level of a tree is indented.
const INDENT: usize = 2;
/// Limit (CLI): levels of data that are laid out; what is deeper is shown as JSON.
const DEPTH_MAX: usize = 12;
/// Limit (CLI): columns of a table.
const COLUMNS_MAX: usize = 8;
/// Limit (CLI): columns of a key, beyond which values do not line up with it.
const KEY_MAX: usize = 24;
/// The space between columns.
const GAP: &str = "  ";

/// A value as lines of at most `width` columns, unless a word is longer.
pub(crate) fn render_json_value(value: &Value, width: usize, detail: RenderLimits) -> RenderedLines {
    let mut tree = JsonValueRenderer { detail, clipped: false };
    let mut lines = tree.render_value_block(value, width, 0);
    if lines.len() > detail.lines_max {
        lines.truncate(detail.lines_max);
        lines.push("…".to_owned());
        tree.clipped = true;
    }
    RenderedLines { lines, clipped: tree.clipped }
}

/// A value in one line: `key: value, key: value`.
pub(crate) fn summarize_json_value(value: &Value) -> String {
    match value {
        Value::Object(object) => {
            let pairs = object.iter().map(|(key, value)| format!("{key}: {}", format_plain_value(value)));
            replace_control_chars(&pairs.collect::<Vec<_>>().join(", "))
        }
        other => format_plain_value(other),
    }
}

struct JsonValueRenderer {
    detail: RenderLimits,
    clipped: bool,
}

impl JsonValueRenderer {
    fn render_value_block(&mut self, value: &Value, width: usize, depth: usize) -> Vec<String> {
        match value {
            Value::Object(object) if depth < DEPTH_MAX && !object.is_empty() => {
                self.render_object(object, width, depth)
            }
            Value::Array(items) if depth < DEPTH_MAX && !items.is_empty() => {
                self.render_array(items, width, depth)
            }
            scalar => wrap_text(&self.format_clipped_scalar(scalar), width),
        }
    }

    fn render_object(&mut self, object: &Map<String, Value>, width: usize, depth: usize) -> Vec<String> {
        let keys: Vec<String> =
            object.keys().map(|key| replace_control_chars(key).replace('\n', " ")).collect();
        let inline = |value: &Value| fits_on_line_of_key(value, width);
        let entries = || keys.iter().zip(object.values());
        let column = entries()
            .filter(|(_, value)| inline(value))
            .map(|(key, _)| display_width(key))
            .filter(|width| *width <= KEY_MAX)
            .max()
            .unwrap_or(0);
        let mut lines = Vec::new();
        for (key, value) in entries().take(self.detail.entries_max) {
            if inline(value) {
                let value = self.format_clipped_scalar(value);
                lines.extend(render_key_and_value(key, column, &value, width));
            } else {
                lines.push(key.clone());
                let inner = self.render_value_block(value, width.saturating_sub(INDENT), depth + 1);
                lines.extend(inner.into_iter().map(|line| indent_line(&line)));
            }
        }
        self.note_omitted_entries(object.len(), &mut lines);
        lines
    }

    fn render_array(&mut self, items: &[Value], width: usize, depth: usize) -> Vec<String> {
        if let Some(table) = self.render_array_as_table(items, width) {
            return table;
        }
        let mut lines = Vec::new();
        for item in items.iter().take(self.detail.entries_max) {
            let inner = self.render_value_block(item, width.saturating_sub(INDENT), depth + 1);
            let marked = inner.iter().enumerate().map(|(at, line)| match at {
                0 => format!("- {line}"),
                _ => indent_line(line),
            });
            lines.extend(marked);
        }
        self.note_omitted_entries(items.len(), &mut lines);
        lines
    }

    /// Objects of plain values become rows, if the columns fit.
    fn render_array_as_table(&mut self, items: &[Value], width: usize) -> Option<Vec<String>> {
        let rows: Vec<&Map<String, Value>> = items.iter().map(Value::as_object).collect::<Option<_>>()?;
        let mut names: Vec<&String> = Vec::new();
        for (name, value) in rows.iter().flat_map(|row| row.iter()) {
            if value.is_object() || value.is_array() {
                return None;
            }
            if !names.contains(&name) {
                names.push(name);
            }
            if names.len() > COLUMNS_MAX {
                return None;
            }
        }
        if names.is_empty() {
            return None;
        }
        let shown = &rows[..rows.len().min(self.detail.entries_max)];
        let columns: Vec<TableColumn> = names.iter().map(|name| TableColumn::new(name, shown)).collect();
        let total =
            columns.iter().map(|column| column.width).sum::<usize>() + GAP.len() * (columns.len() - 1);
        if total > width || columns.iter().any(|column| column.width > self.detail.value_max) {
            return None;
        }
        let mut lines: Vec<String> = (0..=shown.len())
            .map(|row| {
                let cells = columns.iter().map(|column| column.padded_cell(row));
                cells.collect::<Vec<_>>().join(GAP).trim_end().to_owned()
            })
            .collect();
        self.note_omitted_entries(rows.len(), &mut lines);
        Some(lines)
    }

    fn note_omitted_entries(&mut self, count: usize, lines: &mut Vec<String>) {
        if let Some(more) = count.checked_sub(self.detail.entries_max).filter(|more| *more > 0) {
            lines.push(format!("… {more} more"));
            self.clipped = true;
        }
    }

    fn format_clipped_scalar(&mut self, value: &Value) -> String {
        let (text, clipped) = clip_text(&format_plain_value(value), self.detail.value_max);
        self.clipped |= clipped;
        text
    }
}

/// One column of a table: its name and its cells.
struct TableColumn {
    cells: Vec<String>,
    width: usize,
    is_numeric: bool,
}

impl TableColumn {
    fn new(name: &str, rows: &[&Map<String, Value>]) -> Self {
        let values = || rows.iter().map(|row| row.get(name).unwrap_or(&Value::Null));
        let cell = |value: &Value| match value {
            Value::Null => String::new(),
            value => format_plain_value(value).replace('\n', " "),
        };
        let header = replace_control_chars(name).replace('\n', " ");
        let cells: Vec<String> = std::iter::once(header).chain(values().map(cell)).collect();
        let width = cells.iter().map(|cell| display_width(cell)).max().unwrap_or(0);
        let is_numeric = values().all(|value| value.is_number() || value.is_null());
        Self { cells, width, is_numeric }
    }

    fn padded_cell(&self, row: usize) -> String {
        let text = &self.cells[row];
        let pad = " ".repeat(self.width - display_width(text));
        if self.is_numeric { format!("{pad}{text}") } else { format!("{text}{pad}") }
    }
}

/// Whether a value is on the same line as its key.
fn fits_on_line_of_key(value: &Value, width: usize) -> bool {
    match value {
        Value::Object(object) => object.is_empty(),
        Value::Array(items) => {
            let is_flat = items.iter().all(|item| !item.is_object() && !item.is_array());
            is_flat && display_width(&format_plain_value(value)) <= width / 2
        }
        _ => true,
    }
}

/// A value for reading: strings without quotes, flat lists with commas.
fn format_plain_value(value: &Value) -> String {
    match value {
        Value::String(text) => replace_control_chars(text),
        Value::Array(items)
            if !items.is_empty() && items.iter().all(|item| !item.is_object() && !item.is_array()) =>
        {
            items.iter().map(format_plain_value).collect::<Vec<_>>().join(", ")
        }
        other => replace_control_chars(&other.to_string()),
    }
}

/// A key and its value, with the wrapped lines of the value aligned.
fn render_key_and_value(key: &str, column: usize, value: &str, width: usize) -> Vec<String> {
    let column = column.max(display_width(key)) + GAP.len();
    let wrapped = wrap_text(value, width.saturating_sub(column).max(width / 3));
    let pad = " ".repeat(column);
    let first = format!("{key}{}", " ".repeat(column - display_width(key)));
    let lines = wrapped.iter().enumerate().map(|(at, line)| match at {
        0 => format!("{first}{line}").trim_end().to_owned(),
        _ => format!("{pad}{line}"),
    });
    lines.collect()
}

fn indent_line(line: &str) -> String {
    format!("{}{line}", " ".repeat(INDENT))
}
