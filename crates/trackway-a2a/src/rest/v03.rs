//! From paths, queries and bodies of 0.3 to calls.

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
    wire::v03::{
        self, PushIdParams, TaskIdParams, TaskQueryParams,
        rest::{PushParams, SendParams},
    },
};

pub(super) fn call(operation: Operation<'_>, head: &Parts, body: &[u8]) -> Result<Call, Fault> {
    match operation {
        Operation::Send => read::<SendParams>(body)?.send(),
        Operation::Stream => read::<SendParams>(body)?.stream(),
        Operation::Get { task } => {
            let GetQuery { history_length } = query(&head.uri)?;
            v03::get(TaskQueryParams { id: task.to_owned(), history_length })
        }
        Operation::Cancel { task } => {
            let Anything {} = read_or_default(body)?;
            Ok(v03::cancel(id(task)))
        }
        Operation::Subscribe { task } => {
            let Anything {} = read_or_default(body)?;
            Ok(v03::subscribe(id(task), asked::last_event(&head.headers)?))
        }
        Operation::SetPush { task } => read::<PushParams>(body)?.call(task),
        Operation::GetPush { task, id } => Ok(v03::get_push(push_id(task, id))),
        Operation::ListPushes { task } => Ok(v03::list_pushes(id(task))),
        Operation::RemovePush { task, id } => v03::remove_push(push_id(task, id)),
        // The router has no list of tasks in this generation.
        Operation::ExtendedCard | Operation::List => {
            Ok(Call::ExtendedCard { strangers: Strangers::Refused })
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct GetQuery {
    #[serde(alias = "history_length")]
    history_length: Option<i64>,
}

fn id(task: &str) -> TaskIdParams {
    TaskIdParams { id: task.to_owned() }
}

fn push_id(task: &str, id: &str) -> PushIdParams {
    PushIdParams { id: task.to_owned(), push_notification_config_id: Some(id.to_owned()) }
}
