//! Converts between the JSON of both generations and the types of this client.
//!
//! `trackway_a2a_wire` writes requests. Answers have one form (`shapes`), with the part as its type
//! parameter; unknown fields are ignored.

mod push;
mod shapes;
mod v03;

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};
use trackway_a2a_wire::{self as written, Dialect, PartV1};
use trackway_domain::{Object, StateName};

use self::{shapes::Message, v03::PartV03};
use super::{
    ClientError, Envelope, Generation, ListQuery, Page, Reply, SendOptions, Task, Update, Wait,
};

pub(super) use self::push::{push_config, push_id_params, push_page, push_set_params};

type Params = Map<String, Value>;

/// The parameters of a send or a stream. `wait` is only used by the former.
pub(super) fn send_params(
    generation: Generation,
    envelope: &Envelope,
    options: &SendOptions,
    wait: Option<Wait>,
) -> Params {
    let (dialect, wait, push_key) = match generation {
        Generation::V03 => (
            Dialect::V03,
            // Absent means not to wait, but not every agent follows that.
            wait.map(|wait| ("blocking", wait == Wait::Rest)),
            "pushNotificationConfig",
        ),
        Generation::V1 => (
            Dialect::V1,
            // Absent means to wait.
            wait.filter(|wait| *wait == Wait::No).map(|_| ("returnImmediately", true)),
            "taskPushNotificationConfig",
        ),
    };
    let message = written::Message {
        message: &envelope.message,
        context: envelope.context.as_deref(),
        task: envelope.task.as_deref(),
        dialect,
    };
    let mut configuration = Params::new();
    configuration.extend(wait.map(|(key, wait)| (key.to_owned(), wait.into())));
    put(&mut configuration, "historyLength", options.history);
    if !options.accepted_modes.is_empty() {
        put(&mut configuration, "acceptedOutputModes", Some(options.accepted_modes.clone()));
    }
    put(
        &mut configuration,
        push_key,
        options.push.as_ref().map(|config| push::config(generation, config)),
    );
    let mut params = Params::new();
    put(&mut params, "message", Some(message));
    put(&mut params, "configuration", (!configuration.is_empty()).then_some(configuration));
    put_metadata(&mut params, &options.metadata);
    params
}

pub(super) fn task_params(id: &str) -> Params {
    let mut params = Params::new();
    put(&mut params, "id", Some(id));
    params
}

pub(super) fn get_params(id: &str, history: Option<u32>) -> Params {
    let mut params = task_params(id);
    put(&mut params, "historyLength", history);
    params
}

pub(super) fn list_params(query: &ListQuery) -> Params {
    // A filter for an unknown state is not possible.
    let state = query.state.filter(|state| *state != StateName::Unknown);
    let mut params = Params::new();
    put(&mut params, "contextId", query.context.as_deref());
    put(&mut params, "status", state.map(|state| Dialect::V1.state(state)));
    put(&mut params, "statusTimestampAfter", query.after.map(|after| after.to_string()));
    put(&mut params, "pageSize", query.page_size);
    put(&mut params, "pageToken", query.page_token.as_deref());
    put(&mut params, "historyLength", query.history);
    put(&mut params, "includeArtifacts", query.artifacts.then_some(true));
    params
}

pub(super) fn task(generation: Generation, json: &str) -> Result<Task, ClientError> {
    match generation {
        Generation::V03 => read::<shapes::Task<PartV03>>(json)?.taken(),
        Generation::V1 => read::<shapes::Task<PartV1>>(json)?.taken(),
    }
}

pub(super) fn page(json: &str) -> Result<Page, ClientError> {
    let read: shapes::Page<PartV1> = read(json)?;
    let tasks = read.tasks.unwrap_or_default().into_iter().map(shapes::Task::taken);
    Ok(Page {
        tasks: tasks.collect::<Result<_, _>>()?,
        next: read.next_page_token.filter(|token| !token.is_empty()),
        total: read.total_size.unwrap_or_default(),
    })
}

pub(super) fn reply(generation: Generation, json: &str) -> Result<Reply, ClientError> {
    match update(generation, json)? {
        Update::Task(task) => Ok(Reply::Task(task)),
        Update::Message(envelope) => Ok(Reply::Message(envelope)),
        Update::Status(_) | Update::Artifact(_) => {
            Err(ClientError::malformed("a send is answered with a task or a message"))
        }
    }
}

pub(super) fn update(generation: Generation, json: &str) -> Result<Update, ClientError> {
    match generation {
        Generation::V03 => tagged(json),
        Generation::V1 => read::<shapes::StreamResponse>(json)?.taken(),
    }
}

/// An item of 0.3 names its kind in the field `kind`.
fn tagged(json: &str) -> Result<Update, ClientError> {
    #[derive(Deserialize)]
    struct Tag {
        kind: String,
    }
    match read::<Tag>(json)?.kind.as_str() {
        "task" => Ok(Update::Task(task(Generation::V03, json)?)),
        "message" => Ok(Update::Message(read::<Message<PartV03>>(json)?.taken()?)),
        "status-update" => {
            Ok(Update::Status(read::<shapes::StatusUpdate<PartV03>>(json)?.taken()?))
        }
        "artifact-update" => {
            Ok(Update::Artifact(read::<shapes::ArtifactUpdate<PartV03>>(json)?.taken()?))
        }
        kind => Err(ClientError::malformed(format_args!("{kind:?} is not a kind of item"))),
    }
}

pub(super) fn read<T: DeserializeOwned>(json: &str) -> Result<T, ClientError> {
    serde_json::from_str(json).map_err(ClientError::malformed)
}

fn put<T: serde::Serialize>(params: &mut Params, key: &str, value: Option<T>) {
    params.extend(value.map(|value| (key.to_owned(), json!(value))));
}

fn put_metadata(params: &mut Params, metadata: &Object) {
    put(params, "metadata", (!metadata.is_empty()).then_some(metadata));
}

#[cfg(test)]
mod tests;
