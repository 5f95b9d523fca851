//! `trackway keys`, next to a running server.

use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use super::auth_workspace::{AuthWorkspace, REQUIRED, get, post, start_review};
use crate::support::trackway_command;

/// Proves X6: a key works from the moment it is created until the moment it is revoked, also across a
/// restart.
#[tokio::test]
async fn keys_come_and_go_while_the_server_runs() {
    let site = AuthWorkspace::new(REQUIRED);
    let server = site.serve();
    let create = ["keys", "create", "--tenant", "acme", "--user", "ann", "--id", "mine"];
    let created = site.trackway(&[&create[..], &["--scope", "*"]].concat()).expect(0);
    let key = created.stdout.trim_end();
    assert!(key.starts_with("tw_") && !key.contains('\n'), "{created:?}");
    assert!(created.stderr.contains("not shown again"), "{created:?}");
    get(&server, key, "/api/runs").await.expect_success();
    let other = site.create_key("acme", &["*"]);
    drop(server);
    let server = site.serve();
    get(&server, key, "/api/runs").await.expect_success();
    let revoked = site.trackway(&["keys", "revoke", "mine"]).expect(0);
    assert_eq!(revoked.stdout, "mine revoked\n");
    get(&server, key, "/api/runs").await.expect_problem(401, "unauthenticated");
    get(&server, &*other, "/api/runs").await.expect_success();
}

/// Proves X6: nothing that is stored or listed gives access.
#[test]
fn a_key_is_shown_once() {
    let site = AuthWorkspace::new("");
    let key = site.create_key("acme", &["workflow:echo:run", "agent:*:call"]);
    let file = site.data().join("keys.json");
    let stored = std::fs::read_to_string(&file).unwrap();
    assert!(!stored.contains(&key[3..]), "{stored}");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let listed = site.trackway(&["keys", "list"]).expect(0);
    assert!(listed.stdout.contains("workflow:echo:run agent:*:call"), "{listed:?}");
    let json = site.trackway(&["keys", "list", "--json"]).expect(0);
    assert_eq!(json.json()["keys"][0]["tenant"], "acme");
    for output in [&listed.stdout, &json.stdout] {
        assert!(!output.contains(&key[3..]), "{output}");
    }
    let id = json.json()["keys"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(site.trackway(&["keys", "revoke", &id, "--json"]).expect(0).json()["id"], *id);
    assert_eq!(site.trackway(&["keys", "list", "--json"]).json()["keys"], json!([]));
}

/// Proves X5.
#[test]
fn wrong_key_arguments_are_usage_errors() {
    let site = AuthWorkspace::new("");
    let create = ["keys", "create", "--tenant", "t", "--user", "u"];
    let with = |more: &[&str]| site.trackway(&[&create[..], more].concat());
    with(&[]).expect(2);
    let scope = with(&["--scope", "echo"]).expect(2);
    assert!(scope.stderr.contains("workflow:<name>:run"), "{scope:?}");
    with(&["--scope", "*", "--id", ""]).expect(2);
    assert!(!site.data().exists(), "nothing was made");
    with(&["--scope", "*", "--id", "build"]).expect(0);
    let taken = with(&["--scope", "*", "--id", "build"]).expect(2);
    assert!(taken.stderr.contains("\"build\""), "{taken:?}");
    let unknown = site.trackway(&["keys", "revoke", "biuld"]).expect(2);
    assert!(unknown.stderr.contains("did you mean \"build\"?"), "{unknown:?}");
}

/// Proves X6.
#[tokio::test]
async fn commands_send_their_key() {
    let site = AuthWorkspace::new(REQUIRED);
    let server = site.serve();
    let (key, weak) = (site.create_key("acme", &["*"]), site.create_key("acme", &["workflow:none:run"]));
    let run = start_review(&server, &key).await;
    let none = site.trackway(&["runs", "list"]).expect(1);
    assert!(none.stderr.contains("TRACKWAY_KEY"), "{none:?}");
    assert!(none.stderr.contains("docs/errors/unauthenticated.md"), "{none:?}");
    let listed = site.trackway(&["runs", "list", "--json", "--key", &key]).expect(0);
    assert_eq!(listed.json()["runs"][0]["id"], *run);
    let shown = trackway_command(&["runs", "show", &run, "--server", &server.url])
        .env("TRACKWAY_KEY", &key)
        .run_to_end("");
    assert!(shown.expect(0).stdout.contains(&run));
    let input = ["--input", r#"{"text": "hi"}"#];
    let echo = ["run", "echo", "--server", &server.url, "--key"];
    site.trackway(&[&echo[..], &[&key], &input].concat()).expect(0);
    let refused = site.trackway(&[&echo[..], &[&weak], &input].concat()).expect(1);
    assert!(refused.stderr.contains("docs/errors/forbidden.md"), "{refused:?}");
    assert!(refused.stderr.contains("workflow:echo:run"), "{refused:?}");
    let broken = site.trackway(&["runs", "list", "--key", "two words"]).expect(2);
    assert!(!broken.stderr.contains("two words"), "{broken:?}");
}

/// Proves X6: keys, right and wrong, stay out of the log even at the most verbose level.
#[tokio::test]
async fn no_key_reaches_the_log() {
    let site = AuthWorkspace::new(REQUIRED);
    let log = site.path("log.txt");
    let workspace = site.path("");
    let mut process = trackway_command(&["serve", "--json", "--listen", "127.0.0.1:0", "--log", "trace"])
        .env("TRACKWAY_DATA", site.data())
        .env("TRACKWAY_WORKSPACE", &workspace)
        .log_to_file(&log)
        .start();
    let said: serde_json::Value = serde_json::from_str(&process.read_line()).unwrap();
    let url = said["url"].as_str().unwrap().to_owned();
    let key = site.create_key("acme", &["*"]);
    let http = crate::support::http_client();
    let wrong = "tw_0123456789abcdef";
    for (bearer, status) in [(&*key, 200), (wrong, 401)] {
        let sent = http.get(format!("{url}/api/runs")).bearer_auth(bearer).send().await.unwrap();
        assert_eq!(sent.status(), status);
        assert!(!sent.text().await.unwrap().contains(bearer));
    }
    process.signal("INT");
    assert_eq!(process.exit_code(), 0);
    let log = std::fs::read_to_string(log).unwrap();
    assert!(!log.contains(&key[3..]) && !log.contains(&wrong[3..]), "{log}");
    // The log exists: it says that there was no key at first, and that a caller was refused.
    assert!(log.contains("keys create") && log.contains("was revoked"), "{log}");
}

/// A key file that cannot be read gives access to no one, and the error says so.
#[tokio::test]
async fn an_unreadable_file_of_keys_is_no_open_door() {
    let site = AuthWorkspace::new(REQUIRED);
    let key = site.create_key("acme", &["*"]);
    let server = site.serve();
    get(&server, &*key, "/api/runs").await.expect_success();
    std::fs::write(site.data().join("keys.json"), "{").unwrap();
    get(&server, &*key, "/api/runs").await.expect_problem(503, "auth-unavailable");
    let body = json!({ "workflow": "echo", "input": { "text": "hi" } });
    post(&server, &*key, "/api/runs", body).await.expect_problem(503, "auth-unavailable");
    drop(server);
    let refused = site.refuses_to_serve("127.0.0.1:0").expect(1);
    assert!(refused.stderr.contains("keys.json"), "{refused:?}");
}
