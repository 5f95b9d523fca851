//! Recorded results: steps, their failed attempts, and values that replays must repeat.

use serde_json::Value;
use trackway_domain::{Event, Op, StepOutcome, StepRetry, TimerKey};

use super::start_if_submitted;
use crate::{Decision, Effect, Refusal, Run};

pub(super) fn finish_step(run: &Run, op: Op, outcome: StepOutcome) -> Result<Decision, Refusal> {
    let mut events = start_if_submitted(run)?;
    events.push(Event::StepDone { op, outcome });
    Ok(Decision { events, ..Decision::default() })
}

pub(super) fn retry_step(run: &Run, retry: StepRetry) -> Result<Decision, Refusal> {
    let mut events = start_if_submitted(run)?;
    let effects = vec![Effect::SetTimer(TimerKey::Op(retry.op.clone()), retry.due)];
    events.push(Event::StepAttemptFailed(retry));
    Ok(Decision { events, effects, ..Decision::default() })
}

pub(super) fn record_value(run: &Run, op: Op, value: Value) -> Result<Decision, Refusal> {
    let mut events = start_if_submitted(run)?;
    events.push(Event::ValueRecorded { op, value });
    Ok(Decision { events, ..Decision::default() })
}
