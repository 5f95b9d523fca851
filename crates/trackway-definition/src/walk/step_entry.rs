//! Enters a step and leaves it.

use serde_json::Value;
use trackway_domain::{BlockReason, GuidedRunWarning};

use super::{
    LoopDecision, LoopFrameState, MapFrameState, WalkDriver, WalkFrame, WalkFrameKind, Walker,
    context_size_limits,
    walker::{ConditionResult, EmittedArtifact},
};
use crate::{
    cel_expression::evaluate_expression,
    condition,
    context_facts::steps_set_all,
    model::{
        AskStep, Condition, EmitArtifact, EmitContent, LoopKind, LoopStep, MapStep, NestedWorkflow,
        RunAnnouncement, Step, StepKind, SwitchStep,
    },
    template::render_template,
};

/// The name under which an outside agent sees a status.
const STATUS: &str = "status";

impl<'d> Walker<'d> {
    /// Whether the step is outside. Otherwise the walk is now inside it, or past it.
    pub(super) fn enter_or_stop_at_step(&mut self, step: &'d Step) -> Result<bool, BlockReason> {
        match (&step.kind, self.mode) {
            (StepKind::Ask(AskStep { artifact: Some(artifact), .. }), WalkDriver::Caller) => {
                self.emit_artifact(artifact)?;
                return Ok(true);
            }
            (StepKind::Prompt(_) | StepKind::Ask(_) | StepKind::Tool(_), _)
            | (StepKind::Emit(_) | StepKind::Announce(_) | StepKind::Map(_), WalkDriver::Engine) => {
                return Ok(true);
            }
            (StepKind::Announce(say), WalkDriver::Caller) => self.process_announcement(step, say)?,
            (StepKind::Emit(emit), WalkDriver::Caller) => self.emit_artifact_and_finish_step(step, emit)?,
            (StepKind::Map(map), WalkDriver::Caller) => self.enter_map(step, map)?,
            (StepKind::Group(steps), _) => self.push_walk_frame(WalkFrameKind::Group, steps),
            (StepKind::Switch(switch), _) => self.enter_switch_case(step, switch)?,
            (StepKind::Nested(nested), _) => self.enter_nested_workflow(nested)?,
            (StepKind::Loop(repeated), _) => self.enter_loop(step, repeated)?,
        }
        Ok(false)
    }

    /// Moves past a step whose condition does not hold.
    pub(super) fn skip_step(&mut self, step: &Step) {
        if let StepKind::Loop(LoopStep { over: LoopKind::Decision { id }, .. }) = &step.kind {
            self.take_early_loop_decision(&step.id, id.as_deref());
        }
        self.advance_to_next_step();
    }

    /// Keeps a step's result and moves past it.
    pub(crate) fn finish_step(&mut self, step: &Step, result: Value) -> Result<(), BlockReason> {
        if let Some(name) = &step.save {
            context_size_limits::check_value_size(name, &result)?;
            self.context.insert(name.clone(), result.clone());
        }
        if !step.set.is_empty() {
            // All are read before any is set: their order in the file must not matter.
            let values = self.with_step_result_in_context(result, |walker| {
                let each = step.set.iter().map(|(name, source)| {
                    let value =
                        walker.read_context_supplying_facts(|names| evaluate_expression(source, names))?;
                    context_size_limits::check_value_size(name, &value)?;
                    Ok((name.clone(), value))
                });
                each.collect::<Result<Vec<_>, BlockReason>>()
            })?;
            self.context.extend(values);
        }
        self.advance_to_next_step();
        Ok(())
    }

    /// Leaves a list whose steps are done.
    pub(super) fn leave_finished_step_list(&mut self) -> Result<(), BlockReason> {
        let Some(frame) = self.position.frames.last_mut() else {
            return Ok(());
        };
        match &mut frame.kind {
            WalkFrameKind::Root => {
                self.pop_walk_frame();
                self.begin_exit_steps();
                Ok(())
            }
            WalkFrameKind::Group | WalkFrameKind::Switch(_) => self.leave_step_list(Value::Null),
            WalkFrameKind::Nested { .. } => self.leave_nested_workflow(),
            WalkFrameKind::Loop(rounds) => {
                rounds.round = rounds.round.saturating_add(1);
                self.begin_loop_round()
            }
            WalkFrameKind::Map(_) => self.finish_map_item(),
        }
    }

