//! From paths, queries and bodies of 1.0 to calls.

use axum::http::request::Parts;
use serde::Deserialize;

use super::{
    rest_request_parsing::{parse_json_body, parse_json_body_or_default, parse_query_params},
    rest_route::RestOperation,
};
use crate::{
    error::A2aError,
    operations::{AgentCall, AnonymousCardAccess},
    request_options,
    wire::v1::{
        self, GetTaskParams, JsonInteger, ListPushesParams, ListTasksParams, PushConfigParams, PushIdParams,
        SendParams, TaskIdParams, TenantParams,
    },
};

/// The call, and the tenant that the body or the query names.
pub(super) fn parse_tenant_and_rest_call(
    operation: RestOperation<'_>,
    head: &Parts,
    body: &[u8],
) -> Result<(Option<String>, AgentCall), A2aError> {
    Ok(match operation {
        RestOperation::Send => {
            let mut params: SendParams = parse_json_body(body)?;
            (params.tenant.take(), v1::parse_send_message(params)?)
        }
        RestOperation::Stream => {
            let mut params: SendParams = parse_json_body(body)?;
            (params.tenant.take(), v1::parse_stream_message(params)?)
        }
        RestOperation::Get { task } => {
            let HistoryQueryParams { history_length } = parse_query_params(&head.uri)?;
            let id = task.to_owned();
            (tenant_in_query(head)?, v1::parse_get_task(GetTaskParams { tenant: None, id, history_length })?)
        }
        RestOperation::List => {
            let mut params: ListTasksParams = parse_query_params(&head.uri)?;
            (params.tenant.take(), v1::parse_list_tasks(params)?)
        }
        RestOperation::Cancel { task } => {
            let TenantParams { tenant } = parse_json_body_or_default(body)?;
            (tenant, v1::parse_cancel_task(TaskIdParams { tenant: None, id: task.to_owned() }))
        }
        RestOperation::Subscribe { task } => {
            let TenantParams { tenant } = parse_json_body_or_default(body)?;
            let tenant = tenant.map_or_else(|| tenant_in_query(head), |tenant| Ok(Some(tenant)))?;
            let params = TaskIdParams { tenant: None, id: task.to_owned() };
            (
                tenant,
                v1::parse_subscribe_to_task(params, request_options::last_event_id_position(&head.headers)?),
            )
        }
        RestOperation::SetPush { task } => {
            let mut params: PushConfigParams = parse_json_body(body)?;
            // The path names the task; a body that names another one is an error.
            if params.task_id.as_deref().is_some_and(|named| !named.is_empty() && named != task) {
                let why = "taskId: the path names another task";
                return Err(A2aError::invalid_param_error("/taskId", why, "leave taskId out of the body"));
            }
            params.task_id = Some(task.to_owned());
            (params.tenant.take(), v1::parse_set_push(params)?)
        }
        RestOperation::GetPush { task, id } => {
            (tenant_in_query(head)?, v1::parse_get_push(push_id_params(task, id)))
        }
        RestOperation::ListPushes { task } => {
            let PageQueryParams { page_size, page_token } = parse_query_params(&head.uri)?;
            let task_id = task.to_owned();
            let params = ListPushesParams { tenant: None, task_id, page_size, page_token };
            (tenant_in_query(head)?, v1::parse_list_pushes(params))
        }
        RestOperation::RemovePush { task, id } => {
            (tenant_in_query(head)?, v1::parse_remove_push(push_id_params(task, id)))
        }
        RestOperation::ExtendedCard => {
            (tenant_in_query(head)?, AgentCall::ExtendedCard { strangers: AnonymousCardAccess::Allowed })
        }
    })
}

/// Only the tenant, for a request that cannot be parsed otherwise.
pub(super) fn parse_rest_tenant(head: &Parts, body: &[u8]) -> Option<String> {
    let sent = parse_json_body::<TenantParams>(body).ok().and_then(|params| params.tenant);
    sent.or_else(|| tenant_in_query(head).ok().flatten())
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct HistoryQueryParams {
    #[serde(alias = "history_length")]
    history_length: Option<JsonInteger>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PageQueryParams {
    #[serde(alias = "page_size")]
    page_size: Option<JsonInteger>,
    #[serde(alias = "page_token")]
    page_token: Option<String>,
}

fn tenant_in_query(head: &Parts) -> Result<Option<String>, A2aError> {
    parse_query_params::<TenantParams>(&head.uri).map(|params| params.tenant)
}

fn push_id_params(task: &str, id: &str) -> PushIdParams {
    PushIdParams { tenant: None, task_id: task.to_owned(), id: id.to_owned() }
}
