//! Enters a step and leaves it.

use serde_json::Value;
use trackway_domain::{BlockReason, Warning};

use super::{
    FrameKind, LoopDecision, LoopState, MapState, WalkFrame, WalkMode, Walker, size_limits,
    walker::{ConditionState, EmittedArtifact},
};
use crate::{
    condition,
    context_facts::steps_set_all,
    expression::evaluate,
    model::{
        Announcement, AskStep, Condition, EmitArtifact, EmitContent, LoopKind, LoopStep, MapStep,
        NestedWorkflow, Step, StepKind, SwitchStep,
    },
    template::render_template,
};

/// The name under which an outside agent sees a status.
const STATUS: &str = "status";

impl<'d> Walker<'d> {
    /// Whether the step is outside. Otherwise the walk is now inside it, or past it.
    pub(super) fn enter_step(&mut self, step: &'d Step) -> Result<bool, BlockReason> {
        match (&step.kind, self.mode) {
            (StepKind::Ask(AskStep { artifact: Some(artifact), .. }), WalkMode::Caller) => {
                self.emit_artifact(artifact)?;
                return Ok(true);
            }
            (StepKind::Prompt(_) | StepKind::Ask(_) | StepKind::Tool(_), _)
            | (StepKind::Emit(_) | StepKind::Announce(_) | StepKind::Map(_), WalkMode::Engine) => {
                return Ok(true);
            }
            (StepKind::Announce(say), WalkMode::Caller) => self.announce(step, say)?,
            (StepKind::Emit(emit), WalkMode::Caller) => self.emit_and_finish(step, emit)?,
            (StepKind::Map(map), WalkMode::Caller) => self.enter_map(step, map)?,
            (StepKind::Group(steps), _) => self.push_frame(FrameKind::Group, steps),
            (StepKind::Switch(switch), _) => self.enter_switch(step, switch)?,
            (StepKind::Nested(nested), _) => self.enter_nested(nested)?,
            (StepKind::Loop(repeated), _) => self.enter_loop(step, repeated)?,
        }
        Ok(false)
    }

    /// Moves past a step whose condition does not hold.
    pub(super) fn skip_step(&mut self, step: &Step) {
        if let StepKind::Loop(LoopStep { over: LoopKind::Decision { id }, .. }) = &step.kind {
            self.take_early_decision(&step.id, id.as_deref());
        }
        self.advance_position();
    }

    /// Keeps a step's result and moves past it.
    pub(crate) fn finish_step(&mut self, step: &Step, result: Value) -> Result<(), BlockReason> {
        if let Some(name) = &step.save {
            size_limits::check_value(name, &result)?;
            self.context.insert(name.clone(), result.clone());
        }
        if !step.set.is_empty() {
            // All are read before any is set: their order in the file must not matter.
            let values = self.with_result(result, |walker| {
                let each = step.set.iter().map(|(name, source)| {
                    let value = walker.read_context(|names| evaluate(source, names))?;
                    size_limits::check_value(name, &value)?;
                    Ok((name.clone(), value))
                });
                each.collect::<Result<Vec<_>, BlockReason>>()
            })?;
            self.context.extend(values);
        }
        self.advance_position();
        Ok(())
    }

    /// Leaves a list whose steps are done.
    pub(super) fn close_list(&mut self) -> Result<(), BlockReason> {
        let Some(frame) = self.position.frames.last_mut() else {
            return Ok(());
        };
        match &mut frame.kind {
            FrameKind::Root => {
                self.pop_frame();
                self.begin_exit();
                Ok(())
            }
            FrameKind::Group | FrameKind::Switch(_) => self.leave_list(Value::Null),
            FrameKind::Nested { .. } => self.leave_nested(),
            FrameKind::Loop(rounds) => {
                rounds.round = rounds.round.saturating_add(1);
                self.begin_round()
            }
            FrameKind::Map(_) => self.finish_item(),
        }
    }

    fn emit_and_finish(&mut self, step: &Step, emit: &EmitArtifact) -> Result<(), BlockReason> {
        let value = self.emit_artifact(emit)?;
        self.finish_step(step, value)
    }

    fn emit_artifact(&mut self, emit: &EmitArtifact) -> Result<Value, BlockReason> {
        let (artifact, value) = self.render_emit(emit)?;
        self.push_emitted(artifact, value.clone())?;
        Ok(value)
    }

    fn push_emitted(&mut self, artifact: String, value: Value) -> Result<(), BlockReason> {
        self.emitted.push(EmittedArtifact { artifact, value });
        size_limits::check_gathered("what is emitted", self.emitted.iter().map(|emitted| &emitted.value))
    }

