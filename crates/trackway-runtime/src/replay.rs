//! Checks a program against a log without doing anything: does this code fit that run?

use std::{sync::Arc, time::Duration};

use trackway_domain::{Event, ReplayMismatch};

use crate::{
    Program, ProgramRegistry, ProgramStop,
    drive::{self, DriveEnd},
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
pub async fn replay_registered(registry: &ProgramRegistry, log: &[Event]) -> ReplayVerdict {
    let Some(Event::Submitted(submission)) = log.first() else {
        return nondeterminism("the log does not begin with `submitted`".to_owned());
    };
    if submission.guided {
        // An outside agent drives it; there is no program that could be wrong.
        return ReplayVerdict::Matches;
    }
    let Some(program) = registry.get_version(&submission.workflow) else {
        return ReplayVerdict::Nondeterminism(registry.missing_program_mismatch(&submission.workflow));
    };
    replay_with_timeout(&program, log).await
}

/// The same for a program that is known.
pub(crate) async fn replay_with_timeout(program: &Arc<dyn Program>, log: &[Event]) -> ReplayVerdict {
    match tokio::time::timeout(REPLAY_TIMEOUT, replay(program, log)).await {
        Ok(verdict) => verdict,
        Err(_) => nondeterminism("the program waits for something outside of its context".to_owned()),
    }
}

fn nondeterminism(message: String) -> ReplayVerdict {
    ReplayVerdict::Nondeterminism(ReplayMismatch { message, asked: None, recorded: None })
}

/// Runs a program against a run's whole log. Nothing is recorded and no step is done; the future waits only
/// for the program's own awaits.
pub async fn replay(program: &Arc<dyn Program>, log: &[Event]) -> ReplayVerdict {
    let Some(Event::Submitted(submission)) = log.first() else {
        return nondeterminism("the log does not begin with `submitted`".to_owned());
    };
    let inner = StageInner::new(submission, StageMode::Check);
    inner.replay_state().fill_from_log(log[1..].iter());
    let mut future = program.run(Stage(inner.clone()), submission.input.clone());
    let end = std::future::poll_fn(|cx| drive::poll_program(&inner, &mut future, cx)).await;
    inner.replay_state().is_dropping = true;
    match (end, log.last()) {
        (DriveEnd::Nondeterminism(evidence), _) => ReplayVerdict::Nondeterminism(evidence),
        (DriveEnd::Returned(result), last) => compare_ends(&result, last),
        (DriveEnd::Suspended | DriveEnd::Stopped | DriveEnd::ReplayMatches, _) => ReplayVerdict::Matches,
    }
}

/// A program that returns must have an end of the same kind in its log. The end may be missing only if the
/// process stopped in between.
fn compare_ends(result: &Result<serde_json::Value, ProgramStop>, last: Option<&Event>) -> ReplayVerdict {
    let asked = match result {
        Ok(_) => "completed",
        Err(ProgramStop::Failed(_)) => "failed",
        Err(ProgramStop::Rejected(_)) => "rejected",
    };
    let recorded = match last {
        Some(event @ (Event::Completed { .. } | Event::Failed { .. } | Event::Rejected { .. })) => {
            event.name()
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
