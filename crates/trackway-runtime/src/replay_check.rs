//! Checks a program against a log without doing anything: does this code fit that run?

use std::{sync::Arc, time::Duration};

use trackway_domain::{Event, ReplayMismatch};

use crate::{
    Program, ProgramRegistry, ProgramStop,
    program_drive::{self, DriveEnd},
    stage::{Stage, StageInner, StageMode},
};

/// The result of a replay.
#[derive(Debug, Clone, PartialEq)]
pub enum ReplayVerdict {
    /// The program requested everything the log holds.
    Matches,
    /// It did not; the run would be parked.
    Nondeterminism(ReplayMismatch),
}

/// A replay only computes. A replay that takes longer waits for something outside of its context.
/// Limit (Runtime): time of one replay.
const REPLAY_TIMEOUT: Duration = Duration::from_secs(10);

/// Checks a run's whole log against the program it began with.
pub async fn replay_with_registered_program(registry: &ProgramRegistry, log: &[Event]) -> ReplayVerdict {
    let Some(Event::Submitted(submission)) = log.first() else {
        return nondeterminism_verdict("the log does not begin with `submitted`".to_owned());
    };
    if submission.guided {
        // An outside agent drives it; there is no program that could be wrong.
        return ReplayVerdict::Matches;
    }
    let Some(program) = registry.find_program_version(&submission.workflow) else {
        return ReplayVerdict::Nondeterminism(registry.missing_program_mismatch(&submission.workflow));
    };
    replay_with_timeout(&program, log).await
}

/// The same for a program that is known.
pub(crate) async fn replay_with_timeout(program: &Arc<dyn Program>, log: &[Event]) -> ReplayVerdict {
    match tokio::time::timeout(REPLAY_TIMEOUT, replay_program_on_log(program, log)).await {
        Ok(verdict) => verdict,
        Err(_) => nondeterminism_verdict("the program waits for something outside of its context".to_owned()),
    }
}

fn nondeterminism_verdict(message: String) -> ReplayVerdict {
    ReplayVerdict::Nondeterminism(ReplayMismatch { message, asked: None, recorded: None })
}

/// Runs a program against a run's whole log. Nothing is recorded and no step is done; the future waits only
/// for the program's own awaits.
pub async fn replay_program_on_log(program: &Arc<dyn Program>, log: &[Event]) -> ReplayVerdict {
    let Some(Event::Submitted(submission)) = log.first() else {
        return nondeterminism_verdict("the log does not begin with `submitted`".to_owned());
    };
    let inner = StageInner::new(submission, StageMode::Check);
    inner.lock_replay_state().fill_from_log_events(log[1..].iter());
    let mut future = program.run(Stage(inner.clone()), submission.input.clone());
    let end = std::future::poll_fn(|cx| program_drive::poll_program(&inner, &mut future, cx)).await;
    inner.lock_replay_state().is_dropping = true;
    match (end, log.last()) {
        (DriveEnd::Nondeterminism(evidence), _) => ReplayVerdict::Nondeterminism(evidence),
        (DriveEnd::Returned(result), last) => compare_replay_end(&result, last),
        (DriveEnd::Suspended | DriveEnd::Stopped | DriveEnd::ReplayMatches, _) => ReplayVerdict::Matches,
    }
}

/// A program that returns must have an end of the same kind in its log. The end may be missing only if the
/// process stopped in between.
fn compare_replay_end(
    result: &Result<serde_json::Value, ProgramStop>,
    last: Option<&Event>,
) -> ReplayVerdict {
    let asked = match result {
        Ok(_) => "completed",
        Err(ProgramStop::Failed(_)) => "failed",
        Err(ProgramStop::Rejected(_)) => "rejected",
    };
    let recorded = match last {
        Some(event @ (Event::Completed { .. } | Event::Failed { .. } | Event::Rejected { .. })) => {
            event.event_name()
        }
        _ => return ReplayVerdict::Matches,
    };
    if asked == recorded {
        return ReplayVerdict::Matches;
    }
    ReplayVerdict::Nondeterminism(ReplayMismatch {
        message: format!("the program ended {asked} where the log holds {recorded}"),
        asked: Some(asked.to_owned()),
        recorded: Some(recorded.to_owned()),
    })
}
