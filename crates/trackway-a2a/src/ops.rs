//! The operations on a run that every binding and generation of the protocol shares. No wire type is
//! used here.

mod call;
mod follow;
mod list;
mod push;
mod send;
mod working;

use std::sync::Arc;

use trackway_domain::{
    Access, ArtifactChunk, Code, Message, Pos, Problem, QuestionId, RunId, SessionId, Timestamp,
};
use trackway_engine::{Bounded, Omitted, ResumeMark, RunView, StatusUpdate, Wanted};
use trackway_http::sse::FrameScope;
use trackway_runtime::{Error, Program, ProgramInfo, RunAddress, Runtime};

use crate::{
    Options,
    fault::{Fault, Kind},
    identity::{NEXT_KEY, Standing},
};

pub(crate) use call::{Call, Ended, History, Outcome, Strangers};
pub(crate) use follow::{Follow, item};
pub(crate) use list::{Page, Query};
pub(crate) use push::{Authentication, PageOf, Push};
pub(crate) use send::{Reply, Said, Streamed};

/// Limit (A2A): bytes of artifacts and history in one Task.
///
/// More than one message of the largest size, and small enough that many concurrent answers fit into
/// memory. The rest is in the task's stream and events.
const TASK_BYTES_MAX: usize = 16 * 1024 * 1024;

/// One workflow, addressed by one caller.
#[derive(Debug)]
pub(crate) struct Agent<'a> {
    pub(crate) runtime: &'a Runtime,
    pub(crate) options: &'a Options,
    pub(crate) program: Arc<dyn Program>,
    pub(crate) access: Access,
    pub(crate) standing: Standing,
}

/// A caller's message, and the fields that say where it belongs.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Incoming {
    pub(crate) message: Message,
    /// The run that it is for, as sent: text that is not a run id is an unknown run.
    pub(crate) run: Option<String>,
    pub(crate) session: Option<SessionId>,
    pub(crate) question: Option<QuestionId>,
    /// It starts a run, even if a run waits in its session.
    pub(crate) new_run: bool,
    /// Media types that the client accepts; any if empty.
    pub(crate) accepted: Vec<String>,
    /// An additional receiver of the following updates.
    pub(crate) push: Option<Push>,
}

/// A run and its session, which are part of every answer about it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Place {
    pub(crate) run: RunId,
    pub(crate) session: SessionId,
}

/// A run at one moment.
#[derive(Debug, Clone)]
pub(crate) struct Snapshot {
    pub(crate) view: RunView,
    /// The result of the message that this answers.
    pub(crate) answer: Option<Answer>,
    /// The parts that did not fit.
    pub(crate) omitted: Omitted,
}

/// A request's number among those at its question, and its errors.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    pub(crate) mark: ResumeMark,
    pub(crate) problems: Vec<Problem>,
}

/// Limit (A2A): bytes of one event of a stream.
///
/// The same as for a Task: a reader of a stream must be able to read each of its events.
const STREAMED_BYTES_MAX: usize = TASK_BYTES_MAX;

/// One item of a stream, and the position after which the stream continues.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    pub(crate) pos: Pos,
    pub(crate) seen: Seen,
    /// The parts of an update that did not fit.
    pub(crate) omitted: Omitted,
    /// Its approximate size as JSON, in bytes.
    pub(crate) bytes: usize,
    /// Who else receives the same item.
    pub(crate) scope: FrameScope,
}

#[derive(Debug, Clone)]
pub(crate) enum Seen {
    Snapshot(Box<Snapshot>),
    Status(Box<StatusUpdate>, Timestamp),
    Artifact(ArtifactChunk),
}

#[cfg(test)]
impl Item {
    /// One that was small enough.
    pub(crate) fn whole(pos: Pos, seen: Seen) -> Self {
        Self { pos, seen, omitted: Omitted::default(), bytes: 0, scope: FrameScope::Event }
    }
}

/// Whether a send waits until the run comes to rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wait {
    Commit,
    Rest,
}

