//! A walk under way: from one step that is outside to the next.

use std::collections::BTreeMap;

use serde_json::Value;
use trackway_domain::{Block, Object, Warning};

use super::{
    Frame, Inside, Mode, Root, Walk, bounds, held, place,
    undecided::{self, Undecided},
};
use crate::{
    condition,
    lack::{Lack, root},
    model::{Condition, Definition, Step},
};

/// Steps that one call may go through without stopping. A person's workflow has tens of steps; only
/// loops whose every step is left out get here, and those would otherwise hold up the caller.
/// Limit (Definitions): steps that one call may pass without a stop.
pub(crate) const SILENT_STEPS_MAX: u32 = 10_000;

/// A walk under way.
#[derive(Debug)]
pub(crate) struct Walker<'d> {
    pub(super) definition: &'d Definition,
    pub(super) mode: Mode,
    pub(super) walk: Walk,
    /// The list of steps of each frame.
    pub(super) lists: Vec<&'d [Step]>,
    /// The context of the innermost frame.
    pub(super) context: Object,
    /// What this call brought. Where a context lacks a name, or has something of no use under it, this
    /// is tried, so that sending what was asked for always helps, whichever workflow inside of another
    /// one asked for it.
    pub(super) facts: Object,
    pub(super) warnings: Vec<Warning>,
    /// Steps that were left out for want of a fact.
    pub(super) undecided: Vec<Undecided>,
    pub(super) emitted: Vec<Emitted>,
    silent: u32,
}

/// Whether a condition holds.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Truth {
    Known(bool),
    /// These names are not set.
    Unset(Vec<String>),
}

/// What a walk left behind when it stopped.
#[derive(Debug)]
pub(crate) struct Stopped {
    pub(crate) walk: Walk,
    pub(crate) context: Object,
    pub(crate) warnings: Vec<Warning>,
    pub(crate) emitted: Vec<Emitted>,
}

/// An artifact that the walk came past.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Emitted {
    pub(crate) artifact: String,
    pub(crate) value: Value,
}

impl<'d> Walker<'d> {
    /// Before the first step of a list.
    pub(crate) fn begin(
        definition: &'d Definition,
        mode: Mode,
        root: Root,
        context: Object,
    ) -> Result<Self, Block> {
        let frames = vec![Frame { at: 0, inside: Inside::Root }];
        let walk = Walk { root, frames, ahead: BTreeMap::new() };
        let mut walker = Self::resume(definition, mode, walk, context)?;
        if mode == Mode::Caller {
            walker.facts = walker.context.clone();
        }
        Ok(walker)
    }

    /// At the step where a walk had stopped.
    pub(crate) fn resume(
        definition: &'d Definition,
        mode: Mode,
        walk: Walk,
        context: Object,
    ) -> Result<Self, Block> {
        let lists = place::lists(definition, &walk)?;
        Ok(Self {
            definition,
            mode,
            walk,
            lists,
            context,
            facts: Object::new(),
            warnings: Vec::new(),
            undecided: Vec::new(),
            emitted: Vec::new(),
            silent: 0,
        })
    }

