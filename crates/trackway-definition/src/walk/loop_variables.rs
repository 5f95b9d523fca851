//! The names that loops and maps put into the context, and the facts that an agent sends.

use serde_json::Value;
use trackway_domain::{BlockReason, Object, Warning};

use super::{FrameKind, WalkFrame, WalkPosition, Walker};
use crate::model::{LoopKind, Step, StepKind};

/// Name of a step's result in `set`.
const RESULT: &str = "result";

impl<'d> Walker<'d> {
    /// Merges the facts that an agent sent. A nested workflow has its own context, but a fact applies to
    /// both; only the items of a map do not share facts.
    pub(crate) fn merge_facts(&mut self, facts: &Object) {
        merge_context(&mut self.context, facts);
        for frame in self.position.frames.iter_mut().rev() {
            match &mut frame.kind {
                FrameKind::Nested { outer: Some(outer) } => merge_context(outer, facts),
                FrameKind::Map(_) => break,
                _ => {}
            }
        }
        self.sent_facts.clone_from(facts);
        // An agent may send back names of a loop from an earlier round.
        for frame in 0..self.position.frames.len() {
            self.set_names_of_frame(frame);
        }
        self.warn_overridden_facts(facts);
    }

    /// A value under a name of a loop is not kept, and the agent should know that.
    fn warn_overridden_facts(&mut self, facts: &Object) {
        let sent = facts.keys().map(String::as_str);
        self.warn_not_kept(sent.collect(), "the loop that the step is in", "was not kept");
    }

    /// The same for a loop or a map that this call has just entered.
    pub(super) fn warn_overridden_by_loop(&mut self, step: &Step) {
        let owner = format!("`{}`", step.id);
        self.warn_not_kept(loop_names(step), &owner, "does not hold inside of it");
    }

    fn warn_not_kept(&mut self, names: Vec<&str>, owner: &str, outcome: &str) {
        let is_lost =
            |name: &str| self.sent_facts.get(name).is_some_and(|sent| self.context.get(name) != Some(sent));
        let lost: Vec<String> =
            names.into_iter().filter(|name| is_lost(name)).map(|name| format!("`{name}`")).collect();
        if !lost.is_empty() {
            let lost = lost.join(", ");
            let message = format!("{owner} sets {lost} itself: what was sent under that name {outcome}");
            self.warnings.push(Warning::new("context-not-kept", message));
        }
    }

    /// Whether a loop or a map around the frame `below` sets this name.
    pub(super) fn is_loop_name(&self, name: &str, below: usize) -> bool {
        self.visible_loops(below).any(|(_, step, _)| loop_names(step).contains(&name))
    }

    /// The loops and maps whose names are visible in the frame before `below`, the innermost first. A
    /// workflow with its own context sees none of those around it.
    pub(super) fn visible_loops(
        &self,
        below: usize,
    ) -> impl Iterator<Item = (usize, &'d Step, &FrameKind)> + '_ {
        let frames = (1..below).rev().map_while(|number| {
            let (step, inside) = self.frame_owner(number)?;
            let ends = matches!(inside, FrameKind::Nested { outer: Some(_) });
            (!ends).then_some((number, step, inside))
        });
        frames.filter(|(_, _, inside)| matches!(inside, FrameKind::Loop(_) | FrameKind::Map(_)))
    }

    /// Puts the names of the innermost loop or map into the context, for its current round.
    pub(super) fn set_loop_names(&mut self) {
        self.set_names_of_frame(self.position.frames.len().saturating_sub(1));
    }

    /// Restores what the context held under the names of the innermost loop.
    pub(super) fn restore_loop_names(&mut self) {
        let Some(step) = self.enclosing_step() else {
            return;
        };
        let shadowed = match self.position.frames.last_mut().map(|frame| &mut frame.kind) {
            Some(FrameKind::Loop(rounds)) => std::mem::take(&mut rounds.shadowed),
            _ => return,
        };
        for name in loop_names(step) {
            self.context.remove(name);
        }
        merge_context(&mut self.context, &shadowed);
    }

    /// What the context holds under a loop's names before it is entered.
    pub(super) fn shadowed_values(&self, step: &Step) -> Object {
        values_under_names(&self.context, step)
    }

    /// Runs a function with a step's result under its name.
    pub(super) fn with_result<T>(
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
    pub(crate) fn remove_loop_names(&mut self) {
        for frame in (1..self.position.frames.len()).rev() {
            let Some((step, inside)) = self.frame_owner(frame) else {
                continue;
            };
            let before = match inside {
                FrameKind::Loop(rounds) => rounds.shadowed.clone(),
                FrameKind::Map(items) => values_under_names(&items.outer, step),
                _ => continue,
            };
            let context = frame_context_mut(&mut self.position, &mut self.context, frame);
            for name in loop_names(step) {
                context.remove(name);
            }
            merge_context(context, &before);
        }
    }

    /// Puts them back under their current names.
    pub(crate) fn reapply_loop_names(&mut self) {
        for frame in 1..self.position.frames.len() {
            let Some((step, _)) = self.frame_owner(frame) else {
                continue;
            };
            let before =
                values_under_names(frame_context_mut(&mut self.position, &mut self.context, frame), step);
            if let Some(WalkFrame { kind: FrameKind::Loop(rounds), .. }) = self.position.frames.get_mut(frame)
            {
                rounds.shadowed = before;
            }
            self.set_names_of_frame(frame);
        }
    }

    pub(super) fn set_names_of_frame(&mut self, frame: usize) {
        let Some((step, inside)) = self.frame_owner(frame) else {
            return;
        };
        let values = loop_values(step, inside);
        frame_context_mut(&mut self.position, &mut self.context, frame).extend(values);
    }
}

/// Top-level names replace each other.
fn merge_context(context: &mut Object, facts: &Object) {
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
        FrameKind::Nested { outer } => outer.as_mut(),
        FrameKind::Map(items) => Some(&mut items.outer),
        _ => None,
    });
    kept.into_iter().next().unwrap_or(innermost)
}

/// What a context holds under the names of a loop.
fn values_under_names(context: &Object, step: &Step) -> Object {
    let held = loop_names(step).into_iter().filter_map(|name| {
        let value = context.get(name)?;
        Some((name.to_owned(), value.clone()))
    });
    held.collect()
}

/// The names that a loop or a map sets in the context of its steps.
pub(crate) fn loop_names(step: &Step) -> Vec<&str> {
    let (round, item, index) = loop_name_parts(step);
    [round, item, index].into_iter().flatten().collect()
}

/// Their values in the current round. A list at its end has no item.
fn loop_values(step: &Step, inside: &FrameKind) -> Vec<(String, Value)> {
    let (round, item, index) = loop_name_parts(step);
    let (number, value) = match inside {
        FrameKind::Loop(rounds) => {
            let number = rounds.round as usize;
            (number, rounds.list.as_ref().and_then(|list| list.get(number)))
        }
        FrameKind::Map(items) => (items.results.len(), items.list.get(items.results.len())),
        FrameKind::Root | FrameKind::Group | FrameKind::Switch(_) | FrameKind::Nested { .. } => {
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
pub(super) fn loop_name_parts(step: &Step) -> (Option<&str>, Option<&str>, Option<&str>) {
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
