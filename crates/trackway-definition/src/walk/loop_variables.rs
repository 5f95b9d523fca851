//! The names that loops and maps put into the context, and the facts that an agent sends.

use serde_json::Value;
use trackway_domain::{BlockReason, GuidedRunWarning, Object};

use super::{WalkFrame, WalkFrameKind, WalkPosition, Walker};
use crate::model::{LoopKind, Step, StepKind};

/// Name of a step's result in `set`.
const RESULT: &str = "result";

impl<'d> Walker<'d> {
    /// Merges the facts that an agent sent. A nested workflow has its own context, but a fact applies to
    /// both; only the items of a map do not share facts.
    pub(crate) fn merge_sent_facts(&mut self, facts: &Object) {
        merge_facts_into_context(&mut self.context, facts);
        for frame in self.position.frames.iter_mut().rev() {
            match &mut frame.kind {
                WalkFrameKind::Nested { outer: Some(outer) } => merge_facts_into_context(outer, facts),
                WalkFrameKind::Map(_) => break,
                _ => {}
            }
        }
        self.sent_facts.clone_from(facts);
        // An agent may send back names of a loop from an earlier round.
        for frame in 0..self.position.frames.len() {
            self.set_loop_variables_of_frame(frame);
        }
        self.warn_facts_overridden_by_loops(facts);
    }

    /// A value under a name of a loop is not kept, and the agent should know that.
    fn warn_facts_overridden_by_loops(&mut self, facts: &Object) {
        let sent = facts.keys().map(String::as_str);
        self.warn_facts_not_kept(sent.collect(), "the loop that the step is in", "was not kept");
    }

    /// The same for a loop or a map that this call has just entered.
    pub(super) fn warn_facts_overridden_by_step(&mut self, step: &Step) {
        let owner = format!("`{}`", step.id);
        self.warn_facts_not_kept(loop_variable_names(step), &owner, "does not hold inside of it");
    }

    fn warn_facts_not_kept(&mut self, fact_names: Vec<&str>, owner: &str, outcome: &str) {
        let is_lost =
            |name: &str| self.sent_facts.get(name).is_some_and(|sent| self.context.get(name) != Some(sent));
        let lost: Vec<String> =
            fact_names.into_iter().filter(|name| is_lost(name)).map(|name| format!("`{name}`")).collect();
        if !lost.is_empty() {
            let lost = lost.join(", ");
            let message = format!("{owner} sets {lost} itself: what was sent under that name {outcome}");
            self.warnings.push(GuidedRunWarning::new("context-not-kept", message));
        }
    }

    /// Whether a loop or a map around the frame `below` sets this name.
    pub(super) fn is_loop_variable_name(&self, name: &str, below_frame: usize) -> bool {
        self.visible_loops(below_frame).any(|(_, step, _)| loop_variable_names(step).contains(&name))
    }