    /// Goes on to the next step that is outside; none at the end.
    pub(crate) fn go(&mut self) -> Result<Option<&'d Step>, Block> {
        while let (Some(frame), Some(list)) = (self.walk.frames.last(), self.lists.last()) {
            let list: &'d [Step] = list;
            let Some(step) = list.get(frame.at) else {
                let around = self.around();
                self.close().map_err(|block| match around {
                    Some(step) => self.wanted_by(&step.id, block),
                    None => block,
                })?;
                continue;
            };
            self.count_step()?;
            if let Some(when) = &step.when
                && !self.holds(when).map_err(|block| self.wanted_by(&step.id, block))?
            {
                self.note_unset(&step.id, when);
                self.leave_out(step);
            } else if self.enter(step).map_err(|block| self.wanted_by(&step.id, block))? {
                bounds::whole(&self.context)?;
                return Ok(Some(step));
            }
        }
        bounds::whole(&self.context)?;
        Ok(None)
    }

    /// From the end of the steps on to the exit handlers, where an outside agent drives: it is asked for
    /// them as for any step. The engine begins them as a walk of their own.
    pub(super) fn begin_exit(&mut self) {
        let handlers = self.definition.on_exit.as_slice();
        if self.mode == Mode::Caller && !self.walk.root.exit && !handlers.is_empty() {
            self.walk.root = Root { exit: true, hops: Vec::new() };
            // The names that the engine gives its own; an agent that walks away never gets here.
            self.context.insert("ended".to_owned(), "completed".into());
            self.context.insert("reason".to_owned(), "".into());
            self.walk.frames.push(Frame { at: 0, inside: Inside::Root });
            self.lists.push(handlers);
        }
    }

    /// The step at which the walk stands.
    pub(crate) fn here(&self) -> Option<&'d Step> {
        let list: &'d [Step] = self.lists.last()?;
        list.get(self.walk.frames.last()?.at)
    }

    /// The lists that the walk is inside of, from the innermost to the outermost: their steps, the step
    /// that each belongs to, the position in it, and the context of its steps.
    pub(crate) fn around_here(
        &self,
    ) -> impl Iterator<Item = (&'d [Step], Option<&'d Step>, usize, &Object)> + '_ {
        (0..self.walk.frames.len()).rev().filter_map(|number| {
            let list: &'d [Step] = self.lists.get(number)?;
            let at = self.walk.frames.get(number)?.at;
            let owner = self.frame(number).map(|(step, _)| step);
            Some((list, owner, at, self.context_of(number)))
        })
    }

    /// The definition's exit steps, where they are still ahead.
    pub(crate) fn exit_ahead(&self) -> &'d [Step] {
        if self.walk.root.exit { &[] } else { &self.definition.on_exit }
    }

    pub(crate) fn definition(&self) -> &'d Definition {
        self.definition
    }

    /// The step at hand of each list, from the outermost to the one where the walk stands.
    pub(crate) fn way(&self) -> Vec<&'d Step> {
        let each = self.lists.iter().zip(&self.walk.frames);
        each.filter_map(|(list, frame)| list.get(frame.at)).collect()
    }

    /// What a frame is inside of: the step, and how far that is.
    pub(super) fn frame(&self, number: usize) -> Option<(&'d Step, &Inside)> {
        let above = number.checked_sub(1)?;
        let list: &'d [Step] = self.lists.get(above)?;
        let step = list.get(self.walk.frames.get(above)?.at)?;
        Some((step, &self.walk.frames.get(number)?.inside))
    }

    pub(crate) fn context(&self) -> &Object {
        &self.context
    }

    pub(crate) fn walk(&self) -> &Walk {
        &self.walk
    }

    pub(crate) fn stop(mut self) -> Stopped {
        self.warnings.extend(undecided::warning(&self.undecided));
        Stopped {
            walk: self.walk,
            context: self.context,
            warnings: self.warnings,
            emitted: self.emitted,
        }
    }

    pub(crate) fn holds(&mut self, condition: &Condition) -> Result<bool, Block> {
        self.look(|names| condition::holds(condition, names))
    }

    /// Whether a condition holds, where the names that it reads are set.
    pub(super) fn holds_if_set(&mut self, condition: &Condition) -> Result<Truth, Block> {
        loop {
            match condition::holds(condition, &self.context) {
                Ok(holds) => return Ok(Truth::Known(holds)),
                Err(lack) if self.supply(&lack) => {}
                Err(Lack::Missing { name, others, .. }) => {
                    let others = others.into_iter().map(|(name, _)| name);
                    return Ok(Truth::Unset(std::iter::once(name).chain(others).collect()));
                }
                Err(_) => return self.holds(condition).map(Truth::Known),
            }
        }
    }

    /// Something that is read from the context. See [`Walker::facts`] for names that it lacks.
    pub(crate) fn look<T>(
        &mut self,
        read: impl Fn(&Object) -> Result<T, Lack>,
    ) -> Result<T, Block> {
        loop {
            let lack = match read(&self.context) {
                Ok(value) => return Ok(value),
                Err(lack) => lack,
            };
            // Each turn puts one of the facts in its place, so this ends.
            if !self.supply(&lack) {
                return Err(self.block(&lack, &|names| read(names).err()));
            }
        }
    }

    /// Puts what this call brought in place of what is missing or wrong; whether there was anything.
    fn supply(&mut self, lack: &Lack) -> bool {
        let Some(name) = lack.name().map(|name| root(name).to_owned()) else { return false };
        if let Some(frame) = self.item_frame(&name, self.walk.frames.len()) {
            return self.renew_item(frame);
        }
        let Some(fact) = self.facts.get(&name) else { return false };
        if self.context.get(&name) == Some(fact) || self.is_own_name(&name, self.walk.frames.len())
        {
            return false;
        }
        self.context.insert(name, fact.clone());
        true
    }

    pub(super) fn count_step(&mut self) -> Result<(), Block> {
        self.silent += 1;
        if self.silent <= SILENT_STEPS_MAX {
            return Ok(());
        }
        Err(held::no_progress(SILENT_STEPS_MAX))
    }
}
