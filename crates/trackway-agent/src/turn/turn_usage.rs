//! The usage of a turn, and the budgets that end it.

use std::{fmt, time::Duration};

use trackway_domain::Timestamp;

use crate::{
    TokenUsage, TurnBudgets,
    turn_record::{RecordedModelCall, SummaryCallUsage, UserWaitPeriod},
};

/// The usage of a turn so far.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnUsage {
    /// Answers so far, each the outcome of a step.
    pub calls: u32,
    /// How many of them did not come from a model.
    pub(super) given: u32,
    /// Tool calls that the model's answers made and that were allowed.
    pub tool_calls: u32,
    /// As the providers counted; none if no provider did.
    pub usage: Option<TokenUsage>,
    /// None if no model had a price.
    pub cost: Option<f64>,
    /// The label of the model that answered last.
    pub label: Option<String>,
    /// Input and output together, with estimates if a provider did not count.
    pub tokens: u64,
    pub(super) began: Timestamp,
    pub(super) latest: Timestamp,
    /// By their start.
    waits: Vec<UserWaitPeriod>,
}

impl TurnUsage {
    pub(super) fn usage_starting_at(started_at: Timestamp) -> Self {
        Self {
            calls: 0,
            given: 0,
            tool_calls: 0,
            usage: None,
            cost: None,
            label: None,
            tokens: 0,
            began: started_at,
            latest: started_at,
            waits: Vec::new(),
        }
    }

    /// Time from the start to the last input, without the time that the turn waited for people.
    pub fn active_turn_time(&self) -> Duration {
        self.latest.duration_since(self.began).saturating_sub(self.waited_for_user_time())
    }

    /// Overlapping waits count once.
    fn waited_for_user_time(&self) -> Duration {
        let (mut waited, mut until) = (Duration::ZERO, self.began);
        for wait in &self.waits {
            waited += wait.to.duration_since(wait.from.max(until));
            until = until.max(wait.to);
        }
        waited
    }

    pub(super) fn add_user_wait_periods(&mut self, waits: impl IntoIterator<Item = UserWaitPeriod>) {
        self.waits.extend(waits);
        self.waits.sort_unstable();
    }

    pub(super) fn advance_latest_time_to(&mut self, time: Timestamp) {
        self.latest = self.latest.max(time);
    }

    /// An answer that follows from a rule costs nothing except time.
    pub(super) fn count_synthetic_call(&mut self, recorded: &RecordedModelCall) {
        self.calls = self.calls.saturating_add(1);
        self.given = self.given.saturating_add(1);
        self.advance_latest_time_to(recorded.ended_at);
    }

    pub(super) fn count_model_answer(
        &mut self,
        recorded: &RecordedModelCall,
        estimate: impl FnOnce() -> TokenUsage,
    ) {
        self.calls = self.calls.saturating_add(1);
        self.label = Some(recorded.label.clone());
        self.advance_latest_time_to(recorded.ended_at);
        self.add_usage_and_cost(recorded.answer.usage, recorded.cost);
        let counted = recorded.answer.usage.unwrap_or_else(estimate);
        let tokens = counted.input_tokens.saturating_add(counted.output_tokens);
        self.tokens = self.tokens.saturating_add(tokens);
    }

    /// A model call for a summary. It is not a call of the turn, but it has a cost.
    pub(super) fn count_summary_call(&mut self, summary: &SummaryCallUsage) {
        self.add_usage_and_cost(summary.usage, summary.cost);
        let usage = summary.usage.unwrap_or_default();
        let tokens = usage.input_tokens.saturating_add(usage.output_tokens);
        self.tokens = self.tokens.saturating_add(tokens);
    }

    fn add_usage_and_cost(&mut self, usage: Option<TokenUsage>, cost: Option<f64>) {
        if let Some(cost) = cost.filter(|cost| cost.is_finite()) {
            self.cost = Some(self.cost.unwrap_or_default() + cost);
        }
        if let Some(usage) = usage {
            self.usage = Some(sum_token_usage(self.usage.unwrap_or_default(), usage));
        }
    }

    /// The first budget that is used up, if any.
    pub(super) fn first_reached_limit(&self, budgets: &TurnBudgets) -> Option<TurnLimit> {
        if self.calls.saturating_sub(self.given) >= budgets.calls {
            return Some(TurnLimit::Calls { max: budgets.calls });
        }
        if self.tool_calls >= budgets.tool_calls && budgets.tool_calls > 0 {
            return Some(TurnLimit::ToolCalls { max: budgets.tool_calls });
        }
        if let Some(max) = budgets.tokens.filter(|max| self.tokens >= *max) {
            return Some(TurnLimit::Tokens { max, used: self.tokens });
        }
        let seconds = self.active_turn_time().as_secs();
        if let Some(max) = budgets.seconds.filter(|max| seconds >= *max) {
            return Some(TurnLimit::Seconds { max, used: seconds });
        }
        let cost = self.cost?;
        let max = budgets.cost.filter(|max| cost >= *max)?;
        Some(TurnLimit::Cost { max, used: cost })
    }
}

fn sum_token_usage(a: TokenUsage, b: TokenUsage) -> TokenUsage {
    TokenUsage {
        input_tokens: a.input_tokens.saturating_add(b.input_tokens),
        output_tokens: a.output_tokens.saturating_add(b.output_tokens),
        cached_tokens: a.cached_tokens.saturating_add(b.cached_tokens),
        reasoning_tokens: a.reasoning_tokens.saturating_add(b.reasoning_tokens),
    }
}

/// A budget of the turn that is used up. It prints as a sentence for the user.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TurnLimit {
    Calls { max: u32 },
    ToolCalls { max: u32 },
    Tokens { max: u64, used: u64 },
    Seconds { max: u64, used: u64 },
    Cost { max: f64, used: f64 },
}

impl fmt::Display for TurnLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("I stopped: this turn may ")?;
        match self {
            Self::Calls { max: 1 } => f.write_str("make 1 model call and has made it."),
            Self::Calls { max } => write!(f, "make {max} model calls and has made them."),
            Self::ToolCalls { max: 1 } => f.write_str("make 1 tool call and has made it."),
            Self::ToolCalls { max } => write!(f, "make {max} tool calls and has made them."),
            Self::Tokens { max, used } => write!(f, "use {max} tokens and has used {used}."),
            Self::Seconds { max, used } => write!(f, "take {max} seconds and has taken {used}."),
            Self::Cost { max, used } => write!(f, "cost {max} and has cost {used:.4}."),
        }
    }
}
