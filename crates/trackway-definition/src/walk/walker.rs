//! A walk under way: from one step that is outside to the next.

use std::collections::BTreeMap;

use serde_json::Value;
use trackway_domain::{Block, Object, Warning};

use super::{Frame, Inside, Mode, Root, Walk, bounds, held, place};
use crate::{
    condition,
    lack::Lack,
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
    pub(super) emitted: Vec<Emitted>,
    silent: u32,
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
            emitted: Vec::new(),
            silent: 0,
        })
    }

    /// Goes on to the next step that is outside; none at the end.
    pub(crate) fn go(&mut self) -> Result<Option<&'d Step>, Block> {
        while let (Some(frame), Some(list)) = (self.walk.frames.last(), self.lists.last()) {
            let list: &'d [Step] = list;
            let Some(step) = list.get(frame.at) else {
                self.close()?;
                continue;
            };
            self.count_step()?;
            if let Some(when) = &step.when
                && !self.holds(when)?
            {
                self.leave_out(step);
            } else if self.enter(step)? {
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

    pub(crate) fn stop(self) -> Stopped {
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
            match self.fact_for(&lack) {
                Some((name, value)) => self.context.insert(name, value),
                None => return Err(lack.block_in(&self.context)),
            };
        }
    }

    /// What this call brought for a name that is missing or wrong, where that is not in place yet.
    fn fact_for(&self, lack: &Lack) -> Option<(String, Value)> {
        let (Lack::Missing { name, .. } | Lack::Wrong { name: Some(name), .. }) = lack else {
            return None;
        };
        let name = name.split(['.', '[']).next().unwrap_or(name);
        let fact = self.facts.get(name)?;
        (self.context.get(name) != Some(fact)).then(|| (name.to_owned(), fact.clone()))
    }

    pub(super) fn count_step(&mut self) -> Result<(), Block> {
        self.silent += 1;
        if self.silent <= SILENT_STEPS_MAX {
            return Ok(());
        }
        Err(held::no_progress(SILENT_STEPS_MAX))
    }
}
