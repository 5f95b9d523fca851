//! `trackway peers` and `/api/peers`, with and without a running server.

use serde_json::{Value, json};

use crate::{
    a2a::support::with_test_timeout,
    support::{ServerUnderTest, TestFolder},
};

/// The address of a bundled workflow of a server.
fn agent_url(server: &ServerUnderTest, name: &str) -> String {
    format!("{}/a2a/agents/{name}", server.url)
}

fn peers(server: &TestFolder) -> Vec<Value> {
    server.run_command(&["peers", "list", "--json"]).expect(0).json()["items"].as_array().unwrap().clone()
}

/// Proves I1, I2 and X2: a peer that is added is in effect at once, survives `kill -9`, and can be pinged and
/// removed.
#[tokio::test]
async fn peers_are_added_pinged_and_removed_while_a_server_runs() {
    let (there, here) = (TestFolder::new(), TestFolder::with_files(&[("trackway.toml", "")]));
    let peer = there.serve(&[]);
    let url = agent_url(&peer, "echo");
    let mut server = here.serve(&[]);
    let added = here.run_command(&["peers", "add", &url]).expect(0);
    assert_eq!(added.stdout, "echo\n", "{added:?}");
    assert!(added.stderr.contains("workflow_echo"), "{added:?}");
    let (status, list) = server.get("/api/peers").await;
    assert_eq!((status, list["items"].as_array().unwrap().len()), (200, 1), "{list}");
    let expected = json!({ "name": "echo", "kind": "workflow", "url": url, "tool": "workflow_echo",
        "health": "up", "error": null });
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!(list["items"][0][key], *value, "{list}");
    }
    assert!(list["items"][0]["lastSeen"].is_string(), "{list}");
    // The same again changes nothing.
    let (status, again) = server.post("/api/peers", &json!({ "url": format!("{url}/") })).await;
    assert_eq!((status, &again["name"]), (200, &json!("echo")), "{again}");

    server.kill();
    server = here.serve(&[]);
    let (status, pinged) = server.post("/api/peers/echo/ping", &json!({})).await;
    assert_eq!((status, &pinged["health"]), (200, &json!("up")), "{pinged}");
    let shown = here.run_command(&["peers", "show", "echo", "--json"]).expect(0).json();
    assert_eq!((&shown["source"], &shown["card"]["name"]), (&json!("added"), &json!("echo")), "{shown}");
    assert!(shown["inputSchema"].is_object(), "{shown}");
    assert!(here.run_command(&["peers", "ping", "echo"]).expect(0).stdout.contains("echo up"));

    drop(peer);
    let failed = here.run_command(&["peers", "ping", "echo"]).expect(1);
    assert!(failed.stderr.contains("docs/errors/peer-unavailable.md"), "{failed:?}");
    let (status, problem) = server.post("/api/peers/echo/ping", &json!({})).await;
    assert_eq!((status, &problem["code"]), (502, &json!("peer-unavailable")), "{problem}");
    here.run_command(&["peers", "remove", "echo"]).expect(0);
    let gone = here.run_command(&["peers", "remove", "echo"]).expect(2);
    assert!(gone.stderr.contains("there is no peer \"echo\""), "{gone:?}");
    assert_eq!(server.get("/api/peers").await, (200, json!({ "items": [], "next": null })));
    server.kill();
    server = here.serve(&[]);
    assert_eq!(server.get("/api/peers").await, (200, json!({ "items": [], "next": null })));
}

