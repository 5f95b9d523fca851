//! From paths, queries and bodies of 1.0 to calls.

use axum::http::request::Parts;
use serde::Deserialize;

use super::{
    read::{query, read, read_or_default},
    route::Operation,
};
use crate::{
    asked,
    fault::Fault,
    ops::{Call, Strangers},
    wire::v1::{
        self, GetParams, Int, ListParams, ListPushesParams, PushConfig, PushIdParams, SendParams,
        TaskParams, TenantParams,
    },
};

/// The call, and the tenant that the body or the query names.
pub(super) fn call(
    operation: Operation<'_>,
    head: &Parts,
    body: &[u8],
) -> Result<(Option<String>, Call), Fault> {
    Ok(match operation {
        Operation::Send => {
            let mut params: SendParams = read(body)?;
            (params.tenant.take(), v1::send(params)?)
        }
        Operation::Stream => {
            let mut params: SendParams = read(body)?;
            (params.tenant.take(), v1::stream(params)?)
        }
        Operation::Get { task } => {
            let GetQuery { history_length } = query(&head.uri)?;
            let id = task.to_owned();
            (queried(head)?, v1::get(GetParams { tenant: None, id, history_length })?)
        }
        Operation::List => {
            let mut params: ListParams = query(&head.uri)?;
            (params.tenant.take(), v1::list(params)?)
        }
        Operation::Cancel { task } => {
            let TenantParams { tenant } = read_or_default(body)?;
            (tenant, v1::cancel(TaskParams { tenant: None, id: task.to_owned() }))
        }
        Operation::Subscribe { task } => {
            let TenantParams { tenant } = read_or_default(body)?;
            let tenant = tenant.map_or_else(|| queried(head), |tenant| Ok(Some(tenant)))?;
            let params = TaskParams { tenant: None, id: task.to_owned() };
            (tenant, v1::subscribe(params, asked::last_event(&head.headers)?))
        }
        Operation::SetPush { task } => {
            let mut params: PushConfig = read(body)?;
            // The path names the task; a body that names another one is an error.
            if params.task_id.as_deref().is_some_and(|named| !named.is_empty() && named != task) {
                let why = "taskId: the path names another task";
                return Err(Fault::param("/taskId", why, "leave taskId out of the body"));
            }
            params.task_id = Some(task.to_owned());
            (params.tenant.take(), v1::set_push(params)?)
        }
        Operation::GetPush { task, id } => (queried(head)?, v1::get_push(push_id(task, id))),
        Operation::ListPushes { task } => {
            let PageQuery { page_size, page_token } = query(&head.uri)?;
            let task_id = task.to_owned();
            let params = ListPushesParams { tenant: None, task_id, page_size, page_token };
            (queried(head)?, v1::list_pushes(params))
        }
        Operation::RemovePush { task, id } => (queried(head)?, v1::remove_push(push_id(task, id))),
        Operation::ExtendedCard => {
            (queried(head)?, Call::ExtendedCard { strangers: Strangers::Served })
        }
    })
}

/// Only the tenant, for a request that cannot be parsed otherwise.
pub(super) fn tenant(head: &Parts, body: &[u8]) -> Option<String> {
    let sent = read::<TenantParams>(body).ok().and_then(|params| params.tenant);
    sent.or_else(|| queried(head).ok().flatten())
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct GetQuery {
    #[serde(alias = "history_length")]
    history_length: Option<Int>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PageQuery {
    #[serde(alias = "page_size")]
    page_size: Option<Int>,
    #[serde(alias = "page_token")]
    page_token: Option<String>,
}

fn queried(head: &Parts) -> Result<Option<String>, Fault> {
    query::<TenantParams>(&head.uri).map(|params| params.tenant)
}

fn push_id(task: &str, id: &str) -> PushIdParams {
    PushIdParams { tenant: None, task_id: task.to_owned(), id: id.to_owned() }
}
