//! Parking: a run whose program does not fit its log waits, with the mismatch on record, for code
//! that fits.

use trackway_domain::{Event, ReplayMismatch};

use super::new_message_id;
use crate::{CommandRefusal, Decision, DecisionEnv, Run};

/// Parking again with the same mismatch records nothing: every start of the server tries again, and
/// the log of a parked run must not grow.
pub(super) fn park_run(
    run: &Run,
    evidence: ReplayMismatch,
    env: DecisionEnv<'_>,
) -> Result<Decision, CommandRefusal> {
    let state = run.state.name();
    if state.is_terminal() {
        return Err(CommandRefusal::Ended { state });
    }
    if run.parked.as_ref() == Some(&evidence) {
        return Ok(Decision::default());
    }
    let events = vec![Event::Parked { evidence, state, message_id: new_message_id(env) }];
    Ok(Decision { events, ..Decision::default() })
}

pub(super) fn unpark_run(run: &Run) -> Decision {
    let events = if run.parked.is_some() { vec![Event::Unparked] } else { Vec::new() };
    Decision { events, ..Decision::default() }
}
