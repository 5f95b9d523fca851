//! The methods of protocol 0.3.

use axum::http::HeaderMap;

use super::{RpcRequest, json_rpc_v1_calls, unknown_rpc_method_error};
use crate::{
    error::A2aError,
    operations::{AgentCall, AnonymousCardAccess},
    request_options,
    wire::v03::{self, PushIdParams, SendParams, SetPushParams, TaskIdParams, TaskQueryParams},
};

const METHODS: &str = "message/send, message/stream, tasks/get, tasks/cancel, tasks/resubscribe, tasks/pushNotificationConfig/{set,get,list,delete}, agent/getAuthenticatedExtendedCard";

pub(super) fn parse_json_rpc_call(
    request: &RpcRequest<'_>,
    headers: &HeaderMap,
) -> Result<AgentCall, A2aError> {
    match &*request.method {
        "message/send" => v03::parse_send_message(request.parse_rpc_params::<SendParams>()?),
        "message/stream" => v03::parse_stream_message(request.parse_rpc_params::<SendParams>()?),
        "tasks/get" => v03::parse_get_task(request.parse_rpc_params::<TaskQueryParams>()?),
        "tasks/cancel" => Ok(v03::parse_cancel_task(request.parse_rpc_params::<TaskIdParams>()?)),
        "tasks/resubscribe" => {
            let params = request.parse_rpc_params::<TaskIdParams>()?;
            Ok(v03::parse_subscribe_to_task(params, request_options::last_event_id_position(headers)?))
        }
        "tasks/pushNotificationConfig/set" => {
            request.parse_rpc_params::<SetPushParams>()?.into_set_push_call()
        }
        "tasks/pushNotificationConfig/get" => {
            Ok(v03::parse_get_push(request.parse_rpc_params::<PushIdParams>()?))
        }
        "tasks/pushNotificationConfig/list" => {
            Ok(v03::parse_list_pushes(request.parse_rpc_params::<TaskIdParams>()?))
        }
        "tasks/pushNotificationConfig/delete" => {
            v03::parse_remove_push(request.parse_rpc_params::<PushIdParams>()?)
        }
        "agent/getAuthenticatedExtendedCard" => {
            Ok(AgentCall::ExtendedCard { strangers: AnonymousCardAccess::Denied })
        }
        // Without a version an unknown name also ends up here, so the error lists the methods of both
        // generations.
        method => Err(unknown_rpc_method_error(
            method,
            &format!("{METHODS}; or, of 1.0, {}", json_rpc_v1_calls::METHODS),
        )),
    }
}
