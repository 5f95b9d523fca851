//! The names that loops and maps put into the context, and the facts that an agent sends.

use serde_json::Value;
use trackway_domain::{Block, Object, Warning};

use super::{Frame, Inside, Walk, Walker};
use crate::model::{LoopOver, Step, StepKind};

/// Name of a step's result in `set`.
const RESULT: &str = "result";

impl<'d> Walker<'d> {
    /// Takes in what an agent sent. A workflow inside another one has a context of its own, but what is
    /// so outside holds for both; only the items of a map do not hear of each other.
    pub(crate) fn learn(&mut self, facts: &Object) {
        merge(&mut self.context, facts);
        for frame in self.walk.frames.iter_mut().rev() {
            match &mut frame.inside {
                Inside::Nested { outer: Some(outer) } => merge(outer, facts),
                Inside::Map(_) => break,
                _ => {}
            }
        }
        self.facts.clone_from(facts);
        // An agent may send back names of a loop as it saw them a round ago.
        for frame in 0..self.walk.frames.len() {
            self.put_names_of(frame);
        }
        self.warn_of_names(facts);
    }

    /// What an agent sent under a name of a loop does not hold, and it should not believe so.
    fn warn_of_names(&mut self, facts: &Object) {
        let sent = facts.keys().map(String::as_str);
        self.warn_not_kept(sent.collect(), "the loop that the step is in", "was not kept");
    }

    /// The same for a loop or a map that this call has just entered.
    pub(super) fn warn_of_own_names(&mut self, step: &Step) {
        let owner = format!("`{}`", step.id);
        self.warn_not_kept(own_names(step), &owner, "does not hold inside of it");
    }

    fn warn_not_kept(&mut self, names: Vec<&str>, owner: &str, outcome: &str) {
        let is_lost = |name: &str| {
            self.facts.get(name).is_some_and(|sent| self.context.get(name) != Some(sent))
        };
        let lost: Vec<String> = names
            .into_iter()
            .filter(|name| is_lost(name))
            .map(|name| format!("`{name}`"))
            .collect();
        if !lost.is_empty() {
            let lost = lost.join(", ");
            let message =
                format!("{owner} sets {lost} itself: what was sent under that name {outcome}");
            self.warnings.push(Warning::new("context-not-kept", message));
        }
    }

    /// Whether a loop or a map around the frame `below` gives this name its value.
    pub(super) fn is_own_name(&self, name: &str, below: usize) -> bool {
        self.visible(below).any(|(_, step, _)| own_names(step).contains(&name))
    }

