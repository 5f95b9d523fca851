//! Imported runs: nothing happens to one until a caller adopts it.

use trackway_domain::{Event, StateName, WorkflowRef};

use crate::{CommandRefusal, Decision, DecisionEffect, Run};

/// From here on the run belongs to this store. Adopting it twice changes nothing.
pub(super) fn adopt_imported_run(run: &Run) -> Result<Decision, CommandRefusal> {
    let state = run.state.name();
    match (run.imported, state.is_terminal()) {
        (true, _) => {}
        (false, true) => return Err(CommandRefusal::Ended { state }),
        (false, false) => return Ok(Decision::default()),
    }
    let timers = run.timers.iter().map(|(timer, due)| DecisionEffect::SetTimer(timer.clone(), *due));
    // An outside agent continues a guided run by itself.
    let drive = (!run.submission.guided).then_some(DecisionEffect::Drive);
    let effects = timers.chain(drive).collect();
    Ok(Decision { events: vec![Event::Adopted], effects, ..Decision::default() })
}

/// The event that is added to an imported log. Whatever the log says, a run that could continue waits
/// until a caller here adopts it. This includes a guided run that is complete: an outside agent can
/// continue it, and can find it without a token.
pub fn imported_event_if_resumable(
    workflow: &WorkflowRef,
    state: StateName,
    is_guided: bool,
) -> Option<Event> {
    let may_go_on = match is_guided {
        true if workflow.is_session_notes_workflow() => false,
        true => !state.is_terminal() || state == StateName::Completed,
        false => !state.is_terminal(),
    };
    may_go_on.then_some(Event::Imported)
}
