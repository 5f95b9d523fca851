//! Numbers by name and labels, and the text that Prometheus reads
//! (<https://prometheus.io/docs/instrumenting/exposition_formats/>).

use std::{collections::BTreeMap, fmt::Write as _};

/// Rows of one family. Some tool names come from models, which may invent them: further names share one
/// row.
/// Limit (HTTP): rows of one metric.
const ROWS_MAX: usize = 1_000;

/// The label value of that shared row.
const OTHER: &str = "other";

/// Upper bounds of token counts, from the GenAI conventions.
const BOUNDS: [f64; 14] = [
    1.0,
    4.0,
    16.0,
    64.0,
    256.0,
    1_024.0,
    4_096.0,
    16_384.0,
    65_536.0,
    262_144.0,
    1_048_576.0,
    4_194_304.0,
    16_777_216.0,
    67_108_864.0,
];

/// A number with a name.
#[derive(Debug, Clone, Copy)]
pub(super) struct MetricFamily {
    name: &'static str,
    help: &'static str,
    kind: MetricKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MetricKind {
    Counter,
    /// The current value, not a sum over time.
    Gauge,
    Histogram,
}

impl MetricFamily {
    pub(super) const fn counter(name: &'static str, help: &'static str) -> Self {
        Self { name, help, kind: MetricKind::Counter }
    }

    pub(super) const fn gauge(name: &'static str, help: &'static str) -> Self {
        Self { name, help, kind: MetricKind::Gauge }
    }

    pub(super) const fn histogram(name: &'static str, help: &'static str) -> Self {
        Self { name, help, kind: MetricKind::Histogram }
    }
}

/// All numbers.
#[derive(Debug, Default)]
pub(super) struct MetricTable {
    families: BTreeMap<&'static str, BTreeMap<String, MetricRow>>,
}

/// The sum of the values, their count, and the count within each bound.
#[derive(Debug, Default)]
struct MetricRow {
    sum: f64,
    count: u64,
    buckets: [u64; BOUNDS.len()],
}

impl MetricTable {
    pub(super) fn observe_value(&mut self, family: &MetricFamily, labels: &[(&str, &str)], value: f64) {
        let rows = self.families.entry(family.name).or_default();
        let mut key = render_metric_labels(labels);
        if !rows.contains_key(&key) && rows.len() >= ROWS_MAX {
            let others: Vec<_> = labels.iter().map(|(name, _)| (*name, OTHER)).collect();
            key = render_metric_labels(&others);
        }
        let row = rows.entry(key).or_default();
        row.sum += value;
        row.count += 1;
        for (within, bound) in row.buckets.iter_mut().zip(BOUNDS) {
            *within += u64::from(value <= bound);
        }
    }

    /// Removes the rows of a family, before a gauge is filled again.
    pub(super) fn clear_metric_family(&mut self, family: &MetricFamily) {
        self.families.remove(family.name);
    }

    pub(super) fn render_metric_families(&self, families: &[MetricFamily]) -> String {
        let mut text = String::new();
        for MetricFamily { name, help, kind } in families {
            let shown = match kind {
                MetricKind::Counter => "counter",
                MetricKind::Gauge => "gauge",
                MetricKind::Histogram => "histogram",
            };
            // Writing to a string cannot fail.
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {shown}");
            for (labels, row) in self.families.get(name).into_iter().flatten() {
                let _ = match kind {
                    MetricKind::Counter | MetricKind::Gauge => {
                        writeln!(text, "{name}{{{labels}}} {}", row.sum)
                    }
                    MetricKind::Histogram => {
                        writeln!(text, "{}", row.render_histogram_row(name, labels))
                    }
                };
            }
        }
        text
    }
}

impl MetricRow {
    fn render_histogram_row(&self, name: &str, labels: &str) -> String {
        let bucket = |bound: &str, count| format!("{name}_bucket{{{labels},le=\"{bound}\"}} {count}\n");
        let within = BOUNDS.iter().zip(self.buckets);
        let mut text: String = within.map(|(bound, count)| bucket(&bound.to_string(), count)).collect();
        text.push_str(&bucket("+Inf", self.count));
        text.push_str(&format!("{name}_sum{{{labels}}} {}\n", self.sum));
        text.push_str(&format!("{name}_count{{{labels}}} {}", self.count));
        text
    }
}

fn render_metric_labels(labels: &[(&str, &str)]) -> String {
    let one = |(name, value): &(&str, &str)| {
        let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        format!("{name}=\"{value}\"")
    };
    labels.iter().map(one).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves X7: the text has the form that Prometheus reads, whatever a name holds.
    #[test]
    fn renders_prometheus_text() {
        let calls = MetricFamily::counter("calls_total", "Calls.");
        let tokens = MetricFamily::histogram("tokens", "Tokens.");
        let mut table = MetricTable::default();
        table.observe_value(&calls, &[("tool", "a\"b\\\n")], 1.0);
        table.observe_value(&calls, &[("tool", "a\"b\\\n")], 1.0);
        table.observe_value(&tokens, &[("type", "input")], 5.0);
        let text = table.render_metric_families(&[calls, tokens]);
        assert!(text.starts_with("# HELP calls_total Calls.\n# TYPE calls_total counter\n"));
        assert!(text.contains("calls_total{tool=\"a\\\"b\\\\\\n\"} 2\n"), "{text}");
        assert!(text.contains("tokens_bucket{type=\"input\",le=\"4\"} 0\n"), "{text}");
        assert!(text.contains("tokens_bucket{type=\"input\",le=\"16\"} 1\n"), "{text}");
        assert!(text.ends_with("tokens_sum{type=\"input\"} 5\ntokens_count{type=\"input\"} 1\n"));
    }

    /// Proves X5: invented names do not make the table grow without bound.
    #[test]
    fn rows_of_a_metric_are_limited() {
        let calls = MetricFamily::counter("calls_total", "Calls.");
        let mut table = MetricTable::default();
        for tool in 0..ROWS_MAX + 7 {
            table.observe_value(&calls, &[("tool", &tool.to_string())], 1.0);
        }
        let text = table.render_metric_families(&[calls]);
        assert_eq!(text.lines().count(), 2 + ROWS_MAX + 1);
        assert!(text.contains("calls_total{tool=\"other\"} 7\n"));
    }
}
