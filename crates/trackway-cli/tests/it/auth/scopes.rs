//! Which scope each operation needs, on every door, and that each refusal is in the audit log.

use reqwest::Method;
use serde_json::{Value, json};
use tonic::{Code, Request, Status, client::Grpc, codegen::http::uri::PathAndQuery, transport::Channel};
use tonic_prost::ProstCodec;

use super::auth_workspace::{AuthWorkspace, HttpAnswer, REQUIRED, get, send_request, start_review};
use crate::support::ServerUnderTest;

/// One scope per key; `*` has a key too.
const SCOPES: [&str; 9] = [
    "*",
    "workflow:review:run",
    "agent:review:call",
    "workflow:echo:run",
    "artifact:read",
    "artifact:write",
    "peer:admin",
    "audit:read",
    "tenant",
];

/// The scopes that permit work on runs of `review`.
const REVIEW: &[&str] = &["*", "workflow:review:run", "agent:review:call"];

/// How an operation is called.
enum Door {
    Rest(Method, String, Option<Value>),
    /// JSON-RPC of A2A 1.0, at the agent `review`.
    JsonRpc(&'static str, Value),
    /// gRPC: the service of a generation, and its method.
    Grpc(&'static str, &'static str),
    /// A tool of MCP.
    Mcp(&'static str, Value),
}

/// Every method of gRPC, by the service of its generation. They are answered by the default agent, `review`.
const GRPC: [(&str, &[&str]); 2] = [
    (
        "lf.a2a.v1.A2AService",
        &[
            "SendMessage",
            "SendStreamingMessage",
            "GetTask",
            "ListTasks",
            "SubscribeToTask",
            "CreateTaskPushNotificationConfig",
            "GetTaskPushNotificationConfig",
            "ListTaskPushNotificationConfigs",
            "DeleteTaskPushNotificationConfig",
            "GetExtendedAgentCard",
            "CancelTask",
        ],
    ),
    (
        "a2a.v1.A2AService",
        &["SendMessage", "SendStreamingMessage", "GetTask", "TaskSubscription", "CancelTask"],
    ),
];

/// Every operation, with the scopes that permit it and its entry in the audit log. `RUN` stands for the id
/// of a run of `review` that waits.
fn operations(run: &str) -> Vec<(Door, &'static [&'static str], &'static str, &'static str)> {
    use Door::{JsonRpc, Mcp, Rest};
    let at_run = |path: &str| format!("/api/runs/{run}{path}");
    let rest = |method: Method, path: &str, body: Value| Rest(method, path.to_owned(), Some(body));
    let read = |path: &str| Rest(Method::GET, path.to_owned(), None);
    let message = |id: &str| {
        let parts = json!([{ "data": { "subject": "x" } }]);
        json!({ "message": { "role": "ROLE_USER", "messageId": format!("{id}-{run}"), "parts": parts } })
    };
    let hook = json!({ "taskId": run, "id": "hook" });
    let url = json!({ "taskId": run, "id": "hook", "url": "https://example.com/hook" });
    let a2a = |path: &str| format!("/a2a/agents/review/rest/{path}");
    let run_review = |door: Door| (door, REVIEW, "workflow:run", "review");
    let mut operations: Vec<_> = [
        rest(Method::POST, "/api/runs", json!({ "workflow": "review", "input": { "subject": "x" } })),
        rest(Method::POST, &at_run("/fork"), json!({})),
        rest(Method::POST, &at_run("/adopt"), json!({})),
        rest(Method::POST, &at_run("/resume"), json!({ "input": { "nonsense": true } })),
        JsonRpc("SendMessage", message("send")),
        JsonRpc("SendStreamingMessage", json!({ "message": "malformed" })),
        JsonRpc("GetTask", json!({ "id": run })),
        JsonRpc("ListTasks", json!({})),
        JsonRpc("SubscribeToTask", json!({ "id": "task-unknown" })),
        JsonRpc("CreateTaskPushNotificationConfig", url),
        JsonRpc("GetTaskPushNotificationConfig", hook.clone()),
        JsonRpc("ListTaskPushNotificationConfigs", json!({ "taskId": run })),
        JsonRpc("DeleteTaskPushNotificationConfig", hook),
        JsonRpc("GetExtendedAgentCard", json!({})),
        JsonRpc("message/send", json!({ "message": "malformed" })),
        JsonRpc("tasks/get", json!({ "id": run })),
        rest(Method::POST, &a2a("v1/message:send"), json!({ "message": "malformed" })),
        read(&a2a(&format!("tasks/{run}"))),
        read(&a2a("tasks")),
        Mcp("workflow_inspect", json!({ "workflowId": "review" })),
        Mcp("workflow_start", json!({ "workflowId": "review" })),
        JsonRpc("CancelTask", json!({ "id": run })),
        rest(Method::POST, &at_run("/cancel"), json!({})),
    ]
    .into_iter()
    .map(run_review)
    .collect();
    let grpc =
        GRPC.into_iter().flat_map(|(service, methods)| methods.iter().map(move |name| (service, *name)));
    operations.extend(grpc.map(|(service, method)| run_review(Door::Grpc(service, method))));
    let artifact = "/api/artifacts/report.csv";
    let write =
        |method: Method, path: &str| Rest(method, path.to_owned(), Some(json!({ "url": "nonsense" })));
    operations.extend([
        (read("/api/audit"), &["*", "audit:read"][..], "audit:read", ""),
        (read("/metrics"), &["*"][..], "metrics:read", ""),
        (read("/api/artifacts"), &["*", "artifact:read"], "artifact:read", ""),
        (read(artifact), &["*", "artifact:read"], "artifact:read", ""),
        (read("/api/artifacts/report.csv/versions"), &["*", "artifact:read"], "artifact:read", ""),
        (write(Method::PUT, artifact), &["*", "artifact:write"], "artifact:write", ""),
        (write(Method::DELETE, artifact), &["*", "artifact:write"], "artifact:write", ""),
        (write(Method::POST, "/api/peers"), &["*", "peer:admin"], "peer:admin", ""),
        (write(Method::DELETE, "/api/peers/nobody"), &["*", "peer:admin"], "peer:admin", ""),
        (write(Method::POST, "/api/peers/nobody/ping"), &["*", "peer:admin"], "peer:admin", ""),
    ]);
    operations
}

/// The answer over gRPC as one of HTTP. The requests are empty: whether they make sense is asked later than
/// whether they are permitted.
async fn call_grpc(channel: &Channel, key: &str, service: &str, method: &str) -> HttpAnswer {
    let mut request = Request::new(());
    request.metadata_mut().insert("authorization", format!("Bearer {key}").parse().unwrap());
    let path = PathAndQuery::try_from(format!("/{service}/{method}")).unwrap();
    let mut client = Grpc::new(channel.clone());
    client.ready().await.unwrap();
    let codec = ProstCodec::<(), ()>::default();
    let answer = client.server_streaming(request, path, codec).await;
    let (status, body) = match answer.as_ref().map_err(Status::code) {
        Ok(_) => (200, Value::Null),
        Err(Code::PermissionDenied) => (403, Value::Null),
        Err(Code::Unauthenticated) => (401, Value::Null),
        Err(code) => (400, json!(code.description())),
    };
    HttpAnswer { status, headers: reqwest::header::HeaderMap::new(), body }
}

async fn call(server: &ServerUnderTest, grpc: &Channel, key: &str, door: &Door) -> HttpAnswer {
    let (path, method, params) = match door {
        Door::Grpc(service, method) => return call_grpc(grpc, key, service, method).await,
        Door::Rest(method, path, body) => {
            return send_request(server, Some(key), method.clone(), path, body.as_ref()).await;
        }
        Door::JsonRpc(method, params) => ("/a2a/agents/review", *method, params.clone()),
        Door::Mcp(tool, arguments) => ("/mcp", "tools/call", mcp_params(tool, arguments)),
    };
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let mut request = server.http.post(format!("{}{path}", server.url)).bearer_auth(key).json(&body);
    // The methods of 0.3 have a slash, and its clients name no version.
    if !method.contains('/') {
        request = request.header("A2A-Version", "1.0");
    }
    if let Door::Mcp(tool, _) = door {
        request = request
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", "tools/call")
            .header("mcp-name", *tool);
    }
    let response = request.send().await.unwrap();
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let text = response.text().await.unwrap();
    HttpAnswer { status, headers, body: serde_json::from_str(&text).unwrap_or(Value::String(text)) }
}

fn mcp_params(tool: &str, arguments: &Value) -> Value {
    json!({
        "name": tool,
        "arguments": arguments,
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "0" },
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    })
}

