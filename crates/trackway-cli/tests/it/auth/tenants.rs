//! What each caller sees and may do over REST.

use serde_json::json;

use super::auth_workspace::{AuthWorkspace, REQUIRED, get, post, start_review};

/// Proves X6.
#[tokio::test]
async fn nobody_enters_without_a_key_and_health_and_cards_are_public() {
    let site = AuthWorkspace::new(REQUIRED);
    let server = site.serve();
    let start = json!({ "workflow": "echo", "input": { "text": "hi" } });
    let run = "/api/runs/run_00000000000000000000000000000000";
    for bearer in [None, Some("tw_wrong"), Some("a.b.c"), Some("")] {
        for path in ["/api/runs", run, &format!("{run}/events"), &format!("{run}/stream")] {
            let refused = get(&server, bearer, path).await.expect_problem(401, "unauthenticated");
            assert_eq!(refused.headers["www-authenticate"], "Bearer");
        }
        for path in ["/api/runs", &format!("{run}/cancel"), &format!("{run}/resume")] {
            post(&server, bearer, path, start.clone()).await.expect_problem(401, "unauthenticated");
        }
    }
    let basic = server.http.get(format!("{}/api/runs", server.url)).basic_auth("ann", Some("pw"));
    assert_eq!(basic.send().await.unwrap().status(), 401);
    for path in ["/livez", "/readyz", "/a2a/agents", "/a2a/agents/echo/.well-known/agent-card.json"] {
        assert_eq!(get(&server, None, path).await.status, 200, "{path}");
    }
}

/// Proves X6: the caller is refused before the body is read.
#[tokio::test]
async fn a_stranger_learns_nothing_from_a_bad_request() {
    let site = AuthWorkspace::new(REQUIRED);
    let server = site.serve();
    post(&server, None, "/api/runs", json!({ "nonsense": true }))
        .await
        .expect_problem(401, "unauthenticated");
    get(&server, None, "/api/runs?colour=red").await.expect_problem(401, "unauthenticated");
    get(&server, None, "/api/runs/me").await.expect_problem(401, "unauthenticated");
}

/// Proves X6.
#[tokio::test]
async fn a_key_may_run_what_its_scopes_say() {
    let site = AuthWorkspace::new(REQUIRED);
    let server = site.serve();
    let all = site.create_key("acme", &["*"]);
    let echo = site.create_key("acme", &["workflow:ec*:run"]);
    let agent = site.create_key("acme", &["workflow:none:run", "agent:review:call"]);
    let start = |workflow: &str| json!({ "workflow": workflow, "input": { "text": "hi" } });
    post(&server, &*echo, "/api/runs", start("echo")).await.expect_success();
    let refused = post(&server, &*echo, "/api/runs", start("review")).await.expect_problem(403, "forbidden");
    assert!(refused.body["hint"].as_str().unwrap().contains("workflow:review:run"), "{refused:?}");
    // The answer does not reveal whether such a workflow exists.
    post(&server, &*echo, "/api/runs", start("nothing")).await.expect_problem(403, "forbidden");
    post(&server, &*all, "/api/runs", start("nothing")).await.expect_problem(404, "unknown-workflow");

    let run = start_review(&server, &agent).await;
    let at = format!("/api/runs/{run}");
    // Reading needs no scope, acting does.
    assert_eq!(get(&server, &*echo, &at).await.expect_success()["id"], json!(run));
    let answer = json!({ "input": { "confirmed": true } });
    post(&server, &*echo, &format!("{at}/resume"), answer).await.expect_problem(403, "forbidden");
    post(&server, &*echo, &format!("{at}/cancel"), json!({})).await.expect_problem(403, "forbidden");
    post(&server, &*agent, &format!("{at}/cancel"), json!({})).await.expect_success();
}

/// Proves X6: a run of another tenant does not exist.
#[tokio::test]
async fn tenants_do_not_see_each_other() {
    let site = AuthWorkspace::new(REQUIRED);
    let server = site.serve();
    let (acme, bolt) = (site.create_key("acme", &["*"]), site.create_key("bolt", &["*"]));
    let colleague = site.create_key("acme", &["workflow:echo:run"]);
    let run = start_review(&server, &acme).await;
    let at = format!("/api/runs/{run}");
    for path in [at.clone(), format!("{at}/events"), format!("{at}/stream")] {
        get(&server, &*bolt, &path).await.expect_problem(404, "unknown-run");
    }
    let answer = json!({ "input": { "confirmed": true } });
    for scopes in [&["*"][..], &["workflow:echo:run"]] {
        let bolt = site.create_key("bolt", scopes);
        post(&server, &*bolt, &format!("{at}/resume"), answer.clone())
            .await
            .expect_problem(404, "unknown-run");
        post(&server, &*bolt, &format!("{at}/cancel"), json!({})).await.expect_problem(404, "unknown-run");
    }
    assert_eq!(get(&server, &*bolt, "/api/runs").await.expect_success()["runs"], json!([]));
    let seen = get(&server, &*colleague, "/api/runs").await.expect_success();
    assert_eq!(seen["runs"][0]["id"], json!(run));
    assert_ne!(get(&server, &*acme, &at).await.expect_success()["state"], "canceled");
}

/// Proves X6: without auth every user of the machine is the local caller, whatever they send.
#[tokio::test]
async fn without_auth_no_header_is_looked_at() {
    let site = AuthWorkspace::new("");
    let server = site.serve();
    for bearer in [None, Some("tw_whatever")] {
        let body = json!({ "workflow": "echo", "input": { "text": "hi" } });
        post(&server, bearer, "/api/runs", body).await.expect_success();
    }
    assert_eq!(get(&server, None, "/api/runs").await.expect_success()["runs"].as_array().unwrap().len(), 2);
}

/// Proves X6: if auth is optional, a key is checked as soon as one is sent.
#[tokio::test]
async fn an_optional_key_is_still_checked() {
    let site = AuthWorkspace::new(
        r#"
        [[auth.keys]]
        id = "test"
        sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
        tenant = "acme"
        user = "ann"
        scopes = []
        "#,
    );
    let server = site.serve();
    let start = json!({ "workflow": "echo", "input": { "text": "hi" } });
    post(&server, None, "/api/runs", start.clone()).await.expect_success();
    get(&server, "wrong", "/api/runs").await.expect_problem(401, "unauthenticated");
    assert_eq!(get(&server, "test", "/api/runs").await.expect_success()["runs"], json!([]));
    post(&server, "test", "/api/runs", start).await.expect_problem(403, "forbidden");
}
