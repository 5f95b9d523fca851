//! The usage of model calls, for people.

use trackway::api::ModelUsageTotals;

/// The usage in one line.
pub(crate) fn format_usage(usage_totals: &ModelUsageTotals) -> String {
    let ModelUsageTotals { calls, input_tokens, output_tokens, cached_tokens, reasoning_tokens, cost } =
        usage_totals;
    let plural = if *calls == 1 { "" } else { "s" };
    let mut line = format!("{calls} model call{plural}, {input_tokens} tokens in");
    if *cached_tokens > 0 {
        line.push_str(&format!(" ({cached_tokens} cached)"));
    }
    line.push_str(&format!(", {output_tokens} out"));
    if *reasoning_tokens > 0 {
        line.push_str(&format!(" ({reasoning_tokens} for reasoning)"));
    }
    if let Some(cost) = cost {
        line.push_str(&format!(", cost {cost:.6}"));
    }
    line
}

/// The usage with the name of its owner.
pub(crate) fn format_named_usage(name: &str, usage_totals: &ModelUsageTotals) -> String {
    format!("{name}: {}", format_usage(usage_totals))
}
