//! From paths, queries and bodies of 1.0 to calls.

use axum::http::request::Parts;
use serde::Deserialize;

use super::{
    read::{Anything, query, read, read_or_default},
    route::Operation,
};
use crate::{
    asked,
    fault::Fault,
    ops::{Call, Strangers},
    wire::v1::{
        self, GetParams, Int, ListParams, ListPushesParams, PushConfig, PushIdParams, SendParams,
        TaskParams,
    },
};

/// The call, and the tenant that the body names.
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
            (None, v1::get(GetParams { tenant: None, id, history_length })?)
        }
        Operation::List => (None, v1::list(query::<ListParams>(&head.uri)?)?),
        Operation::Cancel { task } => {
            let Anything {} = read_or_default(body)?;
            (None, v1::cancel(TaskParams { tenant: None, id: task.to_owned() }))
        }
        Operation::Subscribe { task } => {
            let Anything {} = read_or_default(body)?;
            let params = TaskParams { tenant: None, id: task.to_owned() };
            (None, v1::subscribe(params, asked::last_event(&head.headers)?))
        }
        Operation::SetPush { task } => {
            let mut params: PushConfig = read(body)?;
            // The path says whose it is; a body that says otherwise means something else.
            if params.task_id.as_deref().is_some_and(|named| !named.is_empty() && named != task) {
                let why = "taskId: the path names another task";
                return Err(Fault::param("/taskId", why, "leave taskId out of the body"));
            }
            params.task_id = Some(task.to_owned());
            (params.tenant.take(), v1::set_push(params)?)
        }
        Operation::GetPush { task, id } => (None, v1::get_push(push_id(task, id))),
        Operation::ListPushes { task } => {
            let params = ListPushesParams { tenant: None, task_id: task.to_owned() };
            (None, v1::list_pushes(params))
        }
        Operation::RemovePush { task, id } => (None, v1::remove_push(push_id(task, id))),
        Operation::ExtendedCard => (None, Call::ExtendedCard { strangers: Strangers::Served }),
    })
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct GetQuery {
    #[serde(default)]
    history_length: Option<Int>,
}

fn push_id(task: &str, id: &str) -> PushIdParams {
    PushIdParams { tenant: None, task_id: task.to_owned(), id: id.to_owned() }
}
