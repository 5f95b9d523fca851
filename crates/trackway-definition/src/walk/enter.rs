//! Into a step and out of it again.

use serde_json::Value;
use trackway_domain::{Block, Warning};

use super::{Decision, Frame, Inside, Items, Mode, Rounds, Walker, bounds, walker::Emitted};
use crate::{
    expression::evaluate,
    model::{Ask, Emit, EmitContent, Loop, LoopOver, Map, Nested, Say, Step, StepKind, Switch},
    template::render,
};

/// What an outside agent is shown a status as.
const STATUS: &str = "status";

impl<'d> Walker<'d> {
    /// Whether the step is outside. Otherwise the walk is inside of it now, or past it.
    pub(super) fn enter(&mut self, step: &'d Step) -> Result<bool, Block> {
        match (&step.kind, self.mode) {
            (StepKind::Ask(Ask { artifact: Some(artifact), .. }), Mode::Caller) => {
                self.show(artifact)?;
                return Ok(true);
            }
            (StepKind::Prompt(_) | StepKind::Ask(_) | StepKind::Tool(_), _)
            | (StepKind::Emit(_) | StepKind::Say(_) | StepKind::Map(_), Mode::Engine) => {
                return Ok(true);
            }
            (StepKind::Say(say), Mode::Caller) => self.say(step, say)?,
            (StepKind::Emit(emit), Mode::Caller) => self.emit(step, emit)?,
            (StepKind::Map(map), Mode::Caller) => self.enter_map(step, map)?,
            (StepKind::Group(steps), _) => self.push(Inside::Group, steps),
            (StepKind::Switch(switch), _) => self.enter_switch(step, switch)?,
            (StepKind::Nested(nested), _) => self.enter_nested(nested)?,
            (StepKind::Loop(repeated), _) => self.enter_loop(step, repeated)?,
        }
        Ok(false)
    }

    /// Past a step whose condition does not hold.
    pub(super) fn leave_out(&mut self, step: &Step) {
        if let StepKind::Loop(Loop { over: LoopOver::Decision { id }, .. }) = &step.kind {
            self.take_ahead(&step.id, id.as_deref());
        }
        self.past();
    }

    /// Keeps a step's result and goes past it.
    pub(crate) fn finish(&mut self, step: &Step, result: Value) -> Result<(), Block> {
        if let Some(name) = &step.save {
            bounds::one(name, &result)?;
            self.context.insert(name.clone(), result.clone());
        }
        if !step.set.is_empty() {
            // All are read before any is put: their order in the file must not matter.
            let values = self.with_result(result, |walker| {
                let each = step.set.iter().map(|(name, source)| {
                    let value = walker.look(|names| evaluate(source, names))?;
                    bounds::one(name, &value)?;
                    Ok((name.clone(), value))
                });
                each.collect::<Result<Vec<_>, Block>>()
            })?;
            self.context.extend(values);
        }
        self.past();
        Ok(())
    }

    /// Out of a list whose steps are done.
    pub(super) fn close(&mut self) -> Result<(), Block> {
        let Some(frame) = self.walk.frames.last_mut() else {
            return Ok(());
        };
        match &mut frame.inside {
            Inside::Root => {
                self.pop();
                self.begin_exit();
                Ok(())
            }
            Inside::Group | Inside::Switch(_) => self.leave(Value::Null),
            Inside::Nested { .. } => self.leave_nested(),
            Inside::Loop(rounds) => {
                rounds.round = rounds.round.saturating_add(1);
                self.begin_round()
            }
            Inside::Map(_) => self.close_item(),
        }
    }

    fn emit(&mut self, step: &Step, emit: &Emit) -> Result<(), Block> {
        let value = self.show(emit)?;
        self.finish(step, value)
    }

    fn show(&mut self, emit: &Emit) -> Result<Value, Block> {
        let (artifact, value) = self.emitted_of(emit)?;
        self.put_out(artifact, value.clone())?;
        Ok(value)
    }

