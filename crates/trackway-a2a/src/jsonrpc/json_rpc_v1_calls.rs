//! The methods of protocol 1.0.

use axum::http::HeaderMap;

use super::{RpcRequest, unknown_rpc_method_error};
use crate::{
    error::A2aError,
    operations::{AgentCall, AnonymousCardAccess},
    request_options,
    wire::v1::{
        self, GetTaskParams, ListPushesParams, ListTasksParams, PushConfigParams, PushIdParams, SendParams,
        TaskIdParams, TenantParams,
    },
};

pub(super) const METHODS: &str = "SendMessage, SendStreamingMessage, GetTask, ListTasks, CancelTask, SubscribeToTask, {Create,Get,Delete}TaskPushNotificationConfig, ListTaskPushNotificationConfigs, GetExtendedAgentCard";

/// Only the tenant, for a request that cannot be parsed otherwise.
pub(super) fn parse_json_rpc_tenant(request: &RpcRequest<'_>) -> Option<String> {
    request.parse_rpc_params_or_default::<TenantParams>().ok()?.tenant
}

/// The call and its tenant. At the default agent's address the tenant names another agent.
pub(super) fn parse_tenant_and_json_rpc_call(
    request: &RpcRequest<'_>,
    headers: &HeaderMap,
) -> Result<(Option<String>, AgentCall), A2aError> {
    Ok(match &*request.method {
        "SendMessage" => {
            let mut params: SendParams = request.parse_rpc_params()?;
            (params.tenant.take(), v1::parse_send_message(params)?)
        }
        "SendStreamingMessage" => {
            let mut params: SendParams = request.parse_rpc_params()?;
            (params.tenant.take(), v1::parse_stream_message(params)?)
        }
        "GetTask" => {
            let mut params: GetTaskParams = request.parse_rpc_params()?;
            (params.tenant.take(), v1::parse_get_task(params)?)
        }
        "ListTasks" => {
            let mut params: ListTasksParams = request.parse_rpc_params_or_default()?;
            (params.tenant.take(), v1::parse_list_tasks(params)?)
        }
        "CancelTask" => {
            let mut params: TaskIdParams = request.parse_rpc_params()?;
            (params.tenant.take(), v1::parse_cancel_task(params))
        }
        "SubscribeToTask" => {
            let mut params: TaskIdParams = request.parse_rpc_params()?;
            (
                params.tenant.take(),
                v1::parse_subscribe_to_task(params, request_options::last_event_id_position(headers)?),
            )
        }
        "CreateTaskPushNotificationConfig" => {
            let mut params: PushConfigParams = request.parse_rpc_params()?;
            (params.tenant.take(), v1::parse_set_push(params)?)
        }
        "GetTaskPushNotificationConfig" => {
            let mut params: PushIdParams = request.parse_rpc_params()?;
            (params.tenant.take(), v1::parse_get_push(params))
        }
        "ListTaskPushNotificationConfigs" => {
            let mut params: ListPushesParams = request.parse_rpc_params()?;
            (params.tenant.take(), v1::parse_list_pushes(params))
        }
        "DeleteTaskPushNotificationConfig" => {
            let mut params: PushIdParams = request.parse_rpc_params()?;
            (params.tenant.take(), v1::parse_remove_push(params))
        }
        "GetExtendedAgentCard" => {
            let params: TenantParams = request.parse_rpc_params_or_default()?;
            (params.tenant, AgentCall::ExtendedCard { strangers: AnonymousCardAccess::Allowed })
        }
        method => return Err(unknown_rpc_method_error(method, METHODS)),
    })
}
