//! Push notification configurations: who receives the updates of a task over HTTP.

use serde::{Deserialize, Serialize};
use trackway_domain::ErrorCode;
use trackway_ports::{Hook, HookTarget};
use trackway_runtime::{Error, NewHook, RunAddress};

use super::AddressedAgent;
use crate::{
    error::{A2aError, A2aErrorKind},
    protocol_version::ProtocolVersion,
    push_delivery::is_valid_header_text,
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
pub(crate) struct PushNotificationConfig {
    /// Chosen by the client, or generated if the client chose none.
    pub(crate) id: Option<String>,
    pub(crate) url: String,
    pub(crate) token: Option<String>,
    pub(crate) authentication: Option<PushAuthentication>,
    /// The generation that set it determines the form of the body.
    pub(crate) generation: ProtocolVersion,
}

#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct PushAuthentication {
    pub(crate) scheme: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) credentials: Option<String>,
}

impl std::fmt::Debug for PushNotificationConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Push").field("id", &self.id).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for PushAuthentication {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Authentication").field("scheme", &self.scheme).finish_non_exhaustive()
    }
}

/// The location of a configuration in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PushConfigSource {
    /// A request that sets it.
    SetRequest,
    /// The configuration of a message that is sent.
    SendRequest,
}

impl PushConfigSource {
    const fn param_path(self, generation: ProtocolVersion) -> &'static str {
        match (self, generation) {
            (Self::SetRequest, ProtocolVersion::V1) => "/params",
            (Self::SetRequest, ProtocolVersion::V03) => "/params/pushNotificationConfig",
            (Self::SendRequest, ProtocolVersion::V1) => "/params/configuration/taskPushNotificationConfig",
            (Self::SendRequest, ProtocolVersion::V03) => "/params/configuration/pushNotificationConfig",
        }
    }
}

/// Which page of a list.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct PageRequest {
    pub(crate) size: Option<i64>,
    /// The token of an earlier page; empty for the first.
    pub(crate) token: String,
}

/// The stored form of a configuration.
#[derive(Serialize, Deserialize)]
struct StoredPushConfig {
    url: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    token: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    authentication: Option<PushAuthentication>,
    protocol: String,
}

impl PushNotificationConfig {
    /// The form that the runtime keeps.
    fn into_new_hook(self) -> NewHook {
        let stored = StoredPushConfig {
            url: self.url,
            token: self.token,
            authentication: self.authentication,
            protocol: self.generation.as_str().to_owned(),
        };
        let target = serde_json::to_value(stored).expect("texts can be written as JSON");
        NewHook { id: self.id, target: HookTarget(target) }
    }

    /// The stored configuration; `None` for a hook that was not set by a client of this front door.
    pub(crate) fn push_config_from_hook(hook: &Hook) -> Option<Self> {
        let stored = StoredPushConfig::deserialize(&hook.target.0).ok()?;
        Some(Self {
            id: Some(hook.id.clone()),
            url: stored.url,
            token: stored.token,
            authentication: stored.authentication,
            generation: ProtocolVersion::parse_version(&stored.protocol)?,
        })
    }
}

