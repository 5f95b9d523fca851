//! A walk in progress: from one outside step to the next.

use std::collections::BTreeMap;

use serde_json::Value;
use trackway_domain::{BlockReason, GuidedRunWarning, Object};

use super::{
    WalkDriver, WalkFrame, WalkFrameKind, WalkPosition, WalkRoot, block_reasons, context_size_limits,
    step_lookup,
    undecided_steps::{self, UndecidedStep},
};
use crate::{
    condition,
    context_error::{ContextError, top_level_name},
    model::{Condition, Definition, Step},
};

/// Steps that one call may pass without stopping. A typical workflow has tens of steps; only loops that skip
/// every step reach this limit, and they would otherwise block the caller.
/// Limit (Definitions): steps that one call may pass without a stop.
pub(crate) const SILENT_STEPS_MAX: u32 = 10_000;

/// A walk in progress.
#[derive(Debug)]
pub(crate) struct Walker<'d> {
    pub(super) definition: &'d Definition,
    pub(super) mode: WalkDriver,
    pub(super) position: WalkPosition,
    /// The list of steps of each frame.
    pub(super) lists: Vec<&'d [Step]>,
    /// The context of the innermost frame.
    pub(super) context: Object,
    /// What this call sent. If a context lacks a name, or has an unusable value under it, this is tried. So
    /// sending what was requested always helps, whichever nested workflow requested it.
    pub(super) sent_facts: Object,
    pub(super) warnings: Vec<GuidedRunWarning>,
    /// Steps that were skipped because a fact is missing.
    pub(super) undecided: Vec<UndecidedStep>,
    pub(super) emitted: Vec<EmittedArtifact>,
    steps_without_stop: u32,
}

/// Whether a condition holds.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ConditionResult {
    Known(bool),
    /// These names are not set.
    Unset(Vec<String>),
}

/// What a walk collected when it stopped.
#[derive(Debug)]
pub(crate) struct StoppedWalk {
    pub(crate) position: WalkPosition,
    pub(crate) context: Object,
    pub(crate) warnings: Vec<GuidedRunWarning>,
    pub(crate) emitted: Vec<EmittedArtifact>,
}

/// An artifact that the walk emitted.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct EmittedArtifact {
    pub(crate) artifact: String,
    pub(crate) value: Value,
}

impl<'d> Walker<'d> {
    /// Starts before the first step of a list.
    pub(crate) fn begin_walk(
        definition: &'d Definition,
        mode: WalkDriver,
        root: WalkRoot,
        context: Object,
    ) -> Result<Self, BlockReason> {
        let frames = vec![WalkFrame { step_index: 0, kind: WalkFrameKind::Root }];
        let walk = WalkPosition { root, frames, early_decisions: BTreeMap::new() };
        let mut walker = Self::resume_walk(definition, mode, walk, context)?;
        if mode == WalkDriver::Caller {
            walker.sent_facts = walker.context.clone();
        }
        Ok(walker)
    }

    /// Resumes at the step where a walk had stopped.
    pub(crate) fn resume_walk(
        definition: &'d Definition,
        mode: WalkDriver,
        walk: WalkPosition,
        context: Object,
    ) -> Result<Self, BlockReason> {
        let lists = step_lookup::step_lists_of_frames(definition, &walk)?;
        Ok(Self {
            definition,
            mode,
            position: walk,
            lists,
            context,
            sent_facts: Object::new(),
            warnings: Vec::new(),
            undecided: Vec::new(),
            emitted: Vec::new(),
            steps_without_stop: 0,
        })
    }

