//! Imported runs: nothing is done with one until somebody adopts it.

use trackway_domain::Event;

use crate::{Decision, Effect, Refusal, Run};

/// From here on the run is this store's own. Adopting it twice changes nothing.
pub(super) fn adopt(run: &Run) -> Result<Decision, Refusal> {
    let state = run.state.name();
    if state.is_terminal() {
        return Err(Refusal::Ended { state });
    }
    if !run.imported {
        return Ok(Decision::default());
    }
    let timers = run.timers.iter().map(|(timer, due)| Effect::SetTimer(timer.clone(), *due));
    let effects = timers.chain([Effect::Drive]).collect();
    Ok(Decision { events: vec![Event::Adopted], effects, ..Decision::default() })
}
