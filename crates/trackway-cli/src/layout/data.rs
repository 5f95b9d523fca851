//! Data for people: a table if a list has rows, else an indented tree.

use serde_json::{Map, Value};

use super::{Detail, Rendered, clip, width_of, wrap};
use crate::text::printable;

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
pub(crate) fn render(value: &Value, width: usize, detail: Detail) -> Rendered {
    let mut tree = Tree { detail, clipped: false };
    let mut lines = tree.block(value, width, 0);
    if lines.len() > detail.lines_max {
        lines.truncate(detail.lines_max);
        lines.push("…".to_owned());
        tree.clipped = true;
    }
    Rendered { lines, clipped: tree.clipped }
}

/// A value in one line: `key: value, key: value`.
pub(crate) fn summary(value: &Value) -> String {
    match value {
        Value::Object(object) => {
            let pairs = object.iter().map(|(key, value)| format!("{key}: {}", plain(value)));
            printable(&pairs.collect::<Vec<_>>().join(", "))
        }
        other => plain(other),
    }
}

struct Tree {
    detail: Detail,
    clipped: bool,
}

impl Tree {
    fn block(&mut self, value: &Value, width: usize, depth: usize) -> Vec<String> {
        match value {
            Value::Object(object) if depth < DEPTH_MAX && !object.is_empty() => {
                self.object(object, width, depth)
            }
            Value::Array(items) if depth < DEPTH_MAX && !items.is_empty() => {
                self.array(items, width, depth)
            }
            scalar => wrap(&self.value(scalar), width),
        }
    }

    fn object(&mut self, object: &Map<String, Value>, width: usize, depth: usize) -> Vec<String> {
        let keys: Vec<String> =
            object.keys().map(|key| printable(key).replace('\n', " ")).collect();
        let inline = |value: &Value| is_inline(value, width);
        let entries = || keys.iter().zip(object.values());
        let column = entries()
            .filter(|(_, value)| inline(value))
            .map(|(key, _)| width_of(key))
            .filter(|width| *width <= KEY_MAX)
            .max()
            .unwrap_or(0);
        let mut lines = Vec::new();
        for (key, value) in entries().take(self.detail.entries_max) {
            if inline(value) {
                let value = self.value(value);
                lines.extend(hanging(key, column, &value, width));
            } else {
                lines.push(key.clone());
                let inner = self.block(value, width.saturating_sub(INDENT), depth + 1);
                lines.extend(inner.into_iter().map(|line| indented(&line)));
            }
        }
        self.note_rest(object.len(), &mut lines);
        lines
    }

    fn array(&mut self, items: &[Value], width: usize, depth: usize) -> Vec<String> {
        if let Some(table) = self.table(items, width) {
            return table;
        }
        let mut lines = Vec::new();
        for item in items.iter().take(self.detail.entries_max) {
            let inner = self.block(item, width.saturating_sub(INDENT), depth + 1);
            let marked = inner.iter().enumerate().map(|(at, line)| match at {
                0 => format!("- {line}"),
                _ => indented(line),
            });
            lines.extend(marked);
        }
        self.note_rest(items.len(), &mut lines);
        lines
    }

    /// Objects of plain values become rows, if the columns fit.
    fn table(&mut self, items: &[Value], width: usize) -> Option<Vec<String>> {
        let rows: Vec<&Map<String, Value>> =
            items.iter().map(Value::as_object).collect::<Option<_>>()?;
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
        let columns: Vec<Column> = names.iter().map(|name| Column::new(name, shown)).collect();
        let total = columns.iter().map(|column| column.width).sum::<usize>()
            + GAP.len() * (columns.len() - 1);
        if total > width || columns.iter().any(|column| column.width > self.detail.value_max) {
            return None;
        }
        let mut lines: Vec<String> = (0..=shown.len())
            .map(|row| {
                let cells = columns.iter().map(|column| column.cell(row));
                cells.collect::<Vec<_>>().join(GAP).trim_end().to_owned()
            })
            .collect();
        self.note_rest(rows.len(), &mut lines);
        Some(lines)
    }

    fn note_rest(&mut self, count: usize, lines: &mut Vec<String>) {
        if let Some(more) = count.checked_sub(self.detail.entries_max).filter(|more| *more > 0) {
            lines.push(format!("… {more} more"));
            self.clipped = true;
        }
    }

    fn value(&mut self, value: &Value) -> String {
        let (text, clipped) = clip(&plain(value), self.detail.value_max);
        self.clipped |= clipped;
        text
    }
}

/// One column of a table: its name and its cells.
struct Column {
    cells: Vec<String>,
    width: usize,
    is_numeric: bool,
}

impl Column {
    fn new(name: &str, rows: &[&Map<String, Value>]) -> Self {
        let values = || rows.iter().map(|row| row.get(name).unwrap_or(&Value::Null));
        let cell = |value: &Value| match value {
            Value::Null => String::new(),
            value => plain(value).replace('\n', " "),
        };
        let header = printable(name).replace('\n', " ");
        let cells: Vec<String> = std::iter::once(header).chain(values().map(cell)).collect();
        let width = cells.iter().map(|cell| width_of(cell)).max().unwrap_or(0);
        let is_numeric = values().all(|value| value.is_number() || value.is_null());
        Self { cells, width, is_numeric }
    }

    fn cell(&self, row: usize) -> String {
        let text = &self.cells[row];
        let pad = " ".repeat(self.width - width_of(text));
        if self.is_numeric { format!("{pad}{text}") } else { format!("{text}{pad}") }
    }
}

/// Whether a value is on the same line as its key.
fn is_inline(value: &Value, width: usize) -> bool {
    match value {
        Value::Object(object) => object.is_empty(),
        Value::Array(items) => {
            let is_flat = items.iter().all(|item| !item.is_object() && !item.is_array());
            is_flat && width_of(&plain(value)) <= width / 2
        }
        _ => true,
    }
}

/// A value for reading: strings without quotes, flat lists with commas.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => printable(text),
        Value::Array(items)
            if !items.is_empty()
                && items.iter().all(|item| !item.is_object() && !item.is_array()) =>
        {
            items.iter().map(plain).collect::<Vec<_>>().join(", ")
        }
        other => printable(&other.to_string()),
    }
}

/// A key and its value, with the wrapped lines of the value aligned.
fn hanging(key: &str, column: usize, value: &str, width: usize) -> Vec<String> {
    let column = column.max(width_of(key)) + GAP.len();
    let wrapped = wrap(value, width.saturating_sub(column).max(width / 3));
    let pad = " ".repeat(column);
    let first = format!("{key}{}", " ".repeat(column - width_of(key)));
    let lines = wrapped.iter().enumerate().map(|(at, line)| match at {
        0 => format!("{first}{line}").trim_end().to_owned(),
        _ => format!("{pad}{line}"),
    });
    lines.collect()
}

fn indented(line: &str) -> String {
    format!("{}{line}", " ".repeat(INDENT))
}