    /// Continues to the next outside step; none at the end.
    pub(crate) fn walk_to_next_step(&mut self) -> Result<Option<&'d Step>, BlockReason> {
        while let (Some(frame), Some(list)) = (self.position.frames.last(), self.lists.last()) {
            let list: &'d [Step] = list;
            let Some(step) = list.get(frame.step_index) else {
                let around = self.enclosing_step();
                self.leave_finished_step_list().map_err(|block| match around {
                    Some(step) => self.add_step_name_to_block(&step.id, block),
                    None => block,
                })?;
                continue;
            };
            self.count_silent_step()?;
            if let Some(when) = &step.when
                && !self
                    .condition_holds(when)
                    .map_err(|block| self.add_step_name_to_block(&step.id, block))?
            {
                self.note_skipped_step(&step.id, when);
                self.skip_step(step);
            } else if self
                .enter_or_stop_at_step(step)
                .map_err(|block| self.add_step_name_to_block(&step.id, block))?
            {
                context_size_limits::check_context_size(&self.context)?;
                return Ok(Some(step));
            }
        }
        context_size_limits::check_context_size(&self.context)?;
        Ok(None)
    }

    /// Continues from the end of the steps to the exit handlers, if an outside agent drives: it handles them
    /// like any step. The engine starts them as a separate walk.
    pub(super) fn begin_exit_steps(&mut self) {
        let handlers = self.definition.on_exit.as_slice();
        if self.mode == WalkDriver::Caller && !self.position.root.exit && !handlers.is_empty() {
            self.position.root = WalkRoot { exit: true, hops: Vec::new() };
            // The same names as in the engine's exit steps; an agent that abandons the run never gets here.
            self.context.insert("ended".to_owned(), "completed".into());
            self.context.insert("reason".to_owned(), "".into());
            self.position.frames.push(WalkFrame { step_index: 0, kind: WalkFrameKind::Root });
            self.lists.push(handlers);
        }
    }

    /// The current step of the walk.
    pub(crate) fn current_step(&self) -> Option<&'d Step> {
        let list: &'d [Step] = self.lists.last()?;
        list.get(self.position.frames.last()?.step_index)
    }

    /// The lists that the walk is inside of, from the innermost to the outermost: their steps, the step that
    /// each belongs to, the position in it, and the context of its steps.
    pub(crate) fn enclosing_step_lists(
        &self,
    ) -> impl Iterator<Item = (&'d [Step], Option<&'d Step>, usize, &Object)> + '_ {
        (0..self.position.frames.len()).rev().filter_map(|number| {
            let list: &'d [Step] = self.lists.get(number)?;
            let at = self.position.frames.get(number)?.step_index;
            let owner = self.frame_owner_step(number).map(|(step, _)| step);
            Some((list, owner, at, self.context_of_frame(number)))
        })
    }

    /// The definition's exit steps, if they are still ahead.
    pub(crate) fn remaining_exit_steps(&self) -> &'d [Step] {
        if self.position.root.exit { &[] } else { &self.definition.on_exit }
    }

    pub(crate) fn definition(&self) -> &'d Definition {
        self.definition
    }

    /// The current step of each list, from the outermost to the innermost.
    pub(crate) fn path_to_current_step(&self) -> Vec<&'d Step> {
        let each = self.lists.iter().zip(&self.position.frames);
        each.filter_map(|(list, frame)| list.get(frame.step_index)).collect()
    }

    /// The step that a frame is inside of, and its progress.
    pub(super) fn frame_owner_step(&self, frame_number: usize) -> Option<(&'d Step, &WalkFrameKind)> {
        let above = frame_number.checked_sub(1)?;
        let list: &'d [Step] = self.lists.get(above)?;
        let step = list.get(self.position.frames.get(above)?.step_index)?;
        Some((step, &self.position.frames.get(frame_number)?.kind))
    }

    pub(crate) fn current_context(&self) -> &Object {
        &self.context
    }

    pub(crate) fn position(&self) -> &WalkPosition {
        &self.position
    }

    pub(crate) fn into_stopped(mut self) -> StoppedWalk {
        self.warnings.extend(undecided_steps::undecided_steps_warning(&self.undecided));
        StoppedWalk {
            position: self.position,
            context: self.context,
            warnings: self.warnings,
            emitted: self.emitted,
        }
    }

    pub(crate) fn condition_holds(&mut self, condition: &Condition) -> Result<bool, BlockReason> {
        self.read_context_supplying_facts(|names| condition::condition_holds(condition, names))
    }

    /// Whether a condition holds, if the names that it reads are set.
    pub(super) fn evaluate_condition_if_set(
        &mut self,
        condition: &Condition,
    ) -> Result<ConditionResult, BlockReason> {
        loop {
            match condition::condition_holds(condition, &self.context) {
                Ok(holds) => return Ok(ConditionResult::Known(holds)),
                Err(error) if self.supply_sent_fact(&error) => {}
                Err(ContextError::Missing { name, others, .. }) => {
                    let others = others.into_iter().map(|(name, _)| name);
                    return Ok(ConditionResult::Unset(std::iter::once(name).chain(others).collect()));
                }
                Err(_) => return self.condition_holds(condition).map(ConditionResult::Known),
            }
        }
    }

    /// Reads something from the context. See [`Walker::sent_facts`] for names that it lacks.
    pub(crate) fn read_context_supplying_facts<T>(
        &mut self,
        read: impl Fn(&Object) -> Result<T, ContextError>,
    ) -> Result<T, BlockReason> {
        loop {
            let error = match read(&self.context) {
                Ok(value) => return Ok(value),
                Err(error) => error,
            };
            // Each turn uses one of the facts, so this ends.
            if !self.supply_sent_fact(&error) {
                return Err(self.block_for_context_error(&error, &|names| read(names).err()));
            }
        }
    }

    /// Uses what this call sent instead of a missing or wrong value. Returns whether there was anything.
    fn supply_sent_fact(&mut self, error: &ContextError) -> bool {
        let Some(name) = error.faulty_name().map(|name| top_level_name(name).to_owned()) else {
            return false;
        };
        if let Some(frame) = self.find_frame_of_item_name(&name, self.position.frames.len()) {
            return self.refresh_loop_item(frame);
        }
        let Some(fact) = self.sent_facts.get(&name) else { return false };
        if self.context.get(&name) == Some(fact)
            || self.is_loop_variable_name(&name, self.position.frames.len())
        {
            return false;
        }
        self.context.insert(name, fact.clone());
        true
    }

    pub(super) fn count_silent_step(&mut self) -> Result<(), BlockReason> {
        self.steps_without_stop += 1;
        if self.steps_without_stop <= SILENT_STEPS_MAX {
            return Ok(());
        }
        Err(block_reasons::too_many_silent_steps_block(SILENT_STEPS_MAX))
    }
}
