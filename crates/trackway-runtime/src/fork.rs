//! Forks: another run that begins with a part of this one's log. What is recorded there is not done
//! again; from the point on it goes its own way, and the original is not touched.

use std::sync::Arc;

use trackway_domain::{Event, ForkPoint, RunId, Seq, SessionId, Submission};
use trackway_engine::{Run, RunView};
use trackway_ports::{Append, AppendError, Pinned, ReadError, RunRow, Stored, TimerChange};

use crate::{Error, RunAddress, core::Core};

/// Events read at once while a log is copied.
const PAGE_EVENTS: usize = 1_024;

/// Why a run cannot be forked at a point.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CannotFork {
    #[error("it is guided: an agent forks it by answering an older state token")]
    Guided,
    #[error("it has no event {at}; its last is {last}")]
    NoEvent { at: Seq, last: Seq },
    #[error("it has ended at event {at}; the last point to go on from is {last}")]
    Ended { at: Seq, last: Seq },
    #[error("its child {child} is at work there, and reports to the original alone")]
    OpenChild { child: RunId },
}

impl Core {
    /// Forks a run after one of its events; without one, where it could go on last: before the answer to
    /// its last question, else before its end. Into another session it goes whole.
    pub(crate) async fn fork(
        self: &Arc<Self>,
        address: &RunAddress,
        at: Option<Seq>,
        session: Option<SessionId>,
    ) -> Result<RunView, Error> {
        let run = address.run;
        let live = self.open(address).await?;
        drop(live);
        let cannot = |why| Error::CannotFork { run, why };
        let log = self.whole_log(run).await?;
        let end = log.last().map_or(0, |stored| stored.seq);
        let last = if session.is_some() { end } else { last_point(&log) };
        let asked = log.iter().rfind(|stored| matches!(stored.event, Event::Asked { .. }));
        let at = at.unwrap_or_else(|| match asked {
            Some(asked) if session.is_none() => asked.seq,
            Some(_) | None => last,
        });
        if at == 0 || at > end {
            return Err(cannot(CannotFork::NoEvent { at, last: end }));
        }
        if at > last {
            return Err(cannot(CannotFork::Ended { at, last }));
        }
        let prefix = &log[..usize::try_from(at).unwrap_or(usize::MAX).min(log.len())];
        let id = RunId::new(self.options.ids.uuid());
        let mut append = copied(prefix, id, at, session, self.now()).map_err(|why| match why {
            Refused::Cannot(why) => cannot(why),
            Refused::Damaged(reason) => Error::Damaged { run, reason },
        })?;
        append.pins = self.pins(&append).await?;
        let first_due = append.timers.iter().filter_map(|change| match change {
            TimerChange::Set(_, due) => Some(*due),
            TimerChange::Clear(_) | TimerChange::ClearAll => None,
        });
        let first_due = first_due.min();
        self.hand_in_copy(append).await?;
        // Whoever waits for timers has not seen those of the copy.
        if let Some(due) = first_due {
            self.alarm.set(due);
        }
        let live = self.load(id).await?;
        let view = live.shown().view.clone();
        self.wake(id);
        view.ok_or(Error::Stopping)
    }

    /// The definition that the copy is pinned to, where it has one: the copy needs it also when the
    /// original is removed.
    async fn pins(&self, copy: &Append) -> Result<Vec<Pinned>, Error> {
        let Some(row) = &copy.row else { return Ok(Vec::new()) };
        let hash = row.workflow.version.clone();
        match self.options.journal.pinned(hash.clone()).await {
            Ok(body) => Ok(body.map(|body| Pinned { hash, body }).into_iter().collect()),
            // It is no better for the original; both go on where the folders have the same.
            Err(ReadError::DamagedBlob { .. }) => Ok(Vec::new()),
            Err(error) => Err(error.into()),
        }
    }

    pub(crate) async fn whole_log(&self, run: RunId) -> Result<Vec<Stored>, Error> {
        let mut log: Vec<Stored> = Vec::new();
        loop {
            let after = log.last().map_or(0, |stored| stored.seq);
            let page = self.options.journal.events(run, after, PAGE_EVENTS).await?;
            if page.is_empty() {
                return Ok(log);
            }
            log.extend(page);
        }
    }

    async fn hand_in_copy(&self, append: Append) -> Result<(), Error> {
        let _permit = self.permit().await?;
        let (done, committed) = tokio::sync::oneshot::channel();
        let tell = move |result: Result<_, AppendError>| {
            let _ = done.send(result);
        };
        self.options.journal.append(append, Box::new(tell));
        match committed.await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(Error::append(&error)),
            Err(_) => Err(Error::Stopping),
        }
    }
}

/// The last event after which the run had not ended.
fn last_point(log: &[Stored]) -> Seq {
    let ends = |event: &Event| {
        matches!(
            event,
            Event::Completed { .. }
                | Event::Failed { .. }
                | Event::Canceled
                | Event::Rejected { .. }
        )
    };
    let first_end = log.iter().find(|stored| ends(&stored.event));
    first_end.or(log.last()).map_or(0, |stored| match ends(&stored.event) {
        true => stored.seq - 1,
        false => stored.seq,
    })
}

enum Refused {
    Cannot(CannotFork),
    Damaged(String),
}

/// The prefix as the log of a new run.
fn copied(
    prefix: &[Stored],
    id: RunId,
    at: Seq,
    session: Option<SessionId>,
    now: trackway_domain::Timestamp,
) -> Result<Append, Refused> {
    let Some((Stored { event: Event::Submitted(original), .. }, rest)) = prefix.split_first()
    else {
        return Err(Refused::Damaged("its first event is not `submitted`".to_owned()));
    };
    if original.guided {
        return Err(Refused::Cannot(CannotFork::Guided));
    }
    let submission = Submission {
        run: id,
        // It reports to nobody, and a deadline of the original is not its own.
        parent: None,
        deadline: None,
        forked_from: Some(ForkPoint { run: original.run, seq: at }),
        session: session.unwrap_or_else(|| original.session.clone()),
        ..(**original).clone()
    };
    let mut run = Run::begin(Box::new(submission.clone()), now);
    for stored in rest {
        run.apply(&stored.event).map_err(|illegal| Refused::Damaged(illegal.to_string()))?;
    }
    let has_ended = run.state.name().is_terminal();
    if let Some(child) = run.children.first().filter(|_| !has_ended) {
        return Err(Refused::Cannot(CannotFork::OpenChild { child: child.run }));
    }
    let mut append = Append::new(id, 0, now);
    append.row = Some(RunRow {
        id,
        session: submission.session.clone(),
        caller: submission.caller.clone(),
        workflow: submission.workflow.clone(),
        parent: None,
        state: run.state.name(),
        runnable: !has_ended,
        parked: false,
        created_at: now,
        status_at: now,
    });
    append.timers =
        run.timers.iter().map(|(timer, due)| TimerChange::Set(timer.clone(), *due)).collect();
    append.stamps = prefix.iter().map(|stored| stored.at).collect();
    append.events = std::iter::once(Event::Submitted(Box::new(submission)))
        .chain(rest.iter().map(|stored| stored.event.clone()))
        .collect();
    // Whoever forks an imported run has looked at it.
    if run.imported {
        append.events.push(Event::Adopted);
        append.stamps.push(now);
    }
    Ok(append)
}