    fn put_out(&mut self, artifact: String, value: Value) -> Result<(), Block> {
        self.emitted.push(Emitted { artifact, value });
        bounds::gathered("what is emitted", self.emitted.iter().map(|emitted| &emitted.value))
    }

    /// Where an outside agent walks, a status is something for it to show, and a reject is where it ends.
    fn say(&mut self, step: &Step, say: &Say) -> Result<(), Block> {
        match say {
            Say::Status(text) => {
                let text = Value::String(self.look(|names| render(text, names))?);
                self.put_out(STATUS.to_owned(), text.clone())?;
                self.finish(step, text)
            }
            Say::Reject(reason) => {
                let reason = self.look(|names| render(reason, names))?;
                Err(Block {
                    code: "rejected".into(),
                    message: format!("the workflow declines here, and does not go on: {reason}"),
                    needs: Vec::new(),
                })
            }
        }
    }

    /// An artifact's name and content.
    pub(crate) fn emitted_of(&mut self, emit: &Emit) -> Result<(String, Value), Block> {
        let artifact = self.look(|names| render(&emit.artifact, names))?;
        let value = match &emit.content {
            EmitContent::Text(text) => Value::String(self.look(|names| render(text, names))?),
            EmitContent::Data(source) => self.look(|names| evaluate(source, names))?,
        };
        bounds::one(&artifact, &value)?;
        Ok((artifact, value))
    }

    fn enter_switch(&mut self, step: &Step, switch: &'d Switch) -> Result<(), Block> {
        for (number, case) in switch.cases.iter().enumerate() {
            if self.holds(&case.when)? {
                self.push(Inside::Switch(number), &case.steps);
                return Ok(());
            }
        }
        self.finish(step, Value::Null)
    }

    fn enter_nested(&mut self, nested: &'d Nested) -> Result<(), Block> {
        let inner = self.inner_context(nested)?;
        let outer = inner.map(|inner| std::mem::replace(&mut self.context, inner));
        self.push(Inside::Nested { outer }, &nested.steps);
        Ok(())
    }

    fn leave_nested(&mut self) -> Result<(), Block> {
        let output = match self.around().map(|step| &step.kind) {
            Some(StepKind::Nested(Nested { output, .. })) => output.as_deref(),
            _ => None,
        };
        let result = match output {
            Some(source) => self.look(|names| evaluate(source, names))?,
            None => Value::Object(self.context.clone()),
        };
        if let Some(Frame { inside: Inside::Nested { outer }, .. }) = self.walk.frames.last_mut()
            && let Some(outer) = outer.take()
        {
            self.context = outer;
        }
        self.leave(result)
    }

    fn enter_loop(&mut self, step: &'d Step, repeated: &'d Loop) -> Result<(), Block> {
        let mut rounds = Rounds::default();
        match &repeated.over {
            LoopOver::While(_) | LoopOver::Until(_) => {}
            LoopOver::Decision { id } => {
                if self.take_ahead(&step.id, id.as_deref()) == Some(Decision::Stop) {
                    return self.finish(step, Value::Null);
                }
            }
            LoopOver::Count(amount) => rounds.count = Some(self.amount(&step.id, amount)?),
            LoopOver::Each { list, .. } => rounds.list = Some(self.list(&step.id, list)?),
        }
        rounds.shadowed = self.shadowed(step);
        self.push(Inside::Loop(rounds), &repeated.steps);
        self.begin_round()
    }

