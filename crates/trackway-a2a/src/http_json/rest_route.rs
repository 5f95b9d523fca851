//! The addresses of the HTTP+JSON binding: the operation of a method and a path.

use axum::http::Method;

use crate::protocol_version::ProtocolVersion;

/// An operation, with the values from the path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RestRoute<'a> {
    pub(crate) generation: ProtocolVersion,
    pub(crate) tenant: Option<&'a str>,
    pub(crate) operation: RestOperation<'a>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RestOperation<'a> {
    Send,
    Stream,
    Get { task: &'a str },
    List,
    Cancel { task: &'a str },
    Subscribe { task: &'a str },
    SetPush { task: &'a str },
    GetPush { task: &'a str, id: &'a str },
    ListPushes { task: &'a str },
    RemovePush { task: &'a str, id: &'a str },
    ExtendedCard,
}

/// Why a path names no operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RestRouteError {
    UnknownPath(ProtocolVersion),
    /// The path exists, but not for this method.
    MethodNotAllowed(ProtocolVersion, &'static str),
}

/// `path`: the rest after the binding's own address, without a leading slash. Paths below `v1` belong
/// to protocol 0.3, which had that prefix; 1.0 has none.
pub(crate) fn parse_rest_route<'a>(method: &Method, path: &'a str) -> Result<RestRoute<'a>, RestRouteError> {
    let segments: Vec<&str> = path.trim_end_matches('/').split('/').collect();
    let (generation, segments) = match segments.as_slice() {
        ["v1", rest @ ..] if !rest.is_empty() => (ProtocolVersion::V03, rest),
        all => (ProtocolVersion::V1, all),
    };
    let unknown = RestRouteError::UnknownPath(generation);
    let refused = |allowed| RestRouteError::MethodNotAllowed(generation, allowed);
    match parse_rest_operation(generation, method, segments) {
        Ok(operation) => Ok(RestRoute { generation, tenant: None, operation }),
        // Every path of 1.0 may start with a tenant.
        Err(first) => match segments {
            [tenant, rest @ ..] if generation == ProtocolVersion::V1 && !rest.is_empty() => {
                match parse_rest_operation(generation, method, rest) {
                    Ok(operation) => Ok(RestRoute { generation, tenant: Some(tenant), operation }),
                    Err(second) => Err(first.or(second).map_or(unknown, refused)),
                }
            }
            _ => Err(first.map_or(unknown, refused)),
        },
    }
}

/// The operation, or the methods that the path supports if the path exists.
fn parse_rest_operation<'a>(
    generation: ProtocolVersion,
    method: &Method,
    segments: &[&'a str],
) -> Result<RestOperation<'a>, Option<&'static str>> {
    let card = match generation {
        ProtocolVersion::V1 => "extendedAgentCard",
        ProtocolVersion::V03 => "card",
    };
    let on = |wanted: Method, allowed, operation| {
        if *method == wanted { Ok(operation) } else { Err(Some(allowed)) }
    };
    match segments {
        ["message:send"] => on(Method::POST, "POST", RestOperation::Send),
        ["message:stream"] => on(Method::POST, "POST", RestOperation::Stream),
        [name] if *name == card => on(Method::GET, "GET", RestOperation::ExtendedCard),
        ["tasks"] if generation == ProtocolVersion::V1 => on(Method::GET, "GET", RestOperation::List),
        ["tasks", task] if task.ends_with(":cancel") => {
            let task = task.trim_end_matches(":cancel");
            on(Method::POST, "POST", RestOperation::Cancel { task })
        }
        // The specification's text says POST and its protobuf GET.
        ["tasks", task] if task.ends_with(":subscribe") => {
            let task = task.trim_end_matches(":subscribe");
            let operation = RestOperation::Subscribe { task };
            if *method == Method::POST { Ok(operation) } else { on(Method::GET, "GET, POST", operation) }
        }
        ["tasks", task] => on(Method::GET, "GET", RestOperation::Get { task }),
        ["tasks", task, "pushNotificationConfigs"] => match *method {
            Method::POST => Ok(RestOperation::SetPush { task }),
            Method::GET => Ok(RestOperation::ListPushes { task }),
            _ => Err(Some("GET, POST")),
        },
        ["tasks", task, "pushNotificationConfigs", id] => match *method {
            Method::GET => Ok(RestOperation::GetPush { task, id }),
            Method::DELETE => Ok(RestOperation::RemovePush { task, id }),
            _ => Err(Some("GET, DELETE")),
        },
        _ => Err(None),
    }
}

#[cfg(test)]
mod tests;
