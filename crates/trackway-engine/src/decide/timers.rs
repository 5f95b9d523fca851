//! Sleeping, waking, and the deadline of the whole run.

use trackway_domain::{Event, Failure, Op, Timer, Timestamp};

use super::{begin, exit, failed};
use crate::{Decision, Effect, Env, Refusal, Run};

pub(super) fn sleep(run: &Run, op: Op, due: Timestamp) -> Result<Decision, Refusal> {
    let mut events = begin(run)?;
    let effects = vec![Effect::SetTimer(Timer::Op(op.clone()), due)];
    events.push(Event::Slept { op, due });
    Ok(Decision { events, effects, ..Decision::default() })
}

/// A timer is due. If the run no longer has it (it fired before, or the run ended), it is only
/// cleared.
pub(super) fn fire(run: &Run, timer: Timer, env: Env<'_>) -> Decision {
    if !run.timers.contains_key(&timer) {
        return Decision { effects: vec![Effect::ClearTimer(timer)], ..Decision::default() };
    }
    match timer {
        Timer::Op(op) => Decision {
            events: vec![Event::Woke { op: op.clone() }],
            effects: vec![Effect::ClearTimer(Timer::Op(op)), Effect::Drive],
            ..Decision::default()
        },
        Timer::Deadline => {
            // The table does not let an interrupted run fail, so its question is withdrawn first. A
            // run whose program did nothing yet fails without entering `working`.
            let withdrawn =
                run.state.question().map(|question| Event::Withdrawn { question: question.id });
            let events = withdrawn.into_iter().collect();
            let mut decision =
                failed(run, events, Failure::new("the run's deadline has passed"), env);
            decision.effects.extend(exit(run, "failed", env));
            decision
        }
    }
}
