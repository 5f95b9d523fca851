//! The interpreter's place in a definition, and the walk from one place to the next.
//!
//! A [`Walk`] is a stack of frames, one for each list of steps that the walk is inside of. Positions are
//! numbers, because a walk is only ever read together with the pinned definition that it was made with;
//! `guide::repin` carries it over to another one by the steps' ids. All progress is kept here, and none
//! in the context: what an agent sends can never move a loop.
//!
//! The walk is the same for both drivers. It goes on by itself until something outside has to happen or
//! until the end; [`Mode`] says which steps are outside. [`Walker`] is a walk under way.

mod bounds;
mod decision;
mod enter;
mod held;
mod names;
mod place;
mod source;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use trackway_domain::{Block, Object, Warning};

pub(crate) use self::{
    held::lost,
    place::{owner, way},
};
use crate::{
    condition,
    lack::Lack,
    model::{Condition, Definition, Step},
};

/// Steps that one call may go through without stopping. A person's workflow has tens of steps; only
/// loops whose every step is left out get here, and those would otherwise hold up the caller.
pub(crate) const SILENT_STEPS_MAX: u32 = 10_000;

/// A place in a definition. A stored format: it lies in every node of a guided run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Walk {
    #[serde(default, skip_serializing_if = "Root::is_default")]
    pub(crate) root: Root,
    /// From the outermost list to the one with the step at hand. Empty when the walk is complete.
    pub(crate) frames: Vec<Frame>,
    /// Decisions sent before the loops that they are for; by the loop's id, empty for whichever is next.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) ahead: BTreeMap<String, Decision>,
}

/// The list of steps that a walk is a walk of.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Root {
    /// The definition's exit handlers instead of its steps.
    #[serde(default)]
    pub(crate) exit: bool,
    /// The way from there to a map whose item this is.
    #[serde(default)]
    pub(crate) hops: Vec<Hop>,
}

impl Root {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Into the step at a position, and into one of its cases where it is a switch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Hop {
    pub(crate) at: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) case: Option<usize>,
}

/// One list of steps that the walk is inside of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Frame {
    /// Position of the step at hand.
    pub(crate) at: usize,
    pub(crate) inside: Inside,
}

/// What a list of steps belongs to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Inside {
    Root,
    Group,
    /// The case with this number.
    Switch(usize),
    /// `outer` is the context outside, where the inner steps have one of their own.
    Nested {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        outer: Option<Object>,
    },
    Loop(Rounds),
    Map(Items),
}

/// Where a loop stands.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rounds {
    /// From 0.
    pub(crate) round: u32,
    /// The list as it was when the loop was entered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) list: Option<Vec<Value>>,
    /// The number of rounds as it was when the loop was entered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) count: Option<u64>,
    /// The last decision of this round.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) decision: Option<Decision>,
    /// What the context held under the loop's own names; put back when the loop is left.
    #[serde(default, skip_serializing_if = "Object::is_empty")]
    pub(crate) shadowed: Object,
}

/// Where a map stands that goes through its items one after the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Items {
    pub(crate) list: Vec<Value>,
    /// Results of the items before the one at hand.
    pub(crate) results: Vec<Value>,
    /// The context outside; each item begins with it and leaves nothing in it.
    pub(crate) outer: Object,
}

/// What an artifact `wr.loop_control` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Decision {
    Continue,
    Stop,
}

/// Who drives, and so which steps are outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// An outside agent, who is asked for prompts, questions and tools. Emitted artifacts become
    /// documents on the way, and a map is gone through one item after the other.
    Caller,
    /// The engine, which does every step that is not only control.
    Engine,
}

/// An artifact that the walk came past.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Emitted {
    pub(crate) artifact: String,
    pub(crate) value: Value,
}

/// A walk under way.
#[derive(Debug)]
pub(crate) struct Walker<'d> {
    definition: &'d Definition,
    mode: Mode,
    walk: Walk,
    /// The list of steps of each frame.
    lists: Vec<&'d [Step]>,
    /// The context of the innermost frame.
    context: Object,
    /// What this call brought. Where a context lacks a name, or has something of no use under it, this
    /// is tried, so that sending what was asked for always helps, whichever workflow inside of another
    /// one asked for it.
    facts: Object,
    warnings: Vec<Warning>,
    emitted: Vec<Emitted>,
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
        walker.facts = walker.context.clone();
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
    fn frame(&self, number: usize) -> Option<(&'d Step, &Inside)> {
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
                None => return Err(lack.into()),
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

    fn count_step(&mut self) -> Result<(), Block> {
        self.silent += 1;
        if self.silent <= SILENT_STEPS_MAX {
            return Ok(());
        }
        Err(held::no_progress(SILENT_STEPS_MAX))
    }
}