impl Agent<'_> {
    pub(crate) fn workflow(&self) -> &ProgramInfo {
        self.program.info()
    }

    pub(crate) async fn get(&self, id: &str) -> Result<Snapshot, Fault> {
        let view = self.runtime.view(&self.address(id)?).await?;
        Ok(Snapshot::of(view))
    }

    /// The run, already canceled.
    pub(crate) async fn cancel(&self, id: &str) -> Result<Snapshot, Fault> {
        match self.runtime.cancel(&self.address(id)?).await {
            Ok(view) => Ok(Snapshot::of(view)),
            Err(error @ Error::Ended { .. }) => Err(Fault::new(
                Kind::TaskNotCancelable,
                error.code(),
                error.to_string(),
                "nothing is left to cancel; tasks/get shows how it ended",
            )),
            Err(error) => Err(error.into()),
        }
    }

    /// The current run and what follows; after a position, every event since then instead.
    pub(crate) async fn subscribe(
        &self,
        id: &str,
        after: Option<Pos>,
        ended: Ended,
    ) -> Result<Follow, Fault> {
        let address = self.address(id)?;
        let view = self.runtime.view(&address).await?;
        // A client that names a position may have missed the end, and receives it.
        if ended == Ended::Refused && after.is_none() && view.state.is_terminal() {
            return Err(Fault::new(
                Kind::UnsupportedOperation,
                Code::RunEnded,
                format!("the task has ended ({})", view.state),
                "get the task instead; or send Last-Event-ID for the events after a position",
            ));
        }
        let watch = self.runtime.watch(&address, after.unwrap_or(view.pos)).await?;
        Ok(match after {
            None => Follow::from_now(Snapshot::of(view), watch),
            Some(_) => Follow::from_position(view.place(), watch),
        })
    }

    /// For authenticated callers. If the server has no authentication, the generation decides who
    /// receives it.
    fn extended_card(&self, strangers: Strangers) -> Result<Outcome, Fault> {
        let (kind, message) = match (self.options.extended_card, self.standing, strangers) {
            (true, Standing::Recognised, _) | (true, Standing::Unasked, Strangers::Served) => {
                return Ok(Outcome::ExtendedCard);
            }
            (true, Standing::Silent, _) => {
                let message = "the extended card needs a key or token";
                let code = Code::Unauthenticated;
                return Err(Fault::new(Kind::Unauthenticated, code, message, NEXT_KEY));
            }
            (true, Standing::Unasked, Strangers::Refused) => (
                Kind::ExtendedAgentCardNotConfigured,
                "the extended card needs authentication, which this server does not ask for",
            ),
            (false, _, _) => (strangers.undeclared(), "this agent has no extended card"),
        };
        let next = "the card at .well-known/agent-card.json says all there is";
        Err(Fault::new(kind, Code::InvalidRequest, message, next))
    }

    fn address(&self, id: &str) -> Result<RunAddress, Fault> {
        let run = id.parse().map_err(|_| Fault::unknown_run(id))?;
        Ok(self.address_of(run))
    }

    fn address_of(&self, run: RunId) -> RunAddress {
        RunAddress {
            run,
            access: self.access.clone(),
            workflow: Some(self.workflow().name.clone()),
        }
    }
}

impl Snapshot {
    pub(crate) fn of(view: RunView) -> Self {
        Self { view, answer: None, omitted: Omitted::default() }
    }

    /// With this many of its newest messages, and its artifacts if requested, as far as they fit. Also
    /// returns its approximate size in bytes.
    pub(crate) fn bounded(self, messages: History, artifacts: bool) -> (Self, usize) {
        let wanted = Wanted { messages, artifacts, bytes: TASK_BYTES_MAX };
        let Bounded { view, omitted, bytes } = self.view.bounded(wanted);
        (Self { view, omitted, ..self }, bytes)
    }

    pub(crate) fn place(&self) -> Place {
        self.view.place()
    }
}

/// The ids of a view's run and session.
trait Placed {
    fn place(&self) -> Place;
}

impl Placed for RunView {
    fn place(&self) -> Place {
        Place { run: self.submission.run, session: self.submission.session.clone() }
    }
}
