//! The address of each operation, and the content of refusals.

use serde_json::json;

use super::*;

fn at(tenant: Option<&str>, operation: AgentOperation, params: &Value) -> (String, Value) {
    let base = Url::parse("http://a/rest/").unwrap();
    let mut params = params.as_object().unwrap().clone();
    let (method, url) = rest_method_and_url(&base, tenant, operation, &mut params);
    let place = url.as_str().strip_prefix("http://a/rest/").unwrap();
    (format!("{method} {place}"), params.into())
}

#[test]
fn each_operation_has_its_method_and_path() {
    let push = json!({"taskId": "t", "id": "p"});
    let id = json!({"id": "t"});
    for (operation, params, expected) in [
        (AgentOperation::Send, &json!({"message": {}}), "POST message:send"),
        (AgentOperation::Stream, &json!({"message": {}}), "POST message:stream"),
        (AgentOperation::Get, &json!({"id": "t", "historyLength": 2}), "GET tasks/t?historyLength=2"),
        (AgentOperation::Get, &json!({"id": "a/b c?"}), "GET tasks/a%2Fb%20c%3F"),
        (
            AgentOperation::List,
            &json!({"contextId": "c d", "includeArtifacts": true}),
            "GET tasks?contextId=c+d&includeArtifacts=true",
        ),
        (AgentOperation::Cancel, &id, "POST tasks/t:cancel"),
        (AgentOperation::Subscribe, &id, "GET tasks/t:subscribe"),
        (AgentOperation::PushSet, &push, "POST tasks/t/pushNotificationConfigs"),
        (AgentOperation::PushGet, &push, "GET tasks/t/pushNotificationConfigs/p"),
        (AgentOperation::PushList, &json!({"taskId": "t"}), "GET tasks/t/pushNotificationConfigs"),
        (AgentOperation::PushDelete, &push, "DELETE tasks/t/pushNotificationConfigs/p"),
        (AgentOperation::ExtendedCard, &json!({}), "GET extendedAgentCard"),
    ] {
        assert_eq!(at(None, operation, params).0, expected);
    }
    assert_eq!(at(None, AgentOperation::Send, &json!({"message": {}})).1, json!({"message": {}}));
    assert_eq!(at(None, AgentOperation::PushSet, &push).1, json!({"id": "p"}), "the path says whose");
    assert_eq!(at(Some("blue"), AgentOperation::Cancel, &id).0, "POST blue/tasks/t:cancel");
}

#[test]
fn refusals_are_known_by_their_reason_and_else_by_their_status() {
    let refused = |status: u16, reason: &str| {
        let details = json!([{"@type": "x", "domain": "y"}, {"reason": reason}]);
        let body = json!({"error": {"code": status, "message": "no", "details": details}});
        match parse_rest_response(&body.to_string(), status) {
            Err(ClientError::Refused(refusal)) => (refusal.kind, refusal.code, refusal.status),
            other => panic!("{other:?}"),
        }
    };
    for (status, reason, kind, code) in [
        (404, "TASK_NOT_FOUND", AgentRefusalKind::TaskNotFound, -32001),
        (400, "VERSION_NOT_SUPPORTED", AgentRefusalKind::VersionNotSupported, -32009),
        (400, "", AgentRefusalKind::InvalidParams, -32602),
        (404, "WHATEVER", AgentRefusalKind::MethodNotFound, -32601),
        (500, "", AgentRefusalKind::Internal, -32603),
        (401, "", AgentRefusalKind::Other, 401),
    ] {
        assert_eq!(refused(status, reason), (kind, code, status), "{status} {reason}");
    }
    assert_eq!(parse_rest_response("", 204).unwrap().get(), "null");
    assert_eq!(parse_rest_response("{\"task\":{}}", 200).unwrap().get(), "{\"task\":{}}");
    assert!(matches!(parse_rest_response("<html>", 200), Err(ClientError::MalformedResponse { .. })));
}
