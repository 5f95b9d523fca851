//! Sleeping, waking, and the deadline of the whole run.

use trackway_domain::{Event, Failure, Op, TimerKey, Timestamp};

use super::{exit_workflow_effect, fail_run, started_event_if_submitted};
use crate::{CommandRefusal, Decision, DecisionEffect, DecisionEnv, Run};

pub(super) fn start_sleep(run: &Run, op: Op, due: Timestamp) -> Result<Decision, CommandRefusal> {
    let mut events = started_event_if_submitted(run)?;
    let effects = vec![DecisionEffect::SetTimer(TimerKey::Op(op.clone()), due)];
    events.push(Event::Slept { op, due });
    Ok(Decision { events, effects, ..Decision::default() })
}

/// A timer is due. If the run no longer has it (it fired before, or the run ended), it is only
/// cleared.
pub(super) fn fire_timer(run: &Run, timer: TimerKey, env: DecisionEnv<'_>) -> Decision {
    if !run.timers.contains_key(&timer) {
        return Decision { effects: vec![DecisionEffect::ClearTimer(timer)], ..Decision::default() };
    }
    match timer {
        TimerKey::Op(op) => Decision {
            events: vec![Event::Woke { op: op.clone() }],
            effects: vec![DecisionEffect::ClearTimer(TimerKey::Op(op)), DecisionEffect::Drive],
            ..Decision::default()
        },
        TimerKey::Deadline => {
            // The table does not let an interrupted run fail, so its question is withdrawn first. A
            // run whose program did nothing yet fails without entering `working`.
            let withdrawn =
                run.state.open_question().map(|question| Event::Withdrawn { question: question.id });
            let events = withdrawn.into_iter().collect();
            let mut decision = fail_run(run, events, Failure::new("the run's deadline has passed"), env);
            decision.effects.extend(exit_workflow_effect(run, "failed", env));
            decision
        }
    }
}
