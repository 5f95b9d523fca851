//! From paths, queries and bodies of 0.3 to calls.

use axum::http::request::Parts;
use serde::Deserialize;

use super::{
    rest_request_parsing::{
        EmptyRequestBody, parse_json_body, parse_json_body_or_default, parse_query_params,
    },
    rest_route::RestOperation,
};
use crate::{
    error::A2aError,
    operations::{AgentCall, AnonymousCardAccess},
    request_options,
    wire::v03::{
        self, PushIdParams, TaskIdParams, TaskQueryParams,
        protobuf_json::{RestPushParams, RestSendParams},
    },
};

pub(super) fn parse_rest_call(
    operation: RestOperation<'_>,
    head: &Parts,
    body: &[u8],
) -> Result<AgentCall, A2aError> {
    match operation {
        RestOperation::Send => parse_json_body::<RestSendParams>(body)?.into_send_call(),
        RestOperation::Stream => parse_json_body::<RestSendParams>(body)?.into_stream_call(),
        RestOperation::Get { task } => {
            let HistoryQueryParams { history_length } = parse_query_params(&head.uri)?;
            v03::parse_get_task(TaskQueryParams { id: task.to_owned(), history_length })
        }
        RestOperation::Cancel { task } => {
            let EmptyRequestBody {} = parse_json_body_or_default(body)?;
            Ok(v03::parse_cancel_task(task_id_params(task)))
        }
        RestOperation::Subscribe { task } => {
            let EmptyRequestBody {} = parse_json_body_or_default(body)?;
            Ok(v03::parse_subscribe_to_task(
                task_id_params(task),
                request_options::last_event_id_position(&head.headers)?,
            ))
        }
        RestOperation::SetPush { task } => parse_json_body::<RestPushParams>(body)?.into_set_push_call(task),
        RestOperation::GetPush { task, id } => Ok(v03::parse_get_push(push_id_params(task, id))),
        RestOperation::ListPushes { task } => Ok(v03::parse_list_pushes(task_id_params(task))),
        RestOperation::RemovePush { task, id } => v03::parse_remove_push(push_id_params(task, id)),
        // The router has no list of tasks in this generation.
        RestOperation::ExtendedCard | RestOperation::List => {
            Ok(AgentCall::ExtendedCard { strangers: AnonymousCardAccess::Denied })
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct HistoryQueryParams {
    #[serde(alias = "history_length")]
    history_length: Option<i64>,
}

fn task_id_params(task: &str) -> TaskIdParams {
    TaskIdParams { id: task.to_owned() }
}

fn push_id_params(task: &str, id: &str) -> PushIdParams {
    PushIdParams { id: task.to_owned(), push_notification_config_id: Some(id.to_owned()) }
}
