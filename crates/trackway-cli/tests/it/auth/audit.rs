//! The audit log over REST: who reads it, what is in it, and that it lasts.

use serde_json::{Value, json};

use super::auth_workspace::{AuthWorkspace, REQUIRED, get, post};
use crate::support::ServerUnderTest;

async fn items(server: &ServerUnderTest, key: &str) -> Vec<Value> {
    get(server, key, "/api/audit").await.expect_success()["items"].as_array().unwrap().clone()
}

/// Proves X6: a refusal is seen by those who watch over the tenant, at once, and after a restart.
#[tokio::test]
async fn refusals_are_in_the_log_of_their_tenant() {
    let site = AuthWorkspace::new(REQUIRED);
    let mut server = site.serve();
    let echo = site.create_key_for_user("acme", "ann", &["workflow:echo:run"]);
    let auditor = site.create_key_for_user("acme", "bob", &["audit:read"]);
    let stranger = site.create_key_for_user("bolt", "eve", &["*", "tenant"]);
    assert_eq!(items(&server, &auditor).await, Vec::<Value>::new());
    let long = "x".repeat(100_000);
    for workflow in ["review", "no such \u{1f980}", &long] {
        let body = json!({ "workflow": workflow, "input": {} });
        post(&server, &*echo, "/api/runs", body).await.expect_problem(403, "forbidden");
    }
    for round in 0..2 {
        let items = items(&server, &auditor).await;
        assert_eq!(items.len(), 3, "{round}: {items:?}");
        for item in &items {
            assert_eq!((&item["user"], &item["action"]), (&json!("ann"), &json!("workflow:run")));
            assert!(item["at"].as_str().unwrap().ends_with('Z'), "{item}");
            assert_eq!(item.as_object().unwrap().len(), 5, "{item}");
        }
        let objects: Vec<&str> = items.iter().map(|item| item["object"].as_str().unwrap()).collect();
        assert!(objects[0].starts_with("xxx") && objects[0].len() <= 512, "{objects:?}");
        assert_eq!(objects[1..], ["no such \u{1f980}", "review"]);
        let reason = "needs the scope workflow:review:run or agent:review:call";
        assert_eq!(items[2]["reason"], reason);
        assert_eq!(self::items(&server, &stranger).await, Vec::<Value>::new());
        server.kill();
        server = site.serve();
    }
}

/// Proves X5: rude questions to the log get an answer that says what is wrong.
#[tokio::test]
async fn the_log_is_asked_in_its_form() {
    let site = AuthWorkspace::new(REQUIRED);
    let server = site.serve();
    let key = site.create_key("acme", &["*"]);
    let none = site.create_key("acme", &["workflow:none:run"]);
    get(&server, None, "/api/audit").await.expect_problem(401, "unauthenticated");
    for number in 0..3 {
        let body = json!({ "workflow": format!("w{number}"), "input": {} });
        post(&server, &*none, "/api/runs", body).await.expect_problem(403, "forbidden");
    }
    for query in ["limit=0", "limit=501", "limit=-1", "limit=many", "cursor=me", "cursor=-1", "before=1"] {
        let refused = get(&server, &*key, &format!("/api/audit?{query}")).await;
        refused.expect_problem(400, "invalid-request");
    }
    let first = get(&server, &*key, "/api/audit?limit=2").await.expect_success();
    let next = first["next"].as_str().unwrap();
    let second = get(&server, &*key, &format!("/api/audit?limit=2&cursor={next}")).await.expect_success();
    let objects: Vec<&Value> = [&first, &second]
        .into_iter()
        .flat_map(|page| page["items"].as_array().unwrap())
        .map(|item| &item["object"])
        .collect();
    assert_eq!(objects, ["w2", "w1", "w0"]);
    assert_eq!(second.get("next"), Some(&Value::Null));
    let far = format!("/api/audit?cursor={}", u64::MAX);
    assert_eq!(get(&server, &*key, &far).await.expect_success()["items"].as_array().unwrap().len(), 3);
}
