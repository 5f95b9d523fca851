//! The methods of protocol 1.0.

use axum::http::HeaderMap;

use super::{Request, no_method};
use crate::{
    asked,
    fault::Fault,
    ops::{Call, Strangers},
    wire::v1::{
        self, GetParams, ListParams, ListPushesParams, PushConfig, PushIdParams, SendParams,
        TaskParams, TenantParams,
    },
};

pub(super) const METHODS: &str = "SendMessage, SendStreamingMessage, GetTask, ListTasks, CancelTask, SubscribeToTask, {Create,Get,Delete}TaskPushNotificationConfig, ListTaskPushNotificationConfigs, GetExtendedAgentCard";

/// Only the tenant, for a request that cannot be parsed otherwise.
pub(super) fn tenant(request: &Request<'_>) -> Option<String> {
    request.params_or_default::<TenantParams>().ok()?.tenant
}

/// The call and its tenant. At the default agent's address the tenant names another agent.
pub(super) fn call(
    request: &Request<'_>,
    headers: &HeaderMap,
) -> Result<(Option<String>, Call), Fault> {
    Ok(match &*request.method {
        "SendMessage" => {
            let mut params: SendParams = request.params()?;
            (params.tenant.take(), v1::send(params)?)
        }
        "SendStreamingMessage" => {
            let mut params: SendParams = request.params()?;
            (params.tenant.take(), v1::stream(params)?)
        }
        "GetTask" => {
            let mut params: GetParams = request.params()?;
            (params.tenant.take(), v1::get(params)?)
        }
        "ListTasks" => {
            let mut params: ListParams = request.params_or_default()?;
            (params.tenant.take(), v1::list(params)?)
        }
        "CancelTask" => {
            let mut params: TaskParams = request.params()?;
            (params.tenant.take(), v1::cancel(params))
        }
        "SubscribeToTask" => {
            let mut params: TaskParams = request.params()?;
            (params.tenant.take(), v1::subscribe(params, asked::last_event(headers)?))
        }
        "CreateTaskPushNotificationConfig" => {
            let mut params: PushConfig = request.params()?;
            (params.tenant.take(), v1::set_push(params)?)
        }
        "GetTaskPushNotificationConfig" => {
            let mut params: PushIdParams = request.params()?;
            (params.tenant.take(), v1::get_push(params))
        }
        "ListTaskPushNotificationConfigs" => {
            let mut params: ListPushesParams = request.params()?;
            (params.tenant.take(), v1::list_pushes(params))
        }
        "DeleteTaskPushNotificationConfig" => {
            let mut params: PushIdParams = request.params()?;
            (params.tenant.take(), v1::remove_push(params))
        }
        "GetExtendedAgentCard" => {
            let params: TenantParams = request.params_or_default()?;
            (params.tenant, Call::ExtendedCard { strangers: Strangers::Served })
        }
        method => return Err(no_method(method, METHODS)),
    })
}