    /// Begins the round whose number the frame has, or leaves the loop.
    fn begin_round(&mut self) -> Result<(), Block> {
        // The names come first: a condition may speak of the round.
        self.put_own_names();
        let Some(step) = self.around() else {
            return Ok(());
        };
        let StepKind::Loop(repeated) = &step.kind else {
            return Ok(());
        };
        let Some(Frame { inside: Inside::Loop(rounds), .. }) = self.walk.frames.last() else {
            return Ok(());
        };
        let round = rounds.round;
        let wanted = match &repeated.over {
            LoopOver::While(condition) => self.holds(condition)?,
            LoopOver::Until(condition) => !self.holds(condition)?,
            LoopOver::Decision { .. } => rounds.decision != Some(Decision::Stop),
            LoopOver::Count(_) => rounds.count.is_some_and(|count| u64::from(round) < count),
            LoopOver::Each { .. } => {
                rounds.list.as_ref().is_some_and(|list| (round as usize) < list.len())
            }
        };
        if wanted && round < repeated.max {
            // An empty list of steps would come straight back here.
            self.count_step()?;
            if let Some(frame) = self.walk.frames.last_mut() {
                frame.at = 0;
                if let Inside::Loop(rounds) = &mut frame.inside {
                    rounds.decision = None;
                }
            }
            return Ok(());
        }
        if wanted {
            self.warn_limit(&step.id, repeated.max, "rounds");
        }
        self.drop_own_names();
        self.leave(Value::Null)
    }

    fn enter_map(&mut self, step: &'d Step, map: &'d Map) -> Result<(), Block> {
        let list = self.items(step, map)?;
        if list.is_empty() {
            return self.finish(step, Value::Array(Vec::new()));
        }
        let items = Items { list, results: Vec::new(), outer: self.context.clone() };
        self.push(Inside::Map(items), &map.steps);
        self.put_own_names();
        Ok(())
    }

    /// The items of a map, up to as many as it takes.
    pub(crate) fn items(&mut self, step: &Step, map: &Map) -> Result<Vec<Value>, Block> {
        let mut list = self.list(&step.id, &map.list)?;
        if list.len() > map.max as usize {
            list.truncate(map.max as usize);
            self.warn_limit(&step.id, map.max, "items");
        }
        Ok(list)
    }

    fn close_item(&mut self) -> Result<(), Block> {
        let Some(StepKind::Map(map)) = self.around().map(|step| &step.kind) else {
            return Ok(());
        };
        self.count_step()?;
        let result = self.item_result(map)?;
        let Some(frame) = self.walk.frames.last_mut() else {
            return Ok(());
        };
        let Inside::Map(items) = &mut frame.inside else {
            return Ok(());
        };
        items.results.push(result);
        bounds::gathered("what a map has gathered", &items.results)?;
        if items.results.len() < items.list.len() {
            frame.at = 0;
            self.context = items.outer.clone();
            self.put_own_names();
            return Ok(());
        }
        let results = Value::Array(std::mem::take(&mut items.results));
        self.context = std::mem::take(&mut items.outer);
        self.leave(results)
    }

    /// What an item's steps have led to.
    pub(crate) fn item_result(&mut self, map: &Map) -> Result<Value, Block> {
        let Some(source) = &map.output else {
            return Ok(Value::Null);
        };
        let value = self.look(|names| evaluate(source, names))?;
        bounds::one("an item's result", &value)?;
        Ok(value)
    }

    /// Out of the innermost list and past the step that it belongs to.
    fn leave(&mut self, result: Value) -> Result<(), Block> {
        let around = self.around();
        self.pop();
        match around {
            Some(step) => self.finish(step, result),
            None => Ok(()),
        }
    }

    fn push(&mut self, inside: Inside, steps: &'d [Step]) {
        self.walk.frames.push(Frame { at: 0, inside });
        self.lists.push(steps);
    }

    fn pop(&mut self) {
        self.walk.frames.pop();
        self.lists.pop();
    }

    fn past(&mut self) {
        if let Some(frame) = self.walk.frames.last_mut() {
            frame.at += 1;
        }
    }

    /// The step that the innermost list belongs to.
    pub(super) fn around(&self) -> Option<&'d Step> {
        let innermost = self.walk.frames.len().checked_sub(1)?;
        self.frame(innermost).map(|(step, _)| step)
    }

    fn warn_limit(&mut self, step: &str, max: u32, what: &str) {
        self.warnings.push(Warning {
            code: "loop-limit".to_owned(),
            message: format!(
                "`{step}` ended at its limit of {max} {what}; the run goes on after it"
            ),
        });
    }
}
