//! Push notification configurations: who receives the updates of a task over HTTP.

use serde::{Deserialize, Serialize};
use trackway_domain::Code;
use trackway_ports::{Hook, HookTarget};
use trackway_runtime::{Error, NewHook, RunAddress};

use super::Agent;
use crate::{
    fault::{Fault, Kind},
    push::is_header_text,
    version::Generation,
};

/// Most configurations of one task. Each costs a delivery per update; a client needs one or two.
/// Limit (Push): configurations of one task.
const PUSHES_MAX: usize = 20;
pub(super) const TOO_MANY: &str = "the task has 20 configurations, and takes no more";
/// Longest id, token and credentials. They are stored with every configuration.
/// Limit (Push): id, token and credentials of a configuration, each.
const TEXT_BYTES_MAX: usize = 8 * 1024;

/// A complete configuration. Its secrets are stored next to the log and sent to the target; they are
/// never logged.
#[derive(Clone, PartialEq)]
pub(crate) struct Push {
    /// Chosen by the client, or generated if the client chose none.
    pub(crate) id: Option<String>,
    pub(crate) url: String,
    pub(crate) token: Option<String>,
    pub(crate) authentication: Option<Authentication>,
    /// The generation that set it determines the form of the body.
    pub(crate) generation: Generation,
}

#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Authentication {
    pub(crate) scheme: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) credentials: Option<String>,
}

impl std::fmt::Debug for Push {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Push").field("id", &self.id).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Authentication {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Authentication").field("scheme", &self.scheme).finish_non_exhaustive()
    }
}

/// The location of a configuration in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Within {
    /// A request that sets it.
    Set,
    /// The configuration of a message that is sent.
    Send,
}

impl Within {
    const fn place(self, generation: Generation) -> &'static str {
        match (self, generation) {
            (Self::Set, Generation::V1) => "/params",
            (Self::Set, Generation::V03) => "/params/pushNotificationConfig",
            (Self::Send, Generation::V1) => "/params/configuration/taskPushNotificationConfig",
            (Self::Send, Generation::V03) => "/params/configuration/pushNotificationConfig",
        }
    }
}

/// Which page of a list.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct PageOf {
    pub(crate) size: Option<i64>,
    /// The token of an earlier page; empty for the first.
    pub(crate) token: String,
}

/// The stored form of a configuration.
#[derive(Serialize, Deserialize)]
struct Stored {
    url: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    token: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    authentication: Option<Authentication>,
    protocol: String,
}

impl Push {
    /// The form that the runtime keeps.
    fn hook(self) -> NewHook {
        let stored = Stored {
            url: self.url,
            token: self.token,
            authentication: self.authentication,
            protocol: self.generation.version().to_owned(),
        };
        let target = serde_json::to_value(stored).expect("texts can be written as JSON");
        NewHook { id: self.id, target: HookTarget(target) }
    }

    /// The stored configuration; `None` for a hook that was not set by a client of this front door.
    pub(crate) fn of(hook: &Hook) -> Option<Self> {
        let stored = Stored::deserialize(&hook.target.0).ok()?;
        Some(Self {
            id: Some(hook.id.clone()),
            url: stored.url,
            token: stored.token,
            authentication: stored.authentication,
            generation: Generation::parse(&stored.protocol)?,
        })
    }
}

