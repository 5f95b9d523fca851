//! Every request to an agent, independent of generation and binding.
//!
//! A binding parses a request into a [`Call`], the agent executes it, and the binding writes the
//! [`Outcome`]. There is no other layer between the wire and the operations.

use trackway_domain::Pos;

use super::{Agent, Follow, Incoming, Page, PageOf, Push, Query, Reply, Snapshot, Streamed, Wait};
use crate::{
    asked::HISTORY_MESSAGES_MAX,
    fault::{Fault, Kind},
};

/// How many of the newest messages of a task's history are returned; zero means none.
pub(crate) type History = usize;

#[derive(Debug)]
pub(crate) enum Call {
    Send {
        incoming: Box<Incoming>,
        wait: Wait,
        history: History,
    },
    Stream {
        incoming: Box<Incoming>,
        history: History,
    },
    Get {
        task: String,
        history: History,
    },
    List {
        query: Box<Query>,
        history: History,
        artifacts: bool,
    },
    Cancel {
        task: String,
    },
    Subscribe {
        task: String,
        after: Option<Pos>,
        ended: Ended,
        history: History,
    },
    SetPush {
        task: String,
        push: Box<Push>,
    },
    /// Without an id, the oldest one: clients of 0.3 may omit the id.
    GetPush {
        task: String,
        id: Option<String>,
    },
    ListPushes {
        task: String,
        page: PageOf,
    },
    RemovePush {
        task: String,
        id: String,
    },
    ExtendedCard {
        strangers: Strangers,
    },
}

/// Whether an anonymous caller receives the extended card of a server without authentication.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strangers {
    Served,
    /// As in 0.3, whose card is called authenticated.
    Refused,
}

impl Strangers {
    /// The refusal if no card declares the extended card: 1.0 (3.3.4) has one error for every
    /// capability of that kind, 0.3 has a specific one.
    pub(super) const fn undeclared(self) -> Kind {
        match self {
            Self::Served => Kind::UnsupportedOperation,
            Self::Refused => Kind::ExtendedAgentCardNotConfigured,
        }
    }
}

/// The answer to a subscription to a task that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// The current task, and the end of the stream.
    Shown,
    /// A refusal.
    Refused,
}

#[derive(Debug)]
pub(crate) enum Outcome {
    Reply(Reply, History),
    Task(Box<Snapshot>, History),
    Page {
        page: Page,
        history: History,
        artifacts: bool,
    },
    Stream(Streamed, History),
    Push {
        task: String,
        push: Box<Push>,
    },
    Pushes {
        task: String,
        pushes: Vec<Push>,
        /// Where the next page starts; empty at the end.
        next: String,
    },
    /// Done, without a result.
    Done,
    /// The card with the content for authenticated callers.
    ExtendedCard,
}

impl Agent<'_> {
    pub(crate) async fn perform(&self, call: Call) -> Result<Outcome, Fault> {
        Ok(match call {
            Call::Send { incoming, wait, history } => {
                Outcome::Reply(self.send(*incoming, wait).await?.bounded(history), history)
            }
            Call::Stream { incoming, history } => {
                Outcome::Stream(self.stream(*incoming).await?.bounded(history), history)
            }
            Call::Get { task, history } => {
                let (task, _) = self.get(&task).await?.bounded(history, true);
                Outcome::Task(task.into(), history)
            }
            Call::List { query, history, artifacts } => {
                let page = self.list(*query, history, artifacts).await?;
                Outcome::Page { page, history, artifacts }
            }
            Call::Cancel { task } => {
                let history = HISTORY_MESSAGES_MAX;
                let (task, _) = self.cancel(&task).await?.bounded(history, true);
                Outcome::Task(task.into(), history)
            }
            Call::Subscribe { task, after, ended, history } => {
                let follow: Follow = self.subscribe(&task, after, ended).await?;
                Outcome::Stream(Streamed::Task(Box::new(follow.bounded(history))), history)
            }
            Call::SetPush { task, push } => {
                let push = Box::new(self.set_push(&task, *push).await?);
                Outcome::Push { task, push }
            }
            Call::GetPush { task, id } => {
                let push = Box::new(self.push(&task, id.as_deref()).await?);
                Outcome::Push { task, push }
            }
            Call::ListPushes { task, page } => {
                let (pushes, next) = self.pushes_on(&task, &page).await?;
                Outcome::Pushes { task, pushes, next }
            }
            Call::RemovePush { task, id } => {
                self.remove_push(&task, &id).await?;
                Outcome::Done
            }
            Call::ExtendedCard { strangers } => self.extended_card(strangers)?,
        })
    }
}