/// Proves I1: without a server the commands change the stored document, which the next server reads.
#[tokio::test]
async fn peers_can_be_added_before_a_server_runs() {
    let (there, here) = (TestFolder::new(), TestFolder::with_files(&[("trackway.toml", "")]));
    let peer = there.serve(&[]);
    here.run_command(&["peers", "add", &agent_url(&peer, "review"), "--name", "reviews"]).expect(0);
    assert_eq!(peers(&here)[0]["health"], "up");
    here.run_command(&["peers", "ping", "reviews"]).expect(0);
    let unreachable = here.run_command(&["peers", "add", "http://127.0.0.1:1"]).expect(1);
    assert!(unreachable.stderr.contains("--name"), "{unreachable:?}");
    here.run_command(&["peers", "add", "http://127.0.0.1:1", "--name", "later"]).expect(0);
    let server = here.serve(&[]);
    let (_, list) = server.get("/api/peers").await;
    let names: Vec<&str> =
        list["items"].as_array().unwrap().iter().map(|peer| peer["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["later", "reviews"], "{list}");
    drop(server);
    here.run_command(&["peers", "remove", "later"]).expect(0);
    let misspelled = here.run_command(&["peers", "remove", "review"]).expect(2);
    assert!(misspelled.stderr.contains("did you mean \"reviews\"?"), "{misspelled:?}");
    assert_eq!(peers(&here).len(), 1);
}

/// Proves X5: requests that make no sense are answered with a typed problem.
#[tokio::test]
async fn wrong_peers_are_problems() {
    let here = TestFolder::with_files(&[(
        "trackway.toml",
        "[[peers]]\nname = \"fixed\"\nurl = \"http://127.0.0.1:1\"",
    )]);
    let server = here.serve(&[]);
    for (body, status, code) in [
        (json!({}), 400, "invalid-request"),
        (json!({ "url": 2.0 }), 400, "invalid-request"),
        (json!({ "url": "http://127.0.0.1:1/x", "extra": true }), 400, "invalid-request"),
        (json!({ "url": "ftp://a" }), 422, "invalid-input"),
        (json!({ "url": "http://127.0.0.1:1/x", "name": "a b" }), 422, "invalid-input"),
        (json!({ "url": "http://127.0.0.1:1/x" }), 502, "peer-unavailable"),
        (json!({ "url": "http://127.0.0.1:1/x", "name": "fixed" }), 409, "invalid-input"),
    ] {
        let (found, problem) = server.post("/api/peers", &body).await;
        assert_eq!((found, problem["code"].as_str()), (status, Some(code)), "{body}: {problem}");
    }
    let (status, problem) = server.get("/api/peers/nobody").await;
    assert_eq!(
        (status, &problem["code"], &problem["known"]),
        (404, &json!("unknown-peer"), &json!(["fixed"]))
    );
    for query in ["limit=0", "limit=x", "unknown=1"] {
        let (status, problem) = server.get(&format!("/api/peers?{query}")).await;
        assert_eq!((status, &problem["code"]), (400, &json!("invalid-request")), "{query}");
    }
    let fixed = here.run_command(&["peers", "remove", "fixed"]).expect(2);
    assert!(fixed.stderr.contains("trackway.toml"), "{fixed:?}");
}

/// Proves I1: the file is read again when it changes, and the doctor says which peers and patterns are wrong.
#[tokio::test]
async fn configured_peers_follow_their_file() {
    let (there, here) = (TestFolder::new(), TestFolder::with_files(&[("trackway.toml", "")]));
    let peer = there.serve(&[]);
    let server = here.serve(&[]);
    let config = format!("[mesh]\nrefresh = \"1s\"\n[[peers]]\nurl = \"{}\"\n", agent_url(&peer, "echo"));
    here.write_file("trackway.toml", &config);
    let is_up = async {
        loop {
            let (_, list) = server.get("/api/peers").await;
            if list["items"][0]["health"] == "up" {
                return list["items"][0]["name"].clone();
            }
            tokio::task::yield_now().await;
        }
    };
    assert_eq!(with_test_timeout("the configured peer", is_up).await, "echo");
    let agent = "---\npeers: [echoo, \"x*\", \"ec*\"]\n---\nYou.\n";
    here.write_file("agents/a.md", agent);
    let workspace = here.path().to_str().unwrap();
    let doctor = here.run_command(&["doctor", "--workspace", workspace]).expect(0);
    for says in [
        "the peer echo answers",
        "there is no peer \"echoo\"",
        "did you mean \"echo\"?",
        "no peer fits \"x*\"",
    ] {
        assert!(doctor.stdout.contains(says), "{says}: {doctor:?}");
    }
    assert!(!doctor.stdout.contains("\"ec*\""), "{doctor:?}");
}
