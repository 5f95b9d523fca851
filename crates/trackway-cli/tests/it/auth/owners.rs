//! What a caller may see and change: every kind of resource, every verb, every kind of caller.

use serde_json::{Value, json};

use super::auth_workspace::{AuthWorkspace, HttpAnswer, REQUIRED, get, post};
use crate::support::ServerUnderTest;

/// A caller in addition to the owner `ann` of `acme`, and whether the owner's resources exist for them.
const CALLERS: [(&str, &str, &[&str], bool); 7] = [
    ("acme", "ann", &["*"], true),
    ("acme", "ann", &["workflow:review:run"], true),
    ("acme", "bob", &["*"], false),
    ("acme", "bob", &["workflow:*", "agent:*"], false),
    ("acme", "bob", &["*", "tenant"], true),
    ("bolt", "ann", &["*"], false),
    ("bolt", "ann", &["*", "tenant"], false),
];

/// A review of the owner that waits for an answer.
struct Review {
    run: String,
    session: String,
}

async fn review(server: &ServerUnderTest, owner: &str) -> Review {
    let body = json!({ "workflow": "review", "input": { "subject": "x" } });
    let run = post(server, owner, "/api/runs", body).await.expect_success();
    let text = |field: &str| run[field].as_str().unwrap().to_owned();
    Review { run: text("id"), session: text("sessionId") }
}

/// What can be done with a run over REST.
const REST_VERBS: [(&str, &str); 8] = [
    ("GET", ""),
    ("GET", "/events"),
    ("GET", "/definition"),
    ("GET", "/stream"),
    ("POST", "/resume"),
    ("POST", "/cancel"),
    ("POST", "/fork"),
    ("POST", "/adopt"),
];

async fn rest(server: &ServerUnderTest, key: &str, verb: (&str, &str), run: &str) -> HttpAnswer {
    let path = format!("/api/runs/{run}{}", verb.1);
    match verb {
        ("GET", _) => get(server, key, &path).await,
        (_, "/resume") => post(server, key, &path, json!({ "input": { "confirmed": true } })).await,
        _ => post(server, key, &path, json!({})).await,
    }
}

/// Proves X6: another tenant's runs and sessions do not exist. Inside a tenant they belong to their user,
/// unless a scope says `tenant`.
#[tokio::test]
async fn runs_and_sessions_are_their_owners() {
    let site = AuthWorkspace::new(REQUIRED);
    let server = site.serve();
    let owner = site.create_key_for_user("acme", "ann", &["*"]);
    for (tenant, user, scopes, is_covered) in CALLERS {
        let key = site.create_key_for_user(tenant, user, scopes);
        let who = format!("{user} of {tenant} with {scopes:?}");
        for verb in REST_VERBS {
            // The stream of a run that waits has no end.
            if is_covered && verb.1 == "/stream" {
                continue;
            }
            let own = review(&server, &owner).await;
            let answer = rest(&server, &key, verb, &own.run).await;
            match (is_covered, verb.1) {
                (false, _) => drop(answer.expect_problem(404, "unknown-run")),
                // There is nothing to adopt; only callers that may see the run learn that.
                (true, "/adopt") => assert_ne!(answer.status, 404, "{who}: {answer:?}"),
                (true, _) => drop(answer.expect_success()),
            }
        }
        let own = review(&server, &owner).await;
        let lists =
            |list: &Value, id: &str| list.as_array().unwrap().iter().any(|item| item["id"] == json!(id));
        let runs = get(&server, &*key, "/api/runs?limit=500").await.expect_success();
        assert_eq!(lists(&runs["runs"], &own.run), is_covered, "{who}");
        let at_session = format!("/api/runs?session={}", own.session);
        let runs = get(&server, &*key, &at_session).await.expect_success();
        assert_eq!(lists(&runs["runs"], &own.run), is_covered, "{who}");
        let sessions = get(&server, &*key, "/api/sessions").await.expect_success();
        assert_eq!(sessions.to_string().contains(&own.session), is_covered, "{who}");
        let session = get(&server, &*key, &format!("/api/sessions/{}", own.session)).await;
        assert_eq!(session.status, if is_covered { 200 } else { 404 }, "{who}: {session:?}");
    }
}

/// Methods of A2A 1.0 with the parameters that name the task, and whether their answer is a stream.
fn a2a_verbs(task: &str) -> Vec<(&'static str, Value, bool)> {
    let hook = json!({ "taskId": task, "id": "hook" });
    let url = json!({ "taskId": task, "id": "hook", "url": "http://127.0.0.1:9/hook" });
    let answer = json!({ "message": {
        "role": "ROLE_USER", "messageId": format!("to-{task}"), "taskId": task,
        "parts": [{ "data": { "confirmed": true } }],
    } });
    vec![
        ("GetTask", json!({ "id": task }), false),
        ("SubscribeToTask", json!({ "id": task }), true),
        ("CreateTaskPushNotificationConfig", url, false),
        ("GetTaskPushNotificationConfig", hook.clone(), false),
        ("ListTaskPushNotificationConfigs", json!({ "taskId": task }), false),
        ("DeleteTaskPushNotificationConfig", hook, false),
        ("SendMessage", answer, false),
        ("CancelTask", json!({ "id": task }), false),
    ]
}

async fn a2a(server: &ServerUnderTest, key: &str, method: &str, params: Value) -> HttpAnswer {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let request = server.http.post(format!("{}/a2a/agents/review", server.url));
    let request = request.bearer_auth(key).header("A2A-Version", "1.0").json(&body);
    let response = request.send().await.unwrap();
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let text = response.text().await.unwrap();
    let body = serde_json::from_str(&text).unwrap_or(Value::String(text));
    HttpAnswer { status, headers, body }
}

/// Proves X6, L19: the same for tasks and their push configurations over A2A.
#[tokio::test]
async fn tasks_and_their_push_configurations_are_their_owners() {
    let site = AuthWorkspace::new(&format!("{REQUIRED}[outgoing]\nallow_loopback = true\n"));
    let server = site.serve();
    let owner = site.create_key_for_user("acme", "ann", &["*"]);
    for (tenant, user, scopes, is_covered) in CALLERS {
        let key = site.create_key_for_user(tenant, user, scopes);
        let own = review(&server, &owner).await;
        let listed = a2a(&server, &key, "ListTasks", json!({ "contextId": own.session })).await;
        let who = format!("{user} of {tenant} with {scopes:?}");
        assert_eq!(listed.body.to_string().contains(&own.run), is_covered, "{who}: {listed:?}");
        for (method, params, streams) in a2a_verbs(&own.run) {
            if is_covered && streams {
                continue;
            }
            let answer = a2a(&server, &key, method, params).await;
            let said = answer.body.as_str().map_or(answer.body.to_string(), str::to_owned);
            match is_covered {
                true if method == "CancelTask" => {
                    assert!(!said.contains("-32001"), "{who} {method}: {said}");
                }
                true => assert!(answer.body.get("result").is_some(), "{who} {method}: {said}"),
                false => assert!(said.contains(r#""code":-32001"#), "{who} {method}: {said}"),
            }
        }
        let seen = a2a(&server, &owner, "GetTask", json!({ "id": own.run })).await.expect_success();
        let state = &seen["result"]["status"]["state"];
        let expected = if is_covered { "TASK_STATE_COMPLETED" } else { "TASK_STATE_INPUT_REQUIRED" };
        assert_eq!(state, expected, "{who}");
    }
}
