//! The methods of protocol 0.3.

use axum::http::HeaderMap;

use super::{Request, no_method, v1};
use crate::{
    asked,
    fault::Fault,
    ops::{Call, Strangers},
    wire::v03::{self, PushIdParams, SendParams, SetPushParams, TaskIdParams, TaskQueryParams},
};

const METHODS: &str = "message/send, message/stream, tasks/get, tasks/cancel, tasks/resubscribe, tasks/pushNotificationConfig/{set,get,list,delete}, agent/getAuthenticatedExtendedCard";

pub(super) fn call(request: &Request<'_>, headers: &HeaderMap) -> Result<Call, Fault> {
    match &*request.method {
        "message/send" => v03::send(request.params::<SendParams>()?),
        "message/stream" => v03::stream(request.params::<SendParams>()?),
        "tasks/get" => v03::get(request.params::<TaskQueryParams>()?),
        "tasks/cancel" => Ok(v03::cancel(request.params::<TaskIdParams>()?)),
        "tasks/resubscribe" => {
            let params = request.params::<TaskIdParams>()?;
            Ok(v03::subscribe(params, asked::last_event(headers)?))
        }
        "tasks/pushNotificationConfig/set" => request.params::<SetPushParams>()?.call(),
        "tasks/pushNotificationConfig/get" => Ok(v03::get_push(request.params::<PushIdParams>()?)),
        "tasks/pushNotificationConfig/list" => {
            Ok(v03::list_pushes(request.params::<TaskIdParams>()?))
        }
        "tasks/pushNotificationConfig/delete" => {
            v03::remove_push(request.params::<PushIdParams>()?)
        }
        "agent/getAuthenticatedExtendedCard" => {
            Ok(Call::ExtendedCard { strangers: Strangers::Refused })
        }
        // Without a version an unknown name also ends up here, so the error lists the methods of both
        // generations.
        method => Err(no_method(method, &format!("{METHODS}; or, of 1.0, {}", v1::METHODS))),
    }
}
