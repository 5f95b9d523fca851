//! Steps that are skipped because a fact was never sent. They are reported, so that they are not missed
//! silently.

use trackway_domain::{BlockReason, GuidedRunWarning, InputRequirement};

use super::{WalkDriver, Walker};
use crate::{condition, model::Condition};

/// Limit (Definitions): steps, and facts, that one `condition-unset` warning names.
const NAMED_MAX: usize = 16;

/// A step that was skipped, or a loop that continues, because facts are missing.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct UndecidedStep {
    step: String,
    facts: Vec<String>,
    outcome: UndecidedOutcome,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UndecidedOutcome {
    Skipped,
    ExtraRound,
}

impl Walker<'_> {
    /// Notes a step whose condition does not hold, if an unset fact could change that.
    pub(super) fn note_skipped_step(&mut self, step: &str, condition: &Condition) {
        let facts = condition::unset_names_in_condition(condition, &self.context);
        self.push_undecided_step(step, facts, UndecidedOutcome::Skipped);
    }

    /// Notes a loop that continues after a round because the fact that would end it is not set.
    pub(super) fn note_undecided_extra_round(&mut self, step: &str, facts: Vec<String>) {
        self.push_undecided_step(step, facts, UndecidedOutcome::ExtraRound);
    }

    fn push_undecided_step(&mut self, step: &str, facts: Vec<String>, outcome: UndecidedOutcome) {
        let known = self.undecided.iter().any(|one| one.step == step && one.outcome == outcome);
        if self.mode == WalkDriver::Caller && !facts.is_empty() && !known {
            self.undecided.push(UndecidedStep { step: step.to_owned(), facts, outcome });
        }
    }

    /// A block for something that the context lacks, with the step that needs it: the caller answers another
    /// step, and would otherwise look for it there.
    pub(crate) fn add_step_name_to_block(&self, step: &str, mut block: BlockReason) -> BlockReason {
        if self.mode == WalkDriver::Caller && block.code.starts_with("context-") {
            let named = format!("`{step}`");
            let silent = |need: &&mut InputRequirement| !need.message.contains(&named);
            for need in block.needs.iter_mut().filter(silent) {
                need.message = format!("{} (the step `{step}` needs it)", need.message.trim_end());
            }
            if let Some(first) = block.needs.first() {
                block.message.clone_from(&first.message);
            }
        }
        block
    }
}

/// One warning for all of them.
pub(super) fn undecided_steps_warning(undecided_steps: &[UndecidedStep]) -> Option<GuidedRunWarning> {
    let of = |outcome: UndecidedOutcome| -> Vec<&str> {
        let steps = undecided_steps.iter().filter(move |one| one.outcome == outcome);
        steps.map(|one| one.step.as_str()).collect()
    };
    let mut facts: Vec<&str> = Vec::new();
    for fact in undecided_steps.iter().flat_map(|one| &one.facts) {
        if !facts.contains(&fact.as_str()) {
            facts.push(fact);
        }
    }
    let is = if facts.len() == 1 { "is" } else { "are" };
    let mut message = Vec::new();
    let (left_out, goes_on) = (of(UndecidedOutcome::Skipped), of(UndecidedOutcome::ExtraRound));
    if !left_out.is_empty() {
        message.push(format!(
            "left out because {} {is} not set: {}",
            format_limited_name_list(&facts),
            format_limited_name_list(&left_out)
        ));
    }
    if !goes_on.is_empty() {
        message.push(format!(
            "another round because {} {is} not set: {}",
            format_limited_name_list(&facts),
            format_limited_name_list(&goes_on)
        ));
    }
    if message.is_empty() {
        return None;
    }
    let message = format!(
        "{}. If that is not meant, answer the step before again with these facts in `context`.",
        message.join("; ")
    );
    let owned = |names: &[&str]| -> Vec<String> {
        names.iter().take(NAMED_MAX).map(|name| (*name).to_owned()).collect()
    };
    let steps: Vec<&str> = undecided_steps.iter().map(|one| one.step.as_str()).collect();
    Some(GuidedRunWarning {
        steps: owned(&steps),
        facts: owned(&facts),
        ..GuidedRunWarning::new("condition-unset", message)
    })
}

/// Names in a sentence, no more than a person can read.
fn format_limited_name_list(names: &[&str]) -> String {
    let shown: Vec<String> = names.iter().take(NAMED_MAX).map(|name| format!("`{name}`")).collect();
    match names.len().saturating_sub(NAMED_MAX) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