impl Agent<'_> {
    pub(crate) async fn set_push(&self, task: &str, push: Push) -> Result<Push, Fault> {
        let address = self.address(task)?;
        let hook = self.new_hook(push, Within::Set)?;
        if !self.has_room(&address, hook.id.as_deref()).await? {
            let next = "delete one that is not needed any more";
            return Err(Fault::new(Kind::InvalidParams, Code::TooLarge, TOO_MANY, next));
        }
        let stored = self.runtime.set_hook(&address, hook).await?;
        Push::of(&stored).ok_or_else(no_push)
    }

    /// Whether the task accepts one more configuration, or has one with this id that it replaces.
    pub(super) async fn has_room(
        &self,
        address: &RunAddress,
        id: Option<&str>,
    ) -> Result<bool, Error> {
        let known = self.runtime.hooks(address).await?;
        Ok(known.len() < PUSHES_MAX || known.iter().any(|known| Some(&*known.id) == id))
    }

    /// One configuration of a task; the oldest if no id is named.
    pub(crate) async fn push(&self, task: &str, id: Option<&str>) -> Result<Push, Fault> {
        let pushes = self.pushes(task).await?;
        let found = match id {
            Some(id) => pushes.into_iter().find(|push| push.id.as_deref() == Some(id)),
            None => pushes.into_iter().next(),
        };
        found.ok_or_else(|| {
            Fault::new(
                Kind::TaskNotFound,
                Code::InvalidRequest,
                "the push notification configuration was not found at this task",
                "list the task's configurations, or create one",
            )
        })
    }

    /// All of a task's configurations, oldest first.
    pub(crate) async fn pushes(&self, task: &str) -> Result<Vec<Push>, Fault> {
        self.check_push()?;
        let hooks = self.runtime.hooks(&self.address(task)?).await?;
        Ok(hooks.iter().filter_map(Push::of).collect())
    }

    /// A page of them, and where the next one starts.
    pub(crate) async fn pushes_on(
        &self,
        task: &str,
        page: &PageOf,
    ) -> Result<(Vec<Push>, String), Fault> {
        let mut pushes = self.pushes(task).await?;
        if !page.token.is_empty() {
            // The token names the last configuration of a page.
            let last = pushes.iter().position(|push| push.id.as_deref() == Some(&page.token));
            let last = last.ok_or_else(|| {
                let why = "pageToken: no page of this list ended there";
                let next = "repeat nextPageToken of the page before, or send none";
                Fault::param("/params/pageToken", why, next)
            })?;
            pushes.drain(..=last);
        }
        let size = match page.size {
            None => PUSHES_MAX,
            Some(size) => usize::try_from(size).ok().filter(|size| *size > 0).ok_or_else(|| {
                let why = format!("pageSize: {size} is not a number of configurations");
                Fault::param("/params/pageSize", why, "send a positive number, or none")
            })?,
        };
        let more = pushes.len() > size;
        pushes.truncate(size);
        let last = pushes.last().and_then(|push| push.id.clone());
        Ok((pushes, last.filter(|_| more).unwrap_or_default()))
    }

    /// Removing a missing configuration is not an error.
    pub(crate) async fn remove_push(&self, task: &str, id: &str) -> Result<(), Fault> {
        self.check_push()?;
        Ok(self.runtime.remove_hook(&self.address(task)?, id).await?)
    }

    /// The hook for the runtime, checked.
    pub(super) fn new_hook(&self, push: Push, within: Within) -> Result<NewHook, Fault> {
        self.check_push()?;
        let texts = [
            push.id.as_ref(),
            push.token.as_ref(),
            push.authentication.as_ref().map(|known| &known.scheme),
            push.authentication.as_ref().and_then(|known| known.credentials.as_ref()),
        ];
        if texts.into_iter().flatten().any(|text| text.len() > TEXT_BYTES_MAX) {
            let why = "id, token or credentials are longer than 8 KiB";
            return Err(Fault::new(Kind::InvalidParams, Code::TooLarge, why, "send shorter ones"));
        }
        if push.id.as_ref().is_some_and(|id| id.contains('/')) {
            // The id is part of an address on HTTP+JSON and of a name on gRPC.
            let path = format!("{}/id", within.place(push.generation));
            return Err(Fault::param(path, "id: it holds a slash", "send an id without one"));
        }
        let known = push.authentication.as_ref();
        let headers = [
            ("token", push.token.as_ref()),
            ("authentication", known.map(|known| &known.scheme)),
            ("authentication", known.and_then(|known| known.credentials.as_ref())),
        ];
        for (field, text) in headers {
            if text.is_some_and(|text| !is_header_text(text)) {
                let path = format!("{}/{field}", within.place(push.generation));
                let why = format!("{field}: no header can carry this");
                return Err(Fault::param(path, why, "send it without control characters"));
            }
        }
        if let Some(outgoing) = &self.options.outgoing
            && let Err(forbidden) = outgoing.check(&push.url)
        {
            let next = "send an http or https address that is reachable from everywhere; a server for development may allow its own machine with `[outgoing] allow_loopback = true`";
            let path = format!("{}/url", within.place(push.generation));
            return Err(Fault::param(path, format!("url: {forbidden}"), next));
        }
        Ok(push.hook())
    }

    fn check_push(&self) -> Result<(), Fault> {
        if self.options.outgoing.is_some() { Ok(()) } else { Err(no_push()) }
    }
}

fn no_push() -> Fault {
    Fault::new(
        Kind::PushNotificationNotSupported,
        Code::InvalidRequest,
        "this agent sends no push notifications",
        "follow the task with a stream instead",
    )
}
