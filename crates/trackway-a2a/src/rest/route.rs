//! The addresses of the HTTP+JSON binding: the operation of a method and a path.

use axum::http::Method;

use crate::version::Generation;

/// An operation, with the values from the path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Route<'a> {
    pub(crate) generation: Generation,
    pub(crate) tenant: Option<&'a str>,
    pub(crate) operation: Operation<'a>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation<'a> {
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
pub(crate) enum NoRoute {
    Unknown(Generation),
    /// The path exists, but not for this method.
    Method(Generation, &'static str),
}

/// `path`: the rest after the binding's own address, without a leading slash. Paths below `v1` belong
/// to protocol 0.3, which had that prefix; 1.0 has none.
pub(crate) fn route<'a>(method: &Method, path: &'a str) -> Result<Route<'a>, NoRoute> {
    let segments: Vec<&str> = path.trim_end_matches('/').split('/').collect();
    let (generation, segments) = match segments.as_slice() {
        ["v1", rest @ ..] if !rest.is_empty() => (Generation::V03, rest),
        all => (Generation::V1, all),
    };
    let unknown = NoRoute::Unknown(generation);
    let refused = |allowed| NoRoute::Method(generation, allowed);
    match operation(generation, method, segments) {
        Ok(operation) => Ok(Route { generation, tenant: None, operation }),
        // Every path of 1.0 may start with a tenant.
        Err(first) => match segments {
            [tenant, rest @ ..] if generation == Generation::V1 && !rest.is_empty() => {
                match operation(generation, method, rest) {
                    Ok(operation) => Ok(Route { generation, tenant: Some(tenant), operation }),
                    Err(second) => Err(first.or(second).map_or(unknown, refused)),
                }
            }
            _ => Err(first.map_or(unknown, refused)),
        },
    }
}

/// The operation, or the methods that the path supports if the path exists.
fn operation<'a>(
    generation: Generation,
    method: &Method,
    segments: &[&'a str],
) -> Result<Operation<'a>, Option<&'static str>> {
    let card = match generation {
        Generation::V1 => "extendedAgentCard",
        Generation::V03 => "card",
    };
    let on = |wanted: Method, allowed, operation| {
        if *method == wanted { Ok(operation) } else { Err(Some(allowed)) }
    };
    match segments {
        ["message:send"] => on(Method::POST, "POST", Operation::Send),
        ["message:stream"] => on(Method::POST, "POST", Operation::Stream),
        [name] if *name == card => on(Method::GET, "GET", Operation::ExtendedCard),
        ["tasks"] if generation == Generation::V1 => on(Method::GET, "GET", Operation::List),
        ["tasks", task] if task.ends_with(":cancel") => {
            let task = task.trim_end_matches(":cancel");
            on(Method::POST, "POST", Operation::Cancel { task })
        }
        // The specification's text says POST and its protobuf GET.
        ["tasks", task] if task.ends_with(":subscribe") => {
            let task = task.trim_end_matches(":subscribe");
            let operation = Operation::Subscribe { task };
            if *method == Method::POST {
                Ok(operation)
            } else {
                on(Method::GET, "GET, POST", operation)
            }
        }
        ["tasks", task] => on(Method::GET, "GET", Operation::Get { task }),
        ["tasks", task, "pushNotificationConfigs"] => match *method {
            Method::POST => Ok(Operation::SetPush { task }),
            Method::GET => Ok(Operation::ListPushes { task }),
            _ => Err(Some("GET, POST")),
        },
        ["tasks", task, "pushNotificationConfigs", id] => match *method {
            Method::GET => Ok(Operation::GetPush { task, id }),
            Method::DELETE => Ok(Operation::RemovePush { task, id }),
            _ => Err(Some("GET, DELETE")),
        },
        _ => Err(None),
    }
}

#[cfg(test)]
mod tests;
