//! Decisions about loops: artifacts `wr.loop_control` in a step's output.

use serde_json::Value;
use trackway_domain::GuidedRunWarning;

use super::{LoopDecision, WalkFrameKind, Walker};
use crate::model::{LoopKind, LoopStep, Step, StepKind};

/// Kind of the artifact.
const LOOP_CONTROL: &str = "wr.loop_control";

impl Walker<'_> {
    /// Applies the decisions of an output. A decision that an enclosing loop accepts is for that loop, at the
    /// end of the round; otherwise it is for a later loop.
    pub(crate) fn apply_loop_decisions(&mut self, output: &Value) {
        let artifacts = output.get("artifacts").and_then(Value::as_array);
        for artifact in artifacts.into_iter().flatten() {
            if artifact.get("kind").and_then(Value::as_str) != Some(LOOP_CONTROL) {
                continue;
            }
            let decision = match artifact.get("decision").and_then(Value::as_str) {
                Some("stop") => LoopDecision::Stop,
                Some("continue") => LoopDecision::Continue,
                _ => continue,
            };
            self.apply_loop_decision(artifact.get("loopId").and_then(Value::as_str), decision);
        }
    }

    fn apply_loop_decision(&mut self, loop_id: Option<&str>, decision: LoopDecision) {
        for frame in (1..self.position.frames.len()).rev() {
            if self.frame_owner_step(frame).is_some_and(|(step, _)| loop_accepts_decision(step, loop_id))
                && let Some(frame) = self.position.frames.get_mut(frame)
                && let WalkFrameKind::Loop(rounds) = &mut frame.kind
            {
                rounds.decision = Some(decision);
                return;
            }
        }
        // Only existing loops are remembered, so that this cannot grow without limit.
        match loop_id {
            Some(id) if !self.has_loop_named(id) => {
                self.warnings.push(GuidedRunWarning::new(
                    "decision-unheeded",
                    format!("the decision is for a loop `{id}`, and this workflow has none of that id"),
                ));
            }
            _ => {
                self.position.early_decisions.insert(loop_id.unwrap_or_default().to_owned(), decision);
            }
        }
    }

    fn has_loop_named(&self, id: &str) -> bool {
        let named = |step: &Step| is_loop_named(step, id);
        any_nested_step_matches(&self.definition.steps, &named)
            || any_nested_step_matches(&self.definition.on_exit, &named)
    }

    /// The decision that was sent before this loop was reached, if any. It is removed.
    pub(super) fn take_early_loop_decision(&mut self, step: &str, id: Option<&str>) -> Option<LoopDecision> {
        let named = [id, Some(step)].into_iter().flatten();
        let taken: Vec<_> = named.filter_map(|name| self.position.early_decisions.remove(name)).collect();
        let open = self.position.early_decisions.remove("");
        taken.into_iter().next().or(open)
    }
}

/// Whether a decision that was sent inside this loop is for it. A decision that names no loop is for the
/// innermost, and a loop whose decisions have no id accepts any.
fn loop_accepts_decision(step: &Step, loop_id: Option<&str>) -> bool {
    match (loop_decision_id(step), loop_id) {
        (None, _) => false,
        (Some(_), None) | (Some(None), Some(_)) => true,
        (Some(Some(_)), Some(loop_id)) => is_loop_named(step, loop_id),
    }
}

/// A loop is named by the id of its decisions, or by the id of its step.
fn is_loop_named(step: &Step, name: &str) -> bool {
    loop_decision_id(step).is_some_and(|id| id == Some(name) || step.id == name)
}

/// The id of a loop's decisions, if decisions end it.
fn loop_decision_id(step: &Step) -> Option<Option<&str>> {
    match &step.kind {
        StepKind::Loop(LoopStep { over: LoopKind::Decision { id }, .. }) => Some(id.as_deref()),
        _ => None,
    }
}

/// Whether any step, at any depth, matches.
fn any_nested_step_matches(steps: &[Step], matches: &dyn Fn(&Step) -> bool) -> bool {
    steps.iter().any(|step| {
        matches(step)
            || step.kind.inner_steps().into_iter().any(|steps| any_nested_step_matches(steps, matches))
    })
}
