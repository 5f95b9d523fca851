//! Checking a program against a log without doing anything: is this code fit for that run?

use std::{sync::Arc, time::Duration};

use trackway_domain::{Event, Evidence};

use crate::{
    Program, Registry, Stop,
    drive::{self, End},
    stage::{Inner, Place, Stage},
};

/// What a replay came to.
#[derive(Debug, Clone, PartialEq)]
pub enum ReplayVerdict {
    /// The program asked for everything the log holds.
    Fits,
    /// It did not; the run would be parked.
    Misfit(Evidence),
}

/// A replay only computes. One that takes longer waits for something outside of its context.
/// Limit (Runtime): time of one replay.
const REPLAY_PATIENCE: Duration = Duration::from_secs(10);

/// Checks a run's whole log against the program it began with.
pub async fn replay_with(registry: &Registry, log: &[Event]) -> ReplayVerdict {
    let Some(Event::Submitted(submission)) = log.first() else {
        return misfit("the log does not begin with `submitted`".to_owned());
    };
    if submission.guided {
        // An outside agent drives it; there is no program that could not fit.
        return ReplayVerdict::Fits;
    }
    let Some(program) = registry.pinned(&submission.workflow) else {
        return ReplayVerdict::Misfit(registry.missing(&submission.workflow));
    };
    replay_in_time(&program, log).await
}

/// The same for a program that is known.
pub(crate) async fn replay_in_time(program: &Arc<dyn Program>, log: &[Event]) -> ReplayVerdict {
    match tokio::time::timeout(REPLAY_PATIENCE, replay(program, log)).await {
        Ok(verdict) => verdict,
        Err(_) => misfit("the program waits for something outside of its context".to_owned()),
    }
}

fn misfit(message: String) -> ReplayVerdict {
    ReplayVerdict::Misfit(Evidence { message, asked: None, recorded: None })
}

/// Runs a program against a run's whole log. Nothing is recorded and no step is done; the future never
/// waits for anything but the program's own awaits.
pub async fn replay(program: &Arc<dyn Program>, log: &[Event]) -> ReplayVerdict {
    let Some(Event::Submitted(submission)) = log.first() else {
        return misfit("the log does not begin with `submitted`".to_owned());
    };
    let inner = Inner::new(submission, Place::Check);
    inner.book().fill(log[1..].iter());
    let mut future = program.run(Stage(inner.clone()), submission.input.clone());
    let end = std::future::poll_fn(|cx| drive::poll(&inner, &mut future, cx)).await;
    inner.book().leaving = true;
    match (end, log.last()) {
        (End::Misfit(evidence), _) => ReplayVerdict::Misfit(evidence),
        (End::Returned(result), last) => ended_alike(&result, last),
        (End::Waits | End::Stopped | End::Fits, _) => ReplayVerdict::Fits,
    }
}

/// A program that returns must have an end in its log, and of the same kind; a log may only be short
/// of it where the process stopped in between.
fn ended_alike(result: &Result<serde_json::Value, Stop>, last: Option<&Event>) -> ReplayVerdict {
    let asked = match result {
        Ok(_) => "completed",
        Err(Stop::Failed(_)) => "failed",
        Err(Stop::Rejected(_)) => "rejected",
    };
    let recorded = match last {
        Some(event @ (Event::Completed { .. } | Event::Failed { .. } | Event::Rejected { .. })) => {
            event.name()
        }
        _ => return ReplayVerdict::Fits,
    };
    if asked == recorded {
        return ReplayVerdict::Fits;
    }
    ReplayVerdict::Misfit(Evidence {
        message: format!("the program ended {asked} where the log holds {recorded}"),
        asked: Some(asked.to_owned()),
        recorded: Some(recorded.to_owned()),
    })
}
