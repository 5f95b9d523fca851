//! Push notification configurations: who is told of a task by HTTP.

use crate::{
    fault::{Fault, Kind},
    ops::Agent,
    version::Generation,
};
use trackway_domain::Code;

/// A configuration, whole: nothing of it is ever logged.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Push {
    /// Chosen by the client; made by us where it chose none.
    pub(crate) id: Option<String>,
    pub(crate) url: String,
    pub(crate) token: Option<String>,
    pub(crate) authentication: Option<Authentication>,
    /// The generation that set it is the one whose body is sent.
    pub(crate) generation: Generation,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Authentication {
    pub(crate) scheme: String,
    pub(crate) credentials: Option<String>,
}

impl Agent<'_> {
    pub(crate) async fn set_push(&self, task: &str, push: Push) -> Result<Push, Fault> {
        let _ = (task, push);
        Err(no_push())
    }

    /// One configuration of a task; the oldest where none is named.
    pub(crate) async fn push(&self, task: &str, id: Option<&str>) -> Result<Push, Fault> {
        let _ = (task, id);
        Err(no_push())
    }

    /// All of a task's configurations, oldest first.
    pub(crate) async fn pushes(&self, task: &str) -> Result<Vec<Push>, Fault> {
        let _ = task;
        Err(no_push())
    }

    /// Removing one that is not there is no error.
    pub(crate) async fn remove_push(&self, task: &str, id: &str) -> Result<(), Fault> {
        let _ = (task, id);
        Err(no_push())
    }
}

pub(crate) fn no_push() -> Fault {
    Fault::new(
        Kind::PushNotificationNotSupported,
        Code::InvalidRequest,
        "this agent sends no push notifications",
        "follow the task with a stream instead",
    )
}
