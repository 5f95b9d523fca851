//! `trackway.toml`, and addresses that need it.

use serde_json::json;

use super::auth_workspace::{AuthWorkspace, REQUIRED, get, post};
use crate::support::{TestFolder, trackway_command};

const KEY: &str = r#"
[auth]
required = true
[[auth.keys]]
id = "test"
sha256 = "${env:KEY_HASH}"
tenant = "acme"
user = "ann"
scopes = ["workflow:echo:run"]
"#;

/// Proves X6: safe by default.
#[test]
fn other_addresses_than_loopback_need_auth() {
    let site = AuthWorkspace::new("");
    for listen in ["0.0.0.0:0", "[::]:0"] {
        let refused = site.refuses_to_serve(listen).expect(2);
        assert!(refused.stderr.contains("[auth] required = true"), "{refused:?}");
        assert_eq!(refused.stdout, "");
    }
    site.write("trackway.toml", "[auth]\nrequired = false\n");
    site.refuses_to_serve("0.0.0.0:0").expect(2);
    assert!(!site.data().exists(), "nothing was made");
}

/// Proves X5: a missing default agent would be an address without an agent.
#[test]
fn a_default_agent_that_is_not_there_is_refused() {
    for (name, hint) in [("ecko", r#"did you mean "echo"?"#), ("warehouse", "echo, ")] {
        let site = AuthWorkspace::new(&format!("[a2a]\ndefault_agent = {name:?}\n"));
        let refused = site.refuses_to_serve("127.0.0.1:0").expect(2);
        assert!(refused.stderr.contains(&format!("no workflow {name:?}")), "{refused:?}");
        assert!(refused.stderr.contains(hint), "{refused:?}");
        assert!(!site.data().exists(), "nothing was made");
    }
}

/// Proves X6.
#[tokio::test]
async fn with_auth_a_server_listens_anywhere() {
    let site = AuthWorkspace::new(REQUIRED);
    let key = site.create_key("acme", &["*"]);
    let mut process = trackway_command(&["serve", "--json", "--listen", "0.0.0.0:0"])
        .env("TRACKWAY_DATA", site.data())
        .env("TRACKWAY_WORKSPACE", site.path(""))
        .start();
    let said: serde_json::Value = serde_json::from_str(&process.read_line()).unwrap();
    let runs = format!("{}/api/runs", said["url"].as_str().unwrap());
    assert!(runs.starts_with("http://127.0.0.1:"), "{runs}");
    let http = crate::support::http_client();
    assert_eq!(http.get(&runs).send().await.unwrap().status(), 401);
    assert_eq!(http.get(&runs).bearer_auth(&key).send().await.unwrap().status(), 200);
    // A page of another site has no key, and gets exactly that error.
    let foreign = http.get(&runs).header("origin", "https://example.com");
    assert_eq!(foreign.send().await.unwrap().status(), 401);
}

/// Proves X6: a key of the configuration, whose hash comes from the environment.
#[tokio::test]
async fn keys_can_be_configured() {
    let site = AuthWorkspace::new(KEY);
    let refused = site.refuses_to_serve("127.0.0.1:0").expect(2);
    assert!(refused.stderr.contains("trackway.toml, line 6"), "{refused:?}");
    assert!(refused.stderr.contains("KEY_HASH"), "{refused:?}");
    let workspace = site.path("");
    let hash = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
    let env = [("TRACKWAY_WORKSPACE", workspace.to_str().unwrap()), ("KEY_HASH", hash)];
    let server = crate::support::ServerUnderTest::start_with_env(&site.data(), &env);
    get(&server, "test", "/api/runs").await.expect_success();
    get(&server, hash, "/api/runs").await.expect_problem(401, "unauthenticated");
    let start = |name: &str| json!({ "workflow": name, "input": { "text": "hi" } });
    post(&server, "test", "/api/runs", start("echo")).await.expect_success();
    post(&server, "test", "/api/runs", start("review")).await.expect_problem(403, "forbidden");
}

/// Proves X5.
#[test]
fn a_mistake_in_the_file_keeps_the_server_from_starting() {
    for (text, line, says) in [
        ("[auth]\nrequird = true", 2, "did you mean \"required\"?"),
        ("[auth]\nrequired = 1", 2, "expected a boolean"),
        ("\n[atuh]\nrequired = true", 2, "did you mean \"auth\"?"),
        ("[auth]\nrequired = tru", 2, "error:"),
        ("[auth.jwt]\nissuer = \"i\"\naudience = \"a\"", 1, "either jwks_url or jwks_file"),
    ] {
        let site = AuthWorkspace::new(text);
        let refused = site.refuses_to_serve("127.0.0.1:0").expect(2);
        let place = format!("trackway.toml, line {line}: ");
        assert!(refused.stderr.contains(&place), "{text}: {refused:?}");
        assert!(refused.stderr.contains(says), "{text}: {refused:?}");
        assert!(!site.data().exists(), "nothing was made");
    }
    let same = format!("{}{}", KEY, KEY.replace("[auth]\nrequired = true\n", ""));
    let site = AuthWorkspace::new(&same.replace("${env:KEY_HASH}", &"0".repeat(64)));
    let refused = site.refuses_to_serve("127.0.0.1:0").expect(1);
    assert!(refused.stderr.contains("two keys have the id \"test\""), "{refused:?}");
}

#[test]
fn a_workspace_that_is_named_must_be_there() {
    let folder = TestFolder::new();
    let missing = folder.path().join("nothing");
    let args = ["serve", "--listen", "127.0.0.1:0", "--workspace", missing.to_str().unwrap()];
    let refused = folder.run_command(&args).expect(2);
    assert!(refused.stderr.contains("there is no folder"), "{refused:?}");
}