    fn emit_artifact_and_finish_step(&mut self, step: &Step, emit: &EmitArtifact) -> Result<(), BlockReason> {
        let value = self.emit_artifact(emit)?;
        self.finish_step(step, value)
    }

    fn emit_artifact(&mut self, emit: &EmitArtifact) -> Result<Value, BlockReason> {
        let (artifact, value) = self.render_emitted_artifact(emit)?;
        self.push_emitted_artifact(artifact, value.clone())?;
        Ok(value)
    }

    fn push_emitted_artifact(&mut self, artifact: String, value: Value) -> Result<(), BlockReason> {
        self.emitted.push(EmittedArtifact { artifact, value });
        context_size_limits::check_gathered_size(
            "what is emitted",
            self.emitted.iter().map(|emitted| &emitted.value),
        )
    }

    /// If an outside agent drives, it shows a status, and a reject ends the walk.
    fn process_announcement(
        &mut self,
        step: &Step,
        announcement: &RunAnnouncement,
    ) -> Result<(), BlockReason> {
        match announcement {
            RunAnnouncement::Status(text) => {
                let text =
                    Value::String(self.read_context_supplying_facts(|names| render_template(text, names))?);
                self.push_emitted_artifact(STATUS.to_owned(), text.clone())?;
                self.finish_step(step, text)
            }
            RunAnnouncement::Reject(reason) => {
                let reason = self.read_context_supplying_facts(|names| render_template(reason, names))?;
                Err(BlockReason {
                    code: "rejected".into(),
                    message: format!("the workflow declines here, and does not go on: {reason}"),
                    needs: Vec::new(),
                })
            }
        }
    }

    /// An artifact's name and content.
    pub(crate) fn render_emitted_artifact(
        &mut self,
        emit: &EmitArtifact,
    ) -> Result<(String, Value), BlockReason> {
        let artifact = self.read_context_supplying_facts(|names| render_template(&emit.artifact, names))?;
        let value = match &emit.content {
            EmitContent::Text(text) => {
                Value::String(self.read_context_supplying_facts(|names| render_template(text, names))?)
            }
            EmitContent::Data(source) => {
                self.read_context_supplying_facts(|names| evaluate_expression(source, names))?
            }
        };
        context_size_limits::check_value_size(&artifact, &value)?;
        Ok((artifact, value))
    }

    fn enter_switch_case(&mut self, step: &Step, switch: &'d SwitchStep) -> Result<(), BlockReason> {
        for (number, case) in switch.cases.iter().enumerate() {
            if self.condition_holds(&case.when)? {
                self.push_walk_frame(WalkFrameKind::Switch(number), &case.steps);
                return Ok(());
            }
            self.note_skipped_step(&step.id, &case.when);
        }
        self.finish_step(step, Value::Null)
    }

    fn enter_nested_workflow(&mut self, nested: &'d NestedWorkflow) -> Result<(), BlockReason> {
        let inner = self.build_nested_context(nested)?;
        let outer = inner.map(|inner| std::mem::replace(&mut self.context, inner));
        self.push_walk_frame(WalkFrameKind::Nested { outer }, &nested.steps);
        Ok(())
    }

    fn leave_nested_workflow(&mut self) -> Result<(), BlockReason> {
        let output = match self.enclosing_step().map(|step| &step.kind) {
            Some(StepKind::Nested(NestedWorkflow { output, .. })) => output.as_deref(),
            _ => None,
        };
        let result = match output {
            Some(source) => self.read_context_supplying_facts(|names| evaluate_expression(source, names))?,
            None => Value::Object(self.context.clone()),
        };
        if let Some(WalkFrame { kind: WalkFrameKind::Nested { outer }, .. }) = self.position.frames.last_mut()
            && let Some(outer) = outer.take()
        {
            self.context = outer;
        }
        self.leave_step_list(result)
    }