impl AddressedAgent<'_> {
    pub(crate) async fn set_push_config(
        &self,
        task_id: &str,
        push: PushNotificationConfig,
    ) -> Result<PushNotificationConfig, A2aError> {
        let address = self.parse_run_address(task_id)?;
        let hook = self.build_push_hook(push, PushConfigSource::SetRequest)?;
        if !self.has_room_for_push_config(&address, hook.id.as_deref()).await? {
            let next = "delete one that is not needed any more";
            return Err(A2aError::new(A2aErrorKind::InvalidParams, ErrorCode::TooLarge, TOO_MANY, next));
        }
        let stored = self.runtime.set_hook(&address, hook).await?;
        PushNotificationConfig::push_config_from_hook(&stored).ok_or_else(push_not_supported_error)
    }

    /// Whether the task accepts one more configuration, or has one with this id that it replaces.
    pub(super) async fn has_room_for_push_config(
        &self,
        address: &RunAddress,
        id: Option<&str>,
    ) -> Result<bool, Error> {
        let known = self.runtime.list_hooks(address).await?;
        Ok(known.len() < PUSHES_MAX || known.iter().any(|known| Some(&*known.id) == id))
    }

    /// One configuration of a task; the oldest if no id is named.
    pub(crate) async fn find_push_config(
        &self,
        task_id: &str,
        id: Option<&str>,
    ) -> Result<PushNotificationConfig, A2aError> {
        let pushes = self.load_push_configs(task_id).await?;
        let found = match id {
            Some(id) => pushes.into_iter().find(|push| push.id.as_deref() == Some(id)),
            None => pushes.into_iter().next(),
        };
        found.ok_or_else(|| {
            A2aError::new(
                A2aErrorKind::TaskNotFound,
                ErrorCode::InvalidRequest,
                "the push notification configuration was not found at this task",
                "list the task's configurations, or create one",
            )
        })
    }

    /// All of a task's configurations, oldest first.
    pub(crate) async fn load_push_configs(
        &self,
        task_id: &str,
    ) -> Result<Vec<PushNotificationConfig>, A2aError> {
        self.check_push_supported()?;
        let hooks = self.runtime.list_hooks(&self.parse_run_address(task_id)?).await?;
        Ok(hooks.iter().filter_map(PushNotificationConfig::push_config_from_hook).collect())
    }

    /// A page of them, and where the next one starts.
    pub(crate) async fn list_push_configs(
        &self,
        task_id: &str,
        page: &PageRequest,
    ) -> Result<(Vec<PushNotificationConfig>, String), A2aError> {
        let mut pushes = self.load_push_configs(task_id).await?;
        if !page.token.is_empty() {
            // The token names the last configuration of a page.
            let last = pushes.iter().position(|push| push.id.as_deref() == Some(&page.token));
            let last = last.ok_or_else(|| {
                let why = "pageToken: no page of this list ended there";
                let next = "repeat nextPageToken of the page before, or send none";
                A2aError::invalid_param_error("/params/pageToken", why, next)
            })?;
            pushes.drain(..=last);
        }
        let size = match page.size {
            None => PUSHES_MAX,
            Some(size) => usize::try_from(size).ok().filter(|size| *size > 0).ok_or_else(|| {
                let why = format!("pageSize: {size} is not a number of configurations");
                A2aError::invalid_param_error("/params/pageSize", why, "send a positive number, or none")
            })?,
        };
        let more = pushes.len() > size;
        pushes.truncate(size);
        let last = pushes.last().and_then(|push| push.id.clone());
        Ok((pushes, last.filter(|_| more).unwrap_or_default()))
    }

    /// Removing a missing configuration is not an error.
    pub(crate) async fn remove_push_config(&self, task_id: &str, id: &str) -> Result<(), A2aError> {
        self.check_push_supported()?;
        Ok(self.runtime.remove_hook(&self.parse_run_address(task_id)?, id).await?)
    }

    /// The hook for the runtime, checked.
    pub(super) fn build_push_hook(
        &self,
        push: PushNotificationConfig,
        source: PushConfigSource,
    ) -> Result<NewHook, A2aError> {
        self.check_push_supported()?;
        let texts = [
            push.id.as_ref(),
            push.token.as_ref(),
            push.authentication.as_ref().map(|known| &known.scheme),
            push.authentication.as_ref().and_then(|known| known.credentials.as_ref()),
        ];
        if texts.into_iter().flatten().any(|text| text.len() > TEXT_BYTES_MAX) {
            let why = "id, token or credentials are longer than 8 KiB";
            return Err(A2aError::new(
                A2aErrorKind::InvalidParams,
                ErrorCode::TooLarge,
                why,
                "send shorter ones",
            ));
        }
        if push.id.as_ref().is_some_and(|id| id.contains('/')) {
            // The id is part of an address on HTTP+JSON and of a name on gRPC.
            let path = format!("{}/id", source.param_path(push.generation));
            return Err(A2aError::invalid_param_error(
                path,
                "id: it holds a slash",
                "send an id without one",
            ));
        }
        let known = push.authentication.as_ref();
        let headers = [
            ("token", push.token.as_ref()),
            ("authentication", known.map(|known| &known.scheme)),
            ("authentication", known.and_then(|known| known.credentials.as_ref())),
        ];
        for (field, text) in headers {
            if text.is_some_and(|text| !is_valid_header_text(text)) {
                let path = format!("{}/{field}", source.param_path(push.generation));
                let why = format!("{field}: no header can carry this");
                return Err(A2aError::invalid_param_error(path, why, "send it without control characters"));
            }
        }
        if let Some(outgoing) = &self.options.outgoing
            && let Err(forbidden) = outgoing.check_push_url(&push.url)
        {
            let next = "send an http or https address that is reachable from everywhere; a server for development may allow its own machine with `[outgoing] allow_loopback = true`";
            let path = format!("{}/url", source.param_path(push.generation));
            return Err(A2aError::invalid_param_error(path, format!("url: {forbidden}"), next));
        }
        Ok(push.into_new_hook())
    }

    fn check_push_supported(&self) -> Result<(), A2aError> {
        if self.options.outgoing.is_some() { Ok(()) } else { Err(push_not_supported_error()) }
    }
}

fn push_not_supported_error() -> A2aError {
    A2aError::new(
        A2aErrorKind::PushNotificationNotSupported,
        ErrorCode::InvalidRequest,
        "this agent sends no push notifications",
        "follow the task with a stream instead",
    )
}
