//! Peers of several tenants of one server.

use reqwest::Method;
use serde_json::json;

use super::auth_workspace::{AuthWorkspace, REQUIRED, get, post, send_request};
use crate::support::TestFolder;

/// Proves X6: what a tenant added does not exist for another, in the same words as what never existed, and
/// secrets are not shown.
#[tokio::test]
async fn a_tenants_peers_are_its_own() {
    let there = TestFolder::new();
    let peer = there.serve(&[]);
    let site = AuthWorkspace::new(REQUIRED);
    let (ours, theirs) =
        (site.create_key("acme", &["peer:admin"]), site.create_key("umbrella", &["peer:admin"]));
    let reader = site.create_key("acme", &["workflow:echo:run"]);
    let server = site.serve();
    let body = json!({ "url": format!("{}/a2a/agents/echo", peer.url), "key": "hush-hush" });
    post(&server, &*reader, "/api/peers", body.clone()).await.expect_problem(403, "forbidden");
    let added = post(&server, &*ours, "/api/peers", body).await;
    assert_eq!(added.headers["location"], "/api/peers/echo");
    let added = added.expect_success();
    let shown = get(&server, &*reader, "/api/peers").await.expect_success();
    assert_eq!(shown["items"][0]["name"], "echo", "every user of the tenant sees it");
    let detail = get(&server, &*ours, "/api/peers/echo").await.expect_success();
    assert!(!format!("{added}{shown}{detail}").contains("hush-hush"));
    assert_eq!(
        get(&server, &*theirs, "/api/peers").await.expect_success(),
        json!({ "items": [], "next": null })
    );
    for (method, path) in [
        (Method::GET, "/api/peers/NAME"),
        (Method::DELETE, "/api/peers/NAME"),
        (Method::POST, "/api/peers/NAME/ping"),
    ] {
        let mut said = Vec::new();
        for name in ["echo", "none"] {
            let path = path.replace("NAME", name);
            let answer = send_request(&server, Some(&theirs), method.clone(), &path, None).await;
            let body = answer.expect_problem(404, "unknown-peer").body.to_string();
            said.push(body.replace(name, "NAME"));
        }
        assert_eq!(said[0], said[1], "{method} {path}");
    }
    let removed = send_request(&server, Some(&ours), Method::DELETE, "/api/peers/echo", None).await;
    assert_eq!(removed.status, 204, "{removed:?}");
}
