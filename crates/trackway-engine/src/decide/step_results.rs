//! Recorded results: steps, their failed attempts, and values that replays must repeat.

use serde_json::Value;
use trackway_domain::{Event, Op, StepOutcome, StepRetry, TimerKey};

use super::started_event_if_submitted;
use crate::{CommandRefusal, Decision, DecisionEffect, Run};

pub(super) fn record_step_outcome(
    run: &Run,
    op: Op,
    outcome: StepOutcome,
) -> Result<Decision, CommandRefusal> {
    let mut events = started_event_if_submitted(run)?;
    events.push(Event::StepDone { op, outcome });
    Ok(Decision { events, ..Decision::default() })
}

pub(super) fn record_step_retry(run: &Run, retry: StepRetry) -> Result<Decision, CommandRefusal> {
    let mut events = started_event_if_submitted(run)?;
    let effects = vec![DecisionEffect::SetTimer(TimerKey::Op(retry.op.clone()), retry.due)];
    events.push(Event::StepAttemptFailed(retry));
    Ok(Decision { events, effects, ..Decision::default() })
}

pub(super) fn record_nondeterministic_value(
    run: &Run,
    op: Op,
    value: Value,
) -> Result<Decision, CommandRefusal> {
    let mut events = started_event_if_submitted(run)?;
    events.push(Event::ValueRecorded { op, value });
    Ok(Decision { events, ..Decision::default() })
}