    /// The loops and maps whose names are visible in the frame before `below`, the innermost first. A
    /// workflow with its own context sees none of those around it.
    pub(super) fn visible_loops(
        &self,
        below_frame: usize,
    ) -> impl Iterator<Item = (usize, &'d Step, &WalkFrameKind)> + '_ {
        let frames = (1..below_frame).rev().map_while(|number| {
            let (step, inside) = self.frame_owner_step(number)?;
            let ends = matches!(inside, WalkFrameKind::Nested { outer: Some(_) });
            (!ends).then_some((number, step, inside))
        });
        frames.filter(|(_, _, inside)| matches!(inside, WalkFrameKind::Loop(_) | WalkFrameKind::Map(_)))
    }

    /// Puts the names of the innermost loop or map into the context, for its current round.
    pub(super) fn set_loop_variables(&mut self) {
        self.set_loop_variables_of_frame(self.position.frames.len().saturating_sub(1));
    }

    /// Restores what the context held under the names of the innermost loop.
    pub(super) fn restore_shadowed_values(&mut self) {
        let Some(step) = self.enclosing_step() else {
            return;
        };
        let shadowed = match self.position.frames.last_mut().map(|frame| &mut frame.kind) {
            Some(WalkFrameKind::Loop(rounds)) => std::mem::take(&mut rounds.shadowed),
            _ => return,
        };
        for name in loop_variable_names(step) {
            self.context.remove(name);
        }
        merge_facts_into_context(&mut self.context, &shadowed);
    }

    /// What the context holds under a loop's names before it is entered.
    pub(super) fn values_shadowed_by_loop(&self, step: &Step) -> Object {
        values_under_loop_names(&self.context, step)
    }

    /// Runs a function with a step's result under its name.
    pub(super) fn with_step_result_in_context<T>(
        &mut self,
        result: Value,
        run: impl FnOnce(&mut Self) -> Result<T, BlockReason>,
    ) -> Result<T, BlockReason> {
        let before = self.context.insert(RESULT.to_owned(), result);
        // A fact of that name is not the step's result.
        let fact = self.sent_facts.remove(RESULT);
        let outcome = run(self);
        self.sent_facts.extend(fact.map(|fact| (RESULT.to_owned(), fact)));
        match before {
            Some(value) => self.context.insert(RESULT.to_owned(), value),
            None => self.context.remove(RESULT),
        };
        outcome
    }

    /// Removes every loop's and map's names from the contexts, as if each were left: for a definition in
    /// which they may have other names.
    pub(crate) fn remove_loop_variables(&mut self) {
        for frame in (1..self.position.frames.len()).rev() {
            let Some((step, inside)) = self.frame_owner_step(frame) else {
                continue;
            };
            let before = match inside {
                WalkFrameKind::Loop(rounds) => rounds.shadowed.clone(),
                WalkFrameKind::Map(items) => values_under_loop_names(&items.outer, step),
                _ => continue,
            };
            let context = frame_context_mut(&mut self.position, &mut self.context, frame);
            for name in loop_variable_names(step) {
                context.remove(name);
            }
            merge_facts_into_context(context, &before);
        }
    }

    /// Puts them back under their current names.
    pub(crate) fn reapply_loop_variables(&mut self) {
        for frame in 1..self.position.frames.len() {
            let Some((step, _)) = self.frame_owner_step(frame) else {
                continue;
            };
            let before = values_under_loop_names(
                frame_context_mut(&mut self.position, &mut self.context, frame),
                step,
            );
            if let Some(WalkFrame { kind: WalkFrameKind::Loop(rounds), .. }) =
                self.position.frames.get_mut(frame)
            {
                rounds.shadowed = before;
            }
            self.set_loop_variables_of_frame(frame);
        }
    }

    pub(super) fn set_loop_variables_of_frame(&mut self, frame: usize) {
        let Some((step, inside)) = self.frame_owner_step(frame) else {
            return;
        };
        let values = loop_variable_values(step, inside);
        frame_context_mut(&mut self.position, &mut self.context, frame).extend(values);
    }
}

/// Top-level names replace each other.
fn merge_facts_into_context(context: &mut Object, facts: &Object) {
    context.extend(facts.iter().map(|(name, value)| (name.clone(), value.clone())));
}

/// The context of the steps of a frame: the one that the next nested context keeps, or the innermost.
fn frame_context_mut<'w>(
    walk: &'w mut WalkPosition,
    innermost: &'w mut Object,
    frame: usize,
) -> &'w mut Object {
    let inner = walk.frames.iter_mut().skip(frame + 1);
    let kept = inner.filter_map(|frame| match &mut frame.kind {
        WalkFrameKind::Nested { outer } => outer.as_mut(),
        WalkFrameKind::Map(items) => Some(&mut items.outer),
        _ => None,
    });
    kept.into_iter().next().unwrap_or(innermost)
}

/// What a context holds under the names of a loop.
fn values_under_loop_names(context: &Object, step: &Step) -> Object {
    let held = loop_variable_names(step).into_iter().filter_map(|name| {
        let value = context.get(name)?;
        Some((name.to_owned(), value.clone()))
    });
    held.collect()
}

/// The names that a loop or a map sets in the context of its steps.
pub(crate) fn loop_variable_names(step: &Step) -> Vec<&str> {
    let (round, item, index) = round_item_and_index_names(step);
    [round, item, index].into_iter().flatten().collect()
}

/// Their values in the current round. A list at its end has no item.
fn loop_variable_values(step: &Step, frame_kind: &WalkFrameKind) -> Vec<(String, Value)> {
    let (round, item, index) = round_item_and_index_names(step);
    let (number, value) = match frame_kind {
        WalkFrameKind::Loop(rounds) => {
            let number = rounds.round as usize;
            (number, rounds.list.as_ref().and_then(|list| list.get(number)))
        }
        WalkFrameKind::Map(items) => (items.results.len(), items.list.get(items.results.len())),
        WalkFrameKind::Root
        | WalkFrameKind::Group
        | WalkFrameKind::Switch(_)
        | WalkFrameKind::Nested { .. } => {
            return Vec::new();
        }
    };
    let mut values = Vec::new();
    let mut put = |name: Option<&str>, value: Option<Value>| {
        if let (Some(name), Some(value)) = (name, value) {
            values.push((name.to_owned(), value));
        }
    };
    put(round, Some(Value::from(number)));
    put(index, Some(Value::from(number)));
    put(item, value.cloned());
    values
}

/// Names of the round, of the item and of its index.
pub(super) fn round_item_and_index_names(step: &Step) -> (Option<&str>, Option<&str>, Option<&str>) {
    match &step.kind {
        StepKind::Loop(repeated) => {
            let round = repeated.round.as_deref();
            match &repeated.over {
                LoopKind::Each { item, index, .. } => (round, Some(item.as_str()), index.as_deref()),
                _ => (round, None, None),
            }
        }
        StepKind::Map(map) => (None, Some(map.item.as_str()), map.index.as_deref()),
        _ => (None, None, None),
    }
}
