//! Recorded results: steps, their failed attempts, and values that replays must repeat.

use serde_json::Value;
use trackway_domain::{Event, Op, Retry, StepOutcome, Timer};

use super::begin;
use crate::{Decision, Effect, Refusal, Run};

pub(super) fn finish(run: &Run, op: Op, outcome: StepOutcome) -> Result<Decision, Refusal> {
    let mut events = begin(run)?;
    events.push(Event::StepDone { op, outcome });
    Ok(Decision { events, ..Decision::default() })
}

pub(super) fn retry(run: &Run, retry: Retry) -> Result<Decision, Refusal> {
    let mut events = begin(run)?;
    let effects = vec![Effect::SetTimer(Timer::Op(retry.op.clone()), retry.due)];
    events.push(Event::StepFailed(retry));
    Ok(Decision { events, effects, ..Decision::default() })
}

pub(super) fn draw(run: &Run, op: Op, value: Value) -> Result<Decision, Refusal> {
    let mut events = begin(run)?;
    events.push(Event::Drawn { op, value });
    Ok(Decision { events, ..Decision::default() })
}
