//! Imported runs: nothing is done with one until somebody adopts it.

use trackway_domain::{Event, StateName, WorkflowRef};

use crate::{Decision, Effect, Refusal, Run};

/// From here on the run is this store's own. Adopting it twice changes nothing.
pub(super) fn adopt(run: &Run) -> Result<Decision, Refusal> {
    let state = run.state.name();
    match (run.imported, state.is_terminal()) {
        (true, _) => {}
        (false, true) => return Err(Refusal::Ended { state }),
        (false, false) => return Ok(Decision::default()),
    }
    let timers = run.timers.iter().map(|(timer, due)| Effect::SetTimer(timer.clone(), *due));
    // An outside agent goes on with a guided run by itself.
    let drive = (!run.submission.guided).then_some(Effect::Drive);
    let effects = timers.chain(drive).collect();
    Ok(Decision { events: vec![Event::Adopted], effects, ..Decision::default() })
}

/// What is added to a log that comes from elsewhere: whatever it says, a run that could go on waits for
/// somebody here who wants that. An outside agent can go on with a guided run that is complete, and finds
/// it without a token of its own.
pub fn import(workflow: &WorkflowRef, state: StateName, guided: bool) -> Option<Event> {
    let may_go_on = match guided {
        true if workflow.holds_session_notes() => false,
        true => !state.is_terminal() || state == StateName::Completed,
        false => !state.is_terminal(),
    };
    may_go_on.then_some(Event::Imported)
}
