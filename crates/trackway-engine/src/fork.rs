//! Forks: a new run that starts with a part of another run's log. The recorded part is not executed
//! again. After that point the new run is independent, and the original does not change.

use serde_json::Value;
use trackway_domain::{Event, ForkPoint, RunId, RunSubmission, Seq, SessionId, Timestamp};

use crate::{IllegalTransition, Run};

/// Why a run cannot be forked at a point.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ForkRefusal {
    #[error("it is guided: an agent forks it by answering an older state token")]
    Guided,
    #[error("it has no event {at}; its last is {last}")]
    NoEvent { at: Seq, last: Seq },
    #[error("it has ended at event {at}; the last point to continue from is {last}")]
    Ended { at: Seq, last: Seq },
    #[error("its child {child} is running there and reports only to the original")]
    OpenChild { child: RunId },
    #[error("its first event is not `submitted`")]
    NotSubmitted,
    #[error(transparent)]
    Illegal(#[from] IllegalTransition),
}

/// The request to fork a run.
#[derive(Debug, Clone)]
pub struct ForkOptions {
    /// The id of the new run.
    pub id: RunId,
    /// The last event that both runs have. By default, the last point from which the run could
    /// continue: before the answer to its last question, or else before its end.
    pub at: Option<Seq>,
    /// The session of the new run. By default, a fork into another session has the whole log.
    pub session: Option<SessionId>,
    pub now: Timestamp,
}

/// A new run and its log.
#[derive(Debug, Clone, PartialEq)]
pub struct ForkedRun {
    pub run: Run,
    pub events: Vec<Event>,
    /// How many of the events are the original's.
    pub copied: usize,
}

/// Forks the run of this log.
pub fn fork_run(log: &[&Event], fork: ForkOptions) -> Result<ForkedRun, ForkRefusal> {
    let at = resolve_fork_point(log, &fork)?;
    let prefix = &log[..usize::try_from(at).unwrap_or(usize::MAX).min(log.len())];
    let Some((Event::Submitted(original), rest)) = prefix.split_first() else {
        return Err(ForkRefusal::NotSubmitted);
    };
    if original.guided {
        return Err(ForkRefusal::Guided);
    }
    let ForkOptions { id, session, now, at: _ } = fork;
    let submission = RunSubmission {
        run: id,
        // The fork has no parent, and does not inherit the deadline of the original.
        parent: None,
        deadline: None,
        forked_from: Some(ForkPoint { run: original.run, seq: at }),
        session: session.unwrap_or_else(|| original.session.clone()),
        ..(**original).clone()
    };
    let mut run = Run::from_submission(Box::new(submission.clone()), now);
    let mut events = vec![Event::Submitted(Box::new(submission))];
    for event in rest {
        run.apply_event(event)?;
        events.push((*event).clone());
    }
    let has_ended = run.state.name().is_terminal();
    if let Some(child) = run.children.first().filter(|_| !has_ended) {
        return Err(ForkRefusal::OpenChild { child: child.run });
    }
    let copied = events.len();
    // A caller that forks an imported run has reviewed it.
    if run.imported {
        run.apply_event(&Event::Adopted)?;
        events.push(Event::Adopted);
    }
    // What an unfinished step began elsewhere is the original's: in the fork the step begins again, under an
    // idempotency key of its own.
    for op in run.step_notes.keys().cloned().collect::<Vec<_>>() {
        let removed = Event::StepNoted { op, note: Value::Null };
        run.apply_event(&removed)?;
        events.push(removed);
    }
    Ok(ForkedRun { run, events, copied })
}

/// The event after which the new run is independent.
fn resolve_fork_point(log: &[&Event], fork: &ForkOptions) -> Result<Seq, ForkRefusal> {
    let end = log.len() as Seq;
    let last = if fork.session.is_some() { end } else { last_event_before_end(log) };
    let asked = log.iter().rposition(|event| matches!(event, Event::Asked { .. }));
    let at = fork.at.unwrap_or(match asked {
        Some(index) if fork.session.is_none() => index as Seq + 1,
        Some(_) | None => last,
    });
    if at == 0 || at > end {
        return Err(ForkRefusal::NoEvent { at, last: end });
    }
    if at > last { Err(ForkRefusal::Ended { at, last }) } else { Ok(at) }
}

/// The last event after which the run had not ended.
fn last_event_before_end(log: &[&Event]) -> Seq {
    let ends = |event: &&Event| {
        matches!(
            event,
            Event::Completed { .. } | Event::Failed { .. } | Event::Canceled | Event::Rejected { .. }
        )
    };
    log.iter().position(ends).unwrap_or(log.len()) as Seq
}
