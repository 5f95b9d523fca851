//! Every address of both generations, and invalid ones.

use super::*;

fn routed(method: &Method, path: &str) -> String {
    match parse_rest_route(method, path) {
        Ok(route) => {
            let tenant = route.tenant.map(|tenant| format!("{tenant} ")).unwrap_or_default();
            format!("{} {tenant}{:?}", route.generation.as_str(), route.operation)
        }
        Err(RestRouteError::UnknownPath(_)) => "404".to_owned(),
        Err(RestRouteError::MethodNotAllowed(_, allowed)) => format!("405 {allowed}"),
    }
}

/// Proves X5.
#[test]
fn paths_name_operations() {
    let (get, post, delete) = (Method::GET, Method::POST, Method::DELETE);
    for (method, path, expected) in [
        (&post, "message:send", "1.0 Send"),
        (&post, "message:send/", "1.0 Send"),
        (&post, "message:stream", "1.0 Stream"),
        (&post, "echo/message:send", "1.0 echo Send"),
        (&get, "tasks", "1.0 List"),
        (&get, "echo/tasks", "1.0 echo List"),
        (&get, "tasks/t1", "1.0 Get { task: \"t1\" }"),
        (&get, "echo/tasks/t1", "1.0 echo Get { task: \"t1\" }"),
        (&post, "tasks/t1:cancel", "1.0 Cancel { task: \"t1\" }"),
        (&post, "tasks/t1:subscribe", "1.0 Subscribe { task: \"t1\" }"),
        (&get, "tasks/t1:subscribe", "1.0 Subscribe { task: \"t1\" }"),
        (&post, "tasks/t1/pushNotificationConfigs", "1.0 SetPush { task: \"t1\" }"),
        (&get, "tasks/t1/pushNotificationConfigs", "1.0 ListPushes { task: \"t1\" }"),
        (&get, "tasks/t1/pushNotificationConfigs/c", "1.0 GetPush { task: \"t1\", id: \"c\" }"),
        (&delete, "x/tasks/t1/pushNotificationConfigs/c", "1.0 x RemovePush { task: \"t1\", id: \"c\" }"),
        (&get, "extendedAgentCard", "1.0 ExtendedCard"),
        (&post, "v1/message:send", "0.3 Send"),
        (&get, "v1/tasks/t1", "0.3 Get { task: \"t1\" }"),
        (&get, "v1/card", "0.3 ExtendedCard"),
        (&get, "v1/tasks", "404"),
        (&get, "v1/echo/tasks/t1", "404"),
        (&get, "card", "404"),
        (&get, "", "404"),
        (&get, "v1", "404"),
        (&get, "tasks/t1/artifacts", "404"),
        (&get, "message:send", "405 POST"),
        (&delete, "echo/message:send", "405 POST"),
        (&post, "tasks/t1", "405 GET"),
        (&delete, "tasks/t1:subscribe", "405 GET, POST"),
        (&Method::PUT, "tasks/t1/pushNotificationConfigs/c", "405 GET, DELETE"),
    ] {
        assert_eq!(routed(method, path), expected, "{method} {path}");
    }
}
