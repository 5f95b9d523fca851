//! Push configurations: nested in 0.3, flat in 1.0.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Params, put, read, value};
use crate::{ClientError, Generation, PushAuthentication, PushConfig};

/// The configuration itself. `task_id` stands beside it in 1.0 only.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Config {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    url: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    token: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    authentication: Option<Authentication>,
}

/// `scheme` is of 1.0, `schemes` of 0.3.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Authentication {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    scheme: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    schemes: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
    #[serde(default)]
    configs: Option<Vec<Config>>,
    #[serde(default)]
    next_page_token: Option<String>,
}

/// The configuration as a send carries it, where the task is the one of the message.
pub(super) fn config_value(generation: Generation, config: &PushConfig) -> Value {
    let authentication = config.authentication.as_ref().map(|sent| {
        let credentials = sent.credentials.clone();
        match generation {
            Generation::V03 => {
                let schemes = Some(vec![sent.scheme.clone()]);
                Authentication { schemes, credentials, ..Authentication::default() }
            }
            Generation::V1 => {
                let scheme = Some(sent.scheme.clone());
                Authentication { scheme, credentials, ..Authentication::default() }
            }
        }
    });
    value(&Config {
        id: config.id.clone(),
        url: config.url.clone(),
        token: config.token.clone(),
        authentication,
    })
}

/// The parameters that set a configuration.
pub(crate) fn push_set_params(generation: Generation, task: &str, config: &PushConfig) -> Params {
    let config = config_value(generation, config);
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

/// Configurations, and where the next ones are. A list of 0.3 is whole.
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