    fn enter_loop(&mut self, step: &'d Step, repeated: &'d LoopStep) -> Result<(), BlockReason> {
        let mut rounds = LoopFrameState::default();
        match &repeated.over {
            LoopKind::While(_) | LoopKind::Until(_) => {}
            LoopKind::Decision { id } => {
                if self.take_early_loop_decision(&step.id, id.as_deref()) == Some(LoopDecision::Stop) {
                    return self.finish_step(step, Value::Null);
                }
            }
            LoopKind::Count(amount) => rounds.count = Some(self.resolve_round_count(&step.id, amount)?),
            LoopKind::Each { list, .. } => rounds.list = Some(self.resolve_loop_list(step, list)?),
        }
        rounds.shadowed = self.values_shadowed_by_loop(step);
        self.push_walk_frame(WalkFrameKind::Loop(rounds), &repeated.steps);
        self.set_loop_variables();
        self.warn_facts_overridden_by_step(step);
        self.begin_loop_round()
    }

    /// Begins the round whose number the frame has, or leaves the loop.
    fn begin_loop_round(&mut self) -> Result<(), BlockReason> {
        // The names come first: a condition may read the round.
        self.set_loop_variables();
        let Some(step) = self.enclosing_step() else {
            return Ok(());
        };
        let StepKind::Loop(repeated) = &step.kind else {
            return Ok(());
        };
        let Some(WalkFrame { kind: WalkFrameKind::Loop(rounds), .. }) = self.position.frames.last() else {
            return Ok(());
        };
        let round = rounds.round;
        let (decision, count) = (rounds.decision, rounds.count);
        let items = rounds.list.as_ref().map(Vec::len);
        let wanted = match &repeated.over {
            LoopKind::While(condition) => {
                self.should_continue_while_loop(step, repeated, condition, round)?
            }
            LoopKind::Until(condition) => self.should_continue_until_loop(step, condition, round)?,
            LoopKind::Decision { .. } => decision != Some(LoopDecision::Stop),
            LoopKind::Count(_) => count.is_some_and(|count| u64::from(round) < count),
            LoopKind::Each { .. } => items.is_some_and(|items| (round as usize) < items),
        };
        if wanted && round < repeated.max {
            // An empty list of steps would come straight back here.
            self.count_silent_step()?;
            if let Some(frame) = self.position.frames.last_mut() {
                frame.step_index = 0;
                if let WalkFrameKind::Loop(rounds) = &mut frame.kind {
                    rounds.decision = None;
                }
            }
            return Ok(());
        }
        if wanted {
            self.warn_iteration_limit_reached(&step.id, repeated.max, "rounds");
        }
        self.restore_shadowed_values();
        self.leave_step_list(Value::Null)
    }

    /// Whether a `while` loop has another round. Before the first round, a name that the loop's own steps set
    /// may be unset; any other has to be known.
    fn should_continue_while_loop(
        &mut self,
        step: &Step,
        repeated: &LoopStep,
        condition: &Condition,
        round: u32,
    ) -> Result<bool, BlockReason> {
        let holds = match self.evaluate_condition_if_set(condition)? {
            ConditionResult::Known(holds) => holds,
            ConditionResult::Unset(names) if round == 0 && steps_set_all(&repeated.steps, &names) => true,
            ConditionResult::Unset(_) => self.condition_holds(condition)?,
        };
        if !holds {
            self.note_skipped_step(&step.id, condition);
        }
        Ok(holds)
    }

