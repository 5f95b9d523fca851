//! Push configurations: nested in 0.3, flat in 1.0.

use serde::Deserialize;
use serde_json::{Value, json};
use trackway_a2a_wire as written;

use super::{Params, insert_param, parse_json};
use crate::{ClientError, ProtocolVersion, PushAuthentication, PushConfig};

/// The configuration itself. Only 1.0 has `task_id` next to it.
#[derive(Debug, Deserialize)]
struct ReceivedPushConfig {
    id: Option<String>,
    url: String,
    token: Option<String>,
    authentication: Option<ReceivedAuthentication>,
}

/// `scheme` is of 1.0, `schemes` of 0.3.
#[derive(Debug, Deserialize)]
struct ReceivedAuthentication {
    scheme: Option<String>,
    schemes: Option<Vec<String>>,
    credentials: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReceivedTaskPushConfig {
    push_notification_config: ReceivedPushConfig,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReceivedPushConfigPage {
    configs: Option<Vec<ReceivedPushConfig>>,
    next_page_token: Option<String>,
}

/// The configuration inside a send, where the task is the one of the message.
pub(super) fn wire_push_config(
    generation: ProtocolVersion,
    config: &PushConfig,
) -> written::WirePushConfig<'_> {
    let known = config.authentication.as_ref();
    written::WirePushConfig {
        id: config.id.as_deref(),
        url: &config.url,
        token: config.token.as_deref(),
        authentication: known.map(|known| (&*known.scheme, known.credentials.as_deref())),
        task: None,
        generation,
    }
}

/// The parameters that set a configuration.
pub(crate) fn push_set_params(generation: ProtocolVersion, task: &str, config: &PushConfig) -> Params {
    let config = json!(self::wire_push_config(generation, config));
    let mut params = Params::new();
    match (generation, config) {
        (ProtocolVersion::V1, Value::Object(config)) => params = config,
        (_, config) => insert_param(&mut params, "pushNotificationConfig", Some(config)),
    }
    insert_param(&mut params, "taskId", Some(task));
    params
}

/// The parameters that name one configuration of a task, or all of them.
pub(crate) fn push_id_params(generation: ProtocolVersion, task: &str, id: Option<&str>) -> Params {
    let (task_key, id_key) = match generation {
        ProtocolVersion::V03 => ("id", "pushNotificationConfigId"),
        ProtocolVersion::V1 => ("taskId", "id"),
    };
    let mut params = Params::new();
    insert_param(&mut params, task_key, Some(task));
    insert_param(&mut params, id_key, id);
    params
}

pub(crate) fn parse_push_config(generation: ProtocolVersion, json: &str) -> Result<PushConfig, ClientError> {
    let config = match generation {
        ProtocolVersion::V03 => parse_json::<ReceivedTaskPushConfig>(json)?.push_notification_config,
        ProtocolVersion::V1 => parse_json(json)?,
    };
    Ok(config.into_push_config())
}

/// Configurations, and the token of the next page. A list of 0.3 is complete.
pub(crate) fn parse_push_page(
    generation: ProtocolVersion,
    json: &str,
) -> Result<(Vec<PushConfig>, Option<String>), ClientError> {
    match generation {
        ProtocolVersion::V03 => {
            let all: Vec<ReceivedTaskPushConfig> = parse_json(json)?;
            Ok((
                all.into_iter().map(|nested| nested.push_notification_config.into_push_config()).collect(),
                None,
            ))
        }
        ProtocolVersion::V1 => {
            let page: ReceivedPushConfigPage = parse_json(json)?;
            let configs = page
                .configs
                .unwrap_or_default()
                .into_iter()
                .map(ReceivedPushConfig::into_push_config)
                .collect();
            Ok((configs, page.next_page_token.filter(|token| !token.is_empty())))
        }
    }
}

impl ReceivedPushConfig {
    fn into_push_config(self) -> PushConfig {
        let authentication = self.authentication.and_then(|sent| {
            let first = sent.schemes.and_then(|schemes| schemes.into_iter().next());
            let scheme = sent.scheme.or(first)?;
            Some(PushAuthentication { scheme, credentials: sent.credentials })
        });
        let filled = |text: Option<String>| text.filter(|text| !text.is_empty());
        PushConfig { id: filled(self.id), url: self.url, token: filled(self.token), authentication }
    }
}
