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

/// A timer is due. One that the run no longer has (it fired before, or the run ended) only goes.
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
            // An interrupted run cannot fail by the table, so its question is withdrawn first. One
            // whose program did nothing yet fails without ever having been seen working.
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