    /// Whether an `until` loop has another round: an unset name is not yet true.
    fn should_continue_until_loop(
        &mut self,
        step: &Step,
        condition: &Condition,
        round: u32,
    ) -> Result<bool, BlockReason> {
        let unset = match self.evaluate_condition_if_set(condition)? {
            ConditionResult::Known(true) => return Ok(false),
            ConditionResult::Known(false) => condition::unset_names_in_condition(condition, &self.context),
            ConditionResult::Unset(names) => names,
        };
        if round > 0 {
            self.note_undecided_extra_round(&step.id, unset);
        }
        Ok(true)
    }

    fn enter_map(&mut self, step: &'d Step, map: &'d MapStep) -> Result<(), BlockReason> {
        let list = self.resolve_map_items(step, map)?;
        if list.is_empty() {
            return self.finish_step(step, Value::Array(Vec::new()));
        }
        let items = MapFrameState { list, results: Vec::new(), outer: self.context.clone() };
        self.push_walk_frame(WalkFrameKind::Map(items), &map.steps);
        self.set_loop_variables();
        self.warn_facts_overridden_by_step(step);
        Ok(())
    }

    /// The items of a map, up to its maximum.
    pub(crate) fn resolve_map_items(
        &mut self,
        step: &Step,
        map: &MapStep,
    ) -> Result<Vec<Value>, BlockReason> {
        let mut list = self.resolve_loop_list(step, &map.list)?;
        if list.len() > map.max as usize {
            list.truncate(map.max as usize);
            self.warn_iteration_limit_reached(&step.id, map.max, "items");
        }
        Ok(list)
    }

    fn finish_map_item(&mut self) -> Result<(), BlockReason> {
        let Some(StepKind::Map(map)) = self.enclosing_step().map(|step| &step.kind) else {
            return Ok(());
        };
        self.count_silent_step()?;
        let result = self.map_item_result(map)?;
        let Some(frame) = self.position.frames.last_mut() else {
            return Ok(());
        };
        let WalkFrameKind::Map(items) = &mut frame.kind else {
            return Ok(());
        };
        items.results.push(result);
        context_size_limits::check_gathered_size("what a map has gathered", &items.results)?;
        if items.results.len() < items.list.len() {
            frame.step_index = 0;
            self.context = items.outer.clone();
            self.set_loop_variables();
            return Ok(());
        }
        let results = Value::Array(std::mem::take(&mut items.results));
        self.context = std::mem::take(&mut items.outer);
        self.leave_step_list(results)
    }

    /// The result of an item's steps.
    pub(crate) fn map_item_result(&mut self, map: &MapStep) -> Result<Value, BlockReason> {
        let Some(source) = &map.output else {
            return Ok(Value::Null);
        };
        let value = self.read_context_supplying_facts(|names| evaluate_expression(source, names))?;
        context_size_limits::check_value_size("an item's result", &value)?;
        Ok(value)
    }

    /// Leaves the innermost list and moves past the step that it belongs to.
    fn leave_step_list(&mut self, result: Value) -> Result<(), BlockReason> {
        let around = self.enclosing_step();
        self.pop_walk_frame();
        match around {
            Some(step) => self.finish_step(step, result),
            None => Ok(()),
        }
    }

    fn push_walk_frame(&mut self, frame_kind: WalkFrameKind, steps: &'d [Step]) {
        self.position.frames.push(WalkFrame { step_index: 0, kind: frame_kind });
        self.lists.push(steps);
    }

    fn pop_walk_frame(&mut self) {
        self.position.frames.pop();
        self.lists.pop();
    }

    fn advance_to_next_step(&mut self) {
        if let Some(frame) = self.position.frames.last_mut() {
            frame.step_index += 1;
        }
    }

    /// The step that the innermost list belongs to.
    pub(super) fn enclosing_step(&self) -> Option<&'d Step> {
        let innermost = self.position.frames.len().checked_sub(1)?;
        self.frame_owner_step(innermost).map(|(step, _)| step)
    }

    fn warn_iteration_limit_reached(&mut self, step: &str, max: u32, what: &str) {
        self.warnings.push(GuidedRunWarning::new(
            "loop-limit",
            format!("`{step}` ended at its limit of {max} {what}; the run goes on after it"),
        ));
    }
}
