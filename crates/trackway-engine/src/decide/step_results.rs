//! Recorded results: steps, their notes and failed attempts, and values that replays must repeat.

use serde_json::Value;
use trackway_domain::{
    Event, Op, STEP_NOTES_MAX, StepNoteRefusal, StepOutcome, StepRetry, TimerKey, check_step_note,
};

use super::{started_event_if_submitted, step_note_release};
use crate::{CommandRefusal, Decision, DecisionEffect, DecisionEnv, Run};

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

/// A step notes what it knows about its effect elsewhere. A note that says the same again, or that removes
/// none, is not recorded.
pub(super) fn record_step_note(run: &Run, op: Op, note: Value) -> Result<Decision, CommandRefusal> {
    let mut events = started_event_if_submitted(run)?;
    check_step_note(&note)?;
    let known = run.step_notes.get(&op);
    if known.unwrap_or(&Value::Null) == &note {
        return Ok(Decision::default());
    }
    if known.is_none() && run.step_notes.len() >= STEP_NOTES_MAX {
        return Err(StepNoteRefusal::TooMany { max: STEP_NOTES_MAX }.into());
    }
    events.push(Event::StepNoted { op, note });
    Ok(Decision { events, ..Decision::default() })
}

/// The step goes on to its outcome without what it began elsewhere: that is released like the note of a run
/// that ended. A note that says the same again was released before.
pub(super) fn release_step_note(
    run: &Run,
    op: Op,
    note: Value,
    env: DecisionEnv<'_>,
) -> Result<Decision, CommandRefusal> {
    let mut decision = record_step_note(run, op.clone(), note.clone())?;
    if !decision.events.is_empty() && !note.is_null() {
        decision.effects.push(step_note_release(run, op, note, env));
    }
    Ok(decision)
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
