//! Converts between the JSON of both generations and the types of this client.
//!
//! `trackway_a2a_wire` writes requests. Answers have one form (`received_types`), with the part as its type
//! parameter; unknown fields are ignored.

mod push_wire;
mod received_part_v03;
mod received_types;

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};
use trackway_a2a_wire::{self as written, JsonDialect, ReceivedPartV1};
use trackway_domain::{Object, StateName};

use self::{received_part_v03::ReceivedPartV03, received_types::ReceivedMessage};
use super::{
    AddressedMessage, ClientError, ProtocolVersion, SendOptions, SendReply, SendWait, Task, TaskPage,
    TaskQuery, TaskUpdate,
};

pub(super) use self::push_wire::{parse_push_config, parse_push_page, push_id_params, push_set_params};

type Params = Map<String, Value>;

/// The parameters of a send or a stream. `wait` is only used by the former.
pub(super) fn send_message_params(
    generation: ProtocolVersion,
    envelope: &AddressedMessage,
    options: &SendOptions,
    wait: Option<SendWait>,
) -> Params {
    let (dialect, wait, push_key) = match generation {
        ProtocolVersion::V03 => (
            JsonDialect::V03,
            // Absent means not to wait, but not every agent follows that.
            wait.map(|wait| ("blocking", wait == SendWait::UntilIdle)),
            "pushNotificationConfig",
        ),
        ProtocolVersion::V1 => (
            JsonDialect::V1,
            // Absent means to wait.
            wait.filter(|wait| *wait == SendWait::ReturnImmediately).map(|_| ("returnImmediately", true)),
            "taskPushNotificationConfig",
        ),
    };
    let message = written::WireMessage {
        message: &envelope.message,
        context: envelope.context.as_deref(),
        task: envelope.task.as_deref(),
        dialect,
    };
    let mut configuration = Params::new();
    configuration.extend(wait.map(|(key, wait)| (key.to_owned(), wait.into())));
    insert_param(&mut configuration, "historyLength", options.history);
    if !options.accepted_modes.is_empty() {
        insert_param(&mut configuration, "acceptedOutputModes", Some(options.accepted_modes.clone()));
    }
    insert_param(
        &mut configuration,
        push_key,
        options.push.as_ref().map(|config| push_wire::wire_push_config(generation, config)),
    );
    let mut params = Params::new();
    insert_param(&mut params, "message", Some(message));
    insert_param(&mut params, "configuration", (!configuration.is_empty()).then_some(configuration));
    insert_metadata(&mut params, &options.metadata);
    params
}

pub(super) fn task_id_params(id: &str) -> Params {
    let mut params = Params::new();
    insert_param(&mut params, "id", Some(id));
    params
}

pub(super) fn get_task_params(id: &str, history: Option<u32>) -> Params {
    let mut params = task_id_params(id);
    insert_param(&mut params, "historyLength", history);
    params
}

pub(super) fn list_tasks_params(query: &TaskQuery) -> Params {
    // A filter for an unknown state is not possible.
    let state = query.state.filter(|state| *state != StateName::Unknown);
    let mut params = Params::new();
    insert_param(&mut params, "contextId", query.context.as_deref());
    insert_param(&mut params, "status", state.map(|state| JsonDialect::V1.state_name(state)));
    insert_param(&mut params, "statusTimestampAfter", query.after.map(|after| after.to_string()));
    insert_param(&mut params, "pageSize", query.page_size);
    insert_param(&mut params, "pageToken", query.page_token.as_deref());
    insert_param(&mut params, "historyLength", query.history);
    insert_param(&mut params, "includeArtifacts", query.artifacts.then_some(true));
    params
}

pub(super) fn parse_task(generation: ProtocolVersion, json: &str) -> Result<Task, ClientError> {
    match generation {
        ProtocolVersion::V03 => {
            parse_json::<received_types::ReceivedTask<ReceivedPartV03>>(json)?.into_task()
        }
        ProtocolVersion::V1 => parse_json::<received_types::ReceivedTask<ReceivedPartV1>>(json)?.into_task(),
    }
}

pub(super) fn parse_task_page(json: &str) -> Result<TaskPage, ClientError> {
    let read: received_types::ReceivedTaskPage<ReceivedPartV1> = parse_json(json)?;
    let tasks = read.tasks.unwrap_or_default().into_iter().map(received_types::ReceivedTask::into_task);
    Ok(TaskPage {
        tasks: tasks.collect::<Result<_, _>>()?,
        next: read.next_page_token.filter(|token| !token.is_empty()),
        total: read.total_size.unwrap_or_default(),
    })
}

pub(super) fn parse_send_reply(generation: ProtocolVersion, json: &str) -> Result<SendReply, ClientError> {
    match parse_stream_update(generation, json)? {
        TaskUpdate::Task(task) => Ok(SendReply::Task(task)),
        TaskUpdate::Message(envelope) => Ok(SendReply::Message(envelope)),
        TaskUpdate::Status(_) | TaskUpdate::Artifact(_) => {
            Err(ClientError::malformed_response_error("a send is answered with a task or a message"))
        }
    }
}

pub(super) fn parse_stream_update(
    generation: ProtocolVersion,
    json: &str,
) -> Result<TaskUpdate, ClientError> {
    match generation {
        ProtocolVersion::V03 => parse_stream_update_v03(json),
        ProtocolVersion::V1 => parse_json::<received_types::ReceivedStreamItem>(json)?.into_update(),
    }
}

/// An item of 0.3 names its kind in the field `kind`.
fn parse_stream_update_v03(json: &str) -> Result<TaskUpdate, ClientError> {
    #[derive(Deserialize)]
    struct UpdateKindField {
        kind: String,
    }
    match parse_json::<UpdateKindField>(json)?.kind.as_str() {
        "task" => Ok(TaskUpdate::Task(parse_task(ProtocolVersion::V03, json)?)),
        "message" => Ok(TaskUpdate::Message(
            parse_json::<ReceivedMessage<ReceivedPartV03>>(json)?.into_addressed_message()?,
        )),
        "status-update" => Ok(TaskUpdate::Status(
            parse_json::<received_types::ReceivedStatusUpdate<ReceivedPartV03>>(json)?
                .into_status_update()?,
        )),
        "artifact-update" => Ok(TaskUpdate::Artifact(
            parse_json::<received_types::ReceivedArtifactUpdate<ReceivedPartV03>>(json)?
                .into_artifact_update()?,
        )),
        kind => Err(ClientError::malformed_response_error(format_args!("{kind:?} is not a kind of item"))),
    }
}

pub(super) fn parse_json<T: DeserializeOwned>(json: &str) -> Result<T, ClientError> {
    serde_json::from_str(json).map_err(ClientError::malformed_response_error)
}

fn insert_param<T: serde::Serialize>(params: &mut Params, key: &str, value: Option<T>) {
    params.extend(value.map(|value| (key.to_owned(), json!(value))));
}

fn insert_metadata(params: &mut Params, metadata: &Object) {
    insert_param(params, "metadata", (!metadata.is_empty()).then_some(metadata));
}

#[cfg(test)]
mod tests;