/// A refusal in the form of the door: a status, and over MCP an answer.
fn is_forbidden(door: &Door, answer: &HttpAnswer) -> bool {
    let said = answer.body.as_str().map_or(answer.body.to_string(), str::to_owned);
    match door {
        Door::Rest(..) | Door::JsonRpc(..) | Door::Grpc(..) => {
            assert_ne!(answer.status, 401, "{said}");
            answer.status == 403
        }
        Door::Mcp(..) => said.contains(r#""code":"forbidden""#),
    }
}

/// Proves X6 and I10: every operation of every door needs its own scope, and each refusal is recorded once,
/// for the user that was refused.
#[tokio::test]
async fn every_operation_needs_its_scope() {
    let site = AuthWorkspace::new(&format!("{REQUIRED}[a2a]\ndefault_agent = \"review\"\n"));
    let server = site.serve_with_files(1_024, &["--grpc-listen", "127.0.0.1:0"]);
    let address = format!("http://{}", server.grpc.as_ref().unwrap());
    let grpc = Channel::from_shared(address).unwrap().connect().await.unwrap();
    let all = site.create_key("acme", &["*"]);
    let keys: Vec<String> = SCOPES.iter().map(|scope| site.create_key("acme", &[scope])).collect();
    let run = start_review(&server, &all).await;
    let mut refused = Vec::new();
    for (door, permitted, action, object) in operations(&run) {
        for (scope, key) in SCOPES.iter().zip(&keys) {
            let answer = call(&server, &grpc, key, &door).await;
            let what = match &door {
                Door::Rest(method, path, _) => format!("{method} {path}"),
                Door::Grpc(service, method) => format!("{service}/{method}"),
                Door::JsonRpc(method, _) | Door::Mcp(method, _) => (*method).to_owned(),
            };
            let is_refused = is_forbidden(&door, &answer);
            assert_eq!(is_refused, !permitted.contains(scope), "{what} with {scope}: {answer:?}");
            if is_refused {
                refused.push((action, object));
            }
        }
    }
    refused.reverse();
    let mut recorded = Vec::new();
    let mut at = "/api/audit?limit=50".to_owned();
    loop {
        let page = get(&server, &*all, &at).await.expect_success();
        recorded.extend(page["items"].as_array().unwrap().clone());
        let Some(next) = page["next"].as_str() else { break };
        at = format!("/api/audit?limit=50&cursor={next}");
    }
    // The names of artifacts that were not found are entries too; those are another test's.
    let scopes = recorded.iter().filter(|entry| entry["reason"].as_str().unwrap().starts_with("needs"));
    let scopes: Vec<(&str, &str)> = scopes
        .map(|entry| {
            assert_eq!(entry["user"], "ann");
            (entry["action"].as_str().unwrap(), entry["object"].as_str().unwrap())
        })
        .collect();
    assert_eq!(scopes, refused);
}
