//! Rows, the table of them, and the file.

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use anyhow::Result;
use serde_json::{Value, json};

/// One figure.
#[derive(Debug)]
struct ReportRow {
    name: String,
    value: String,
    target: String,
    raw: Value,
}

/// All figures of one run.
#[derive(Debug)]
pub(crate) struct Report {
    selected_names: Vec<String>,
    /// Whether the run only tests the benches; its figures mean nothing.
    is_quick: bool,
    rows: Vec<ReportRow>,
}

/// Counts of a quick run: enough to execute every line of a row.
const QUICK_COUNT: usize = 20;

impl Report {
    pub(crate) fn new(wanted: Vec<String>, quick: bool) -> Self {
        Self { selected_names: wanted, is_quick: quick, rows: Vec::new() }
    }

    pub(crate) fn is_quick(&self) -> bool {
        self.is_quick
    }

    /// How many samples are taken.
    pub(crate) fn scaled_count(&self, full: usize) -> usize {
        if self.is_quick { full.min(QUICK_COUNT) } else { full }
    }

    /// Whether this row is to be measured.
    pub(crate) fn is_selected(&self, name: &str) -> bool {
        self.selected_names.is_empty() || self.selected_names.iter().any(|part| name.contains(part.as_str()))
    }

    pub(crate) fn add_row(&mut self, name: &str, value: String, target: &str, raw: Value) {
        let target = if self.is_quick { "" } else { target };
        eprintln!("{name}: {value}");
        self.rows.push(ReportRow { name: name.to_owned(), value, target: target.to_owned(), raw });
    }

    pub(crate) fn render_table(&self) -> String {
        let width = |column: fn(&ReportRow) -> &String| {
            self.rows.iter().map(|row| column(row).chars().count()).max().unwrap_or(0)
        };
        let (names, values) = (width(|row| &row.name), width(|row| &row.value));
        let line = |row: &ReportRow| {
            let (name, value, target) = (&row.name, &row.value, &row.target);
            format!("{name:<names$}  {value:<values$}  {target}\n")
        };
        self.rows.iter().map(line).collect()
    }

    /// Writes the rows as JSON next to the build's other output.
    pub(crate) fn write_json_file(&self) -> Result<PathBuf> {
        let rows: Vec<_> = self
            .rows
            .iter()
            .map(|row| json!({ "name": row.name, "value": row.value, "target": row.target, "raw": row.raw }))
            .collect();
        let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("bench.json");
        std::fs::write(&file, serde_json::to_string_pretty(&rows)?)?;
        Ok(file)
    }
}

/// How long each sample took, and all of them together.
#[derive(Debug)]
pub(crate) struct Timings {
    sorted: Vec<Duration>,
    pub(crate) wall: Duration,
}

impl Timings {
    pub(crate) fn new(mut each: Vec<Duration>, begun: Instant) -> Self {
        each.sort();
        Self { sorted: each, wall: begun.elapsed() }
    }

    pub(crate) fn per_second(&self) -> f64 {
        self.sorted.len() as f64 / self.wall.as_secs_f64()
    }

    pub(crate) fn percentile(&self, percent: usize) -> Duration {
        let last = self.sorted.len().saturating_sub(1);
        self.sorted.get(last * percent / 100).copied().unwrap_or_default()
    }

    pub(crate) fn format_summary(&self) -> String {
        let (p50, p99) = (self.percentile(50), self.percentile(99));
        format!("{:>8.0}/s  p50 {}  p99 {}", self.per_second(), format_ms(p50), format_ms(p99))
    }

    pub(crate) fn to_json(&self) -> Value {
        json!({
            "count": self.sorted.len(),
            "perSecond": self.per_second(),
            "p50Us": self.percentile(50).as_micros() as u64,
            "p99Us": self.percentile(99).as_micros() as u64,
        })
    }
}

pub(crate) fn format_ms(span: Duration) -> String {
    format!("{:.2} ms", span.as_secs_f64() * 1_000.0)
}
