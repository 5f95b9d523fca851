//! The usage of model calls: a pure projection of a run's events, which can be added up over sessions
//! and agents.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use trackway_domain::{Event, OpKind, StepOutcome};

use crate::{
    TokenUsage,
    turn_record::{COMPACT_KEY, CompactedHistory, MODEL_KEY, REPLY_LABEL, RecordedModelCall},
};

/// The total of a number of model calls.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelUsageTotals {
    /// Model calls that were answered.
    pub calls: u64,
    /// Tokens as the providers counted them; a call whose provider does not count adds none.
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// The part of the input that the provider had cached.
    #[serde(default)]
    pub cached_tokens: u64,
    /// The part of the output that is not visible.
    #[serde(default)]
    pub reasoning_tokens: u64,
    /// In the currency of the prices; absent if no model had a price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

/// The same, with a total for each model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelUsageReport {
    #[serde(flatten)]
    pub total: ModelUsageTotals,
    /// By the label of the model.
    pub models: BTreeMap<String, ModelUsageTotals>,
}

impl ModelUsageTotals {
    pub fn add_totals(&mut self, other: &Self) {
        self.calls = self.calls.saturating_add(other.calls);
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.cached_tokens = self.cached_tokens.saturating_add(other.cached_tokens);
        self.reasoning_tokens = self.reasoning_tokens.saturating_add(other.reasoning_tokens);
        if let Some(cost) = other.cost {
            self.cost = Some(self.cost.unwrap_or_default() + cost);
        }
    }

    fn totals_of_single_call(usage: Option<TokenUsage>, cost: Option<f64>) -> Self {
        let usage = usage.unwrap_or_default();
        Self {
            calls: 1,
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            cached_tokens: usage.cached_tokens,
            reasoning_tokens: usage.reasoning_tokens,
            cost: cost.filter(|cost| cost.is_finite()),
        }
    }
}

impl ModelUsageReport {
    /// The usage in the events of a run; none if no model was called.
    pub fn report_from_events<'a>(events: impl IntoIterator<Item = &'a Event>) -> Option<Self> {
        let mut bill = Self::default();
        for (label, spent) in events.into_iter().filter_map(model_usage_of_event) {
            bill.total.add_totals(&spent);
            bill.models.entry(label).or_default().add_totals(&spent);
        }
        (bill.total.calls > 0).then_some(bill)
    }

    pub fn merge_usage_report(&mut self, other: &Self) {
        self.total.add_totals(&other.total);
        for (label, spent) in &other.models {
            self.models.entry(label.clone()).or_default().add_totals(spent);
        }
    }
}

/// The model call in an event, and its usage.
pub fn model_usage_of_event(event: &Event) -> Option<(String, ModelUsageTotals)> {
    let Event::StepDone { op, outcome: StepOutcome::Ok(value) } = event else { return None };
    let (label, usage, cost) = match &*op.key {
        _ if op.kind != OpKind::Step => return None,
        MODEL_KEY => {
            let recorded = RecordedModelCall::from_value(value).ok()?;
            (recorded.label, recorded.answer.usage, recorded.cost)
        }
        COMPACT_KEY => {
            let usage = CompactedHistory::from_value(value).ok()?.summary_usage?;
            (usage.label, usage.usage, usage.cost)
        }
        _ => return None,
    };
    (label != REPLY_LABEL).then(|| (label, ModelUsageTotals::totals_of_single_call(usage, cost)))
}

#[cfg(test)]
mod tests;
