//! Push configurations: nested in 0.3, flat in 1.0.

use serde::Deserialize;
use serde_json::{Value, json};
use trackway_a2a_wire as written;

use super::{Params, put, read};
use crate::{ClientError, Generation, PushAuthentication, PushConfig};

/// The configuration itself. Only 1.0 has `task_id` next to it.
#[derive(Debug, Deserialize)]
struct Config {
    id: Option<String>,
    url: String,
    token: Option<String>,
    authentication: Option<Authentication>,
}

/// `scheme` is of 1.0, `schemes` of 0.3.
#[derive(Debug, Deserialize)]
struct Authentication {
    scheme: Option<String>,
    schemes: Option<Vec<String>>,
    credentials: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Nested {
    push_notification_config: Config,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page {
    configs: Option<Vec<Config>>,
    next_page_token: Option<String>,
}

/// The configuration inside a send, where the task is the one of the message.
pub(super) fn config(generation: Generation, config: &PushConfig) -> written::PushConfig<'_> {
    let known = config.authentication.as_ref();
    written::PushConfig {
        id: config.id.as_deref(),
        url: &config.url,
        token: config.token.as_deref(),
        authentication: known.map(|known| (&*known.scheme, known.credentials.as_deref())),
        task: None,
        generation,
    }
}

/// The parameters that set a configuration.
pub(crate) fn push_set_params(generation: Generation, task: &str, config: &PushConfig) -> Params {
    let config = json!(self::config(generation, config));
    let mut params = Params::new();
    match (generation, config) {
        (Generation::V1, Value::Object(config)) => params = config,
        (_, config) => put(&mut params, "pushNotificationConfig", Some(config)),
    }
    put(&mut params, "taskId", Some(task));
    params
}

/// The parameters that name one configuration of a task, or all of them.
pub(crate) fn push_id_params(generation: Generation, task: &str, id: Option<&str>) -> Params {
    let (task_key, id_key) = match generation {
        Generation::V03 => ("id", "pushNotificationConfigId"),
        Generation::V1 => ("taskId", "id"),
    };
    let mut params = Params::new();
    put(&mut params, task_key, Some(task));
    put(&mut params, id_key, id);
    params
}

pub(crate) fn push_config(generation: Generation, json: &str) -> Result<PushConfig, ClientError> {
    let config = match generation {
        Generation::V03 => read::<Nested>(json)?.push_notification_config,
        Generation::V1 => read(json)?,
    };
    Ok(config.taken())
}

/// Configurations, and the token of the next page. A list of 0.3 is complete.
pub(crate) fn push_page(
    generation: Generation,
    json: &str,
) -> Result<(Vec<PushConfig>, Option<String>), ClientError> {
    match generation {
        Generation::V03 => {
            let all: Vec<Nested> = read(json)?;
            Ok((
                all.into_iter().map(|nested| nested.push_notification_config.taken()).collect(),
                None,
            ))
        }
        Generation::V1 => {
            let page: Page = read(json)?;
            let configs = page.configs.unwrap_or_default().into_iter().map(Config::taken).collect();
            Ok((configs, page.next_page_token.filter(|token| !token.is_empty())))
        }
    }
}

impl Config {
    fn taken(self) -> PushConfig {
        let authentication = self.authentication.and_then(|sent| {
            let first = sent.schemes.and_then(|schemes| schemes.into_iter().next());
            let scheme = sent.scheme.or(first)?;
            Some(PushAuthentication { scheme, credentials: sent.credentials })
        });
        let filled = |text: Option<String>| text.filter(|text| !text.is_empty());
        PushConfig { id: filled(self.id), url: self.url, token: filled(self.token), authentication }
    }
}