    /// If an outside agent drives, it shows a status, and a reject ends the walk.
    fn announce(&mut self, step: &Step, say: &Announcement) -> Result<(), BlockReason> {
        match say {
            Announcement::Status(text) => {
                let text = Value::String(self.read_context(|names| render_template(text, names))?);
                self.push_emitted(STATUS.to_owned(), text.clone())?;
                self.finish_step(step, text)
            }
            Announcement::Reject(reason) => {
                let reason = self.read_context(|names| render_template(reason, names))?;
                Err(BlockReason {
                    code: "rejected".into(),
                    message: format!("the workflow declines here, and does not go on: {reason}"),
                    needs: Vec::new(),
                })
            }
        }
    }

    /// An artifact's name and content.
    pub(crate) fn render_emit(&mut self, emit: &EmitArtifact) -> Result<(String, Value), BlockReason> {
        let artifact = self.read_context(|names| render_template(&emit.artifact, names))?;
        let value = match &emit.content {
            EmitContent::Text(text) => {
                Value::String(self.read_context(|names| render_template(text, names))?)
            }
            EmitContent::Data(source) => self.read_context(|names| evaluate(source, names))?,
        };
        size_limits::check_value(&artifact, &value)?;
        Ok((artifact, value))
    }

    fn enter_switch(&mut self, step: &Step, switch: &'d SwitchStep) -> Result<(), BlockReason> {
        for (number, case) in switch.cases.iter().enumerate() {
            if self.condition_holds(&case.when)? {
                self.push_frame(FrameKind::Switch(number), &case.steps);
                return Ok(());
            }
            self.note_skipped_step(&step.id, &case.when);
        }
        self.finish_step(step, Value::Null)
    }

    fn enter_nested(&mut self, nested: &'d NestedWorkflow) -> Result<(), BlockReason> {
        let inner = self.build_nested_context(nested)?;
        let outer = inner.map(|inner| std::mem::replace(&mut self.context, inner));
        self.push_frame(FrameKind::Nested { outer }, &nested.steps);
        Ok(())
    }

    fn leave_nested(&mut self) -> Result<(), BlockReason> {
        let output = match self.enclosing_step().map(|step| &step.kind) {
            Some(StepKind::Nested(NestedWorkflow { output, .. })) => output.as_deref(),
            _ => None,
        };
        let result = match output {
            Some(source) => self.read_context(|names| evaluate(source, names))?,
            None => Value::Object(self.context.clone()),
        };
        if let Some(WalkFrame { kind: FrameKind::Nested { outer }, .. }) = self.position.frames.last_mut()
            && let Some(outer) = outer.take()
        {
            self.context = outer;
        }
        self.leave_list(result)
    }

    fn enter_loop(&mut self, step: &'d Step, repeated: &'d LoopStep) -> Result<(), BlockReason> {
        let mut rounds = LoopState::default();
        match &repeated.over {
            LoopKind::While(_) | LoopKind::Until(_) => {}
            LoopKind::Decision { id } => {
                if self.take_early_decision(&step.id, id.as_deref()) == Some(LoopDecision::Stop) {
                    return self.finish_step(step, Value::Null);
                }
            }
            LoopKind::Count(amount) => rounds.count = Some(self.resolve_round_count(&step.id, amount)?),
            LoopKind::Each { list, .. } => rounds.list = Some(self.resolve_list(step, list)?),
        }
        rounds.shadowed = self.shadowed_values(step);
        self.push_frame(FrameKind::Loop(rounds), &repeated.steps);
        self.set_loop_names();
        self.warn_overridden_by_loop(step);
        self.begin_round()
    }

    /// Begins the round whose number the frame has, or leaves the loop.
    fn begin_round(&mut self) -> Result<(), BlockReason> {
        // The names come first: a condition may read the round.
        self.set_loop_names();
        let Some(step) = self.enclosing_step() else {
            return Ok(());
        };
        let StepKind::Loop(repeated) = &step.kind else {
            return Ok(());
        };
        let Some(WalkFrame { kind: FrameKind::Loop(rounds), .. }) = self.position.frames.last() else {
            return Ok(());
        };
        let round = rounds.round;
        let (decision, count) = (rounds.decision, rounds.count);
        let items = rounds.list.as_ref().map(Vec::len);
        let wanted = match &repeated.over {
            LoopKind::While(condition) => self.continues_while(step, repeated, condition, round)?,
            LoopKind::Until(condition) => self.continues_until(step, condition, round)?,
            LoopKind::Decision { .. } => decision != Some(LoopDecision::Stop),
            LoopKind::Count(_) => count.is_some_and(|count| u64::from(round) < count),
            LoopKind::Each { .. } => items.is_some_and(|items| (round as usize) < items),
        };
        if wanted && round < repeated.max {
            // An empty list of steps would come straight back here.
            self.count_step()?;
            if let Some(frame) = self.position.frames.last_mut() {
                frame.step_index = 0;
                if let FrameKind::Loop(rounds) = &mut frame.kind {
                    rounds.decision = None;
                }
            }
            return Ok(());
        }
        if wanted {
            self.warn_limit_reached(&step.id, repeated.max, "rounds");
        }
        self.restore_loop_names();
        self.leave_list(Value::Null)
    }