    /// The loops and maps whose names are seen inside of the frame before `below`, the innermost first.
    /// A workflow with a context of its own sees none of those around it.
    pub(super) fn visible(
        &self,
        below: usize,
    ) -> impl Iterator<Item = (usize, &'d Step, &Inside)> + '_ {
        let frames = (1..below).rev().map_while(|number| {
            let (step, inside) = self.frame(number)?;
            let ends = matches!(inside, Inside::Nested { outer: Some(_) });
            (!ends).then_some((number, step, inside))
        });
        frames.filter(|(_, _, inside)| matches!(inside, Inside::Loop(_) | Inside::Map(_)))
    }

    /// Puts the names of the innermost loop or map into the context, for its round at hand.
    pub(super) fn put_own_names(&mut self) {
        self.put_names_of(self.walk.frames.len().saturating_sub(1));
    }

    /// Puts back what the context held under the names of the innermost loop.
    pub(super) fn drop_own_names(&mut self) {
        let Some(step) = self.around() else {
            return;
        };
        let shadowed = match self.walk.frames.last_mut().map(|frame| &mut frame.inside) {
            Some(Inside::Loop(rounds)) => std::mem::take(&mut rounds.shadowed),
            _ => return,
        };
        for name in own_names(step) {
            self.context.remove(name);
        }
        merge(&mut self.context, &shadowed);
    }

    /// What the context holds under a loop's names before it is entered.
    pub(super) fn shadowed(&self, step: &Step) -> Object {
        held_under(&self.context, step)
    }

    /// Runs something with a step's result under its name.
    pub(super) fn with_result<T>(
        &mut self,
        result: Value,
        run: impl FnOnce(&mut Self) -> Result<T, Block>,
    ) -> Result<T, Block> {
        let before = self.context.insert(RESULT.to_owned(), result);
        // A fact of that name is not the step's result.
        let fact = self.facts.remove(RESULT);
        let outcome = run(self);
        self.facts.extend(fact.map(|fact| (RESULT.to_owned(), fact)));
        match before {
            Some(value) => self.context.insert(RESULT.to_owned(), value),
            None => self.context.remove(RESULT),
        };
        outcome
    }

    /// Takes every loop's and map's names out of the contexts, as if each were left: for a definition
    /// in which they may have other names.
    pub(crate) fn lay_names_down(&mut self) {
        for frame in (1..self.walk.frames.len()).rev() {
            let Some((step, inside)) = self.frame(frame) else {
                continue;
            };
            let before = match inside {
                Inside::Loop(rounds) => rounds.shadowed.clone(),
                Inside::Map(items) => held_under(&items.outer, step),
                _ => continue,
            };
            let context = context_in(&mut self.walk, &mut self.context, frame);
            for name in own_names(step) {
                context.remove(name);
            }
            merge(context, &before);
        }
    }

    /// Puts them back under the names that they have now.
    pub(crate) fn take_names_up(&mut self) {
        for frame in 1..self.walk.frames.len() {
            let Some((step, _)) = self.frame(frame) else {
                continue;
            };
            let before = held_under(context_in(&mut self.walk, &mut self.context, frame), step);
            if let Some(Frame { inside: Inside::Loop(rounds), .. }) =
                self.walk.frames.get_mut(frame)
            {
                rounds.shadowed = before;
            }
            self.put_names_of(frame);
        }
    }

    pub(super) fn put_names_of(&mut self, frame: usize) {
        let Some((step, inside)) = self.frame(frame) else {
            return;
        };
        let values = own_values(step, inside);
        context_in(&mut self.walk, &mut self.context, frame).extend(values);
    }
}

/// Top-level names replace each other.
fn merge(context: &mut Object, facts: &Object) {
    context.extend(facts.iter().map(|(name, value)| (name.clone(), value.clone())));
}

/// The context that the steps of a frame have: the one that the next context of its own keeps, or the
/// innermost.
fn context_in<'w>(walk: &'w mut Walk, innermost: &'w mut Object, frame: usize) -> &'w mut Object {
    let inner = walk.frames.iter_mut().skip(frame + 1);
    let kept = inner.filter_map(|frame| match &mut frame.inside {
        Inside::Nested { outer } => outer.as_mut(),
        Inside::Map(items) => Some(&mut items.outer),
        _ => None,
    });
    kept.into_iter().next().unwrap_or(innermost)
}

/// What a context holds under the names of a loop.
fn held_under(context: &Object, step: &Step) -> Object {
    let held = own_names(step).into_iter().filter_map(|name| {
        let value = context.get(name)?;
        Some((name.to_owned(), value.clone()))
    });
    held.collect()
}

/// The names that a loop or a map has in the context of its steps.
pub(crate) fn own_names(step: &Step) -> Vec<&str> {
    let (round, item, index) = names(step);
    [round, item, index].into_iter().flatten().collect()
}

/// Their values in the round at hand. A list that is at its end has no item.
fn own_values(step: &Step, inside: &Inside) -> Vec<(String, Value)> {
    let (round, item, index) = names(step);
    let (number, value) = match inside {
        Inside::Loop(rounds) => {
            let number = rounds.round as usize;
            (number, rounds.list.as_ref().and_then(|list| list.get(number)))
        }
        Inside::Map(items) => (items.results.len(), items.list.get(items.results.len())),
        Inside::Root | Inside::Group | Inside::Switch(_) | Inside::Nested { .. } => {
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
pub(super) fn names(step: &Step) -> (Option<&str>, Option<&str>, Option<&str>) {
    match &step.kind {
        StepKind::Loop(repeated) => {
            let round = repeated.round.as_deref();
            match &repeated.over {
                LoopOver::Each { item, index, .. } => {
                    (round, Some(item.as_str()), index.as_deref())
                }
                _ => (round, None, None),
            }
        }
        StepKind::Map(map) => (None, Some(map.item.as_str()), map.index.as_deref()),
        _ => (None, None, None),
    }
}