    /// Whether a `while` loop has another round. Before the first round, a name that the loop's own steps set
    /// may be unset; any other has to be known.
    fn continues_while(
        &mut self,
        step: &Step,
        repeated: &LoopStep,
        condition: &Condition,
        round: u32,
    ) -> Result<bool, BlockReason> {
        let holds = match self.holds_if_set(condition)? {
            ConditionState::Known(holds) => holds,
            ConditionState::Unset(names) if round == 0 && steps_set_all(&repeated.steps, &names) => true,
            ConditionState::Unset(_) => self.condition_holds(condition)?,
        };
        if !holds {
            self.note_skipped_step(&step.id, condition);
        }
        Ok(holds)
    }

    /// Whether an `until` loop has another round: an unset name is not yet true.
    fn continues_until(
        &mut self,
        step: &Step,
        condition: &Condition,
        round: u32,
    ) -> Result<bool, BlockReason> {
        let unset = match self.holds_if_set(condition)? {
            ConditionState::Known(true) => return Ok(false),
            ConditionState::Known(false) => condition::unset_names(condition, &self.context),
            ConditionState::Unset(names) => names,
        };
        if round > 0 {
            self.note_extra_round(&step.id, unset);
        }
        Ok(true)
    }

    fn enter_map(&mut self, step: &'d Step, map: &'d MapStep) -> Result<(), BlockReason> {
        let list = self.map_items(step, map)?;
        if list.is_empty() {
            return self.finish_step(step, Value::Array(Vec::new()));
        }
        let items = MapState { list, results: Vec::new(), outer: self.context.clone() };
        self.push_frame(FrameKind::Map(items), &map.steps);
        self.set_loop_names();
        self.warn_overridden_by_loop(step);
        Ok(())
    }

    /// The items of a map, up to its maximum.
    pub(crate) fn map_items(&mut self, step: &Step, map: &MapStep) -> Result<Vec<Value>, BlockReason> {
        let mut list = self.resolve_list(step, &map.list)?;
        if list.len() > map.max as usize {
            list.truncate(map.max as usize);
            self.warn_limit_reached(&step.id, map.max, "items");
        }
        Ok(list)
    }

    fn finish_item(&mut self) -> Result<(), BlockReason> {
        let Some(StepKind::Map(map)) = self.enclosing_step().map(|step| &step.kind) else {
            return Ok(());
        };
        self.count_step()?;
        let result = self.item_result(map)?;
        let Some(frame) = self.position.frames.last_mut() else {
            return Ok(());
        };
        let FrameKind::Map(items) = &mut frame.kind else {
            return Ok(());
        };
        items.results.push(result);
        size_limits::check_gathered("what a map has gathered", &items.results)?;
        if items.results.len() < items.list.len() {
            frame.step_index = 0;
            self.context = items.outer.clone();
            self.set_loop_names();
            return Ok(());
        }
        let results = Value::Array(std::mem::take(&mut items.results));
        self.context = std::mem::take(&mut items.outer);
        self.leave_list(results)
    }

    /// The result of an item's steps.
    pub(crate) fn item_result(&mut self, map: &MapStep) -> Result<Value, BlockReason> {
        let Some(source) = &map.output else {
            return Ok(Value::Null);
        };
        let value = self.read_context(|names| evaluate(source, names))?;
        size_limits::check_value("an item's result", &value)?;
        Ok(value)
    }

    /// Leaves the innermost list and moves past the step that it belongs to.
    fn leave_list(&mut self, result: Value) -> Result<(), BlockReason> {
        let around = self.enclosing_step();
        self.pop_frame();
        match around {
            Some(step) => self.finish_step(step, result),
            None => Ok(()),
        }
    }

    fn push_frame(&mut self, inside: FrameKind, steps: &'d [Step]) {
        self.position.frames.push(WalkFrame { step_index: 0, kind: inside });
        self.lists.push(steps);
    }

    fn pop_frame(&mut self) {
        self.position.frames.pop();
        self.lists.pop();
    }

    fn advance_position(&mut self) {
        if let Some(frame) = self.position.frames.last_mut() {
            frame.step_index += 1;
        }
    }

    /// The step that the innermost list belongs to.
    pub(super) fn enclosing_step(&self) -> Option<&'d Step> {
        let innermost = self.position.frames.len().checked_sub(1)?;
        self.frame_owner(innermost).map(|(step, _)| step)
    }

    fn warn_limit_reached(&mut self, step: &str, max: u32, what: &str) {
        self.warnings.push(Warning::new(
            "loop-limit",
            format!("`{step}` ended at its limit of {max} {what}; the run goes on after it"),
        ));
    }
}
