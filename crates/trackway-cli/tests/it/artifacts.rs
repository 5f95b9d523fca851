//! Artifacts on a real server: stored for good, over REST and the command line, and attached to messages.

use std::fs;

use serde_json::{Value, json};
use trackway_testkit::ScriptedModelServer;

use crate::support::{ServerUnderTest, TestFolder, trackway_command};

async fn put(server: &ServerUnderTest, path: &str, body: Vec<u8>) -> (u16, Value) {
    let sent = server.http.put(format!("{}/api/artifacts/{path}", server.url)).body(body).send().await;
    let response = sent.unwrap();
    (response.status().as_u16(), response.json().await.unwrap())
}

async fn read(server: &ServerUnderTest, path: &str) -> (u16, Vec<u8>) {
    let sent = server.http.get(format!("{}/api/artifacts/{path}", server.url)).send().await.unwrap();
    (sent.status().as_u16(), sent.bytes().await.unwrap().to_vec())
}

/// Proves I10, X2: what was answered with 201 survives a kill right after it, with all its bytes.
#[tokio::test]
async fn a_stored_artifact_survives_a_kill() {
    let folder = TestFolder::new();
    let mut server = ServerUnderTest::start(&folder.data_path());
    let content: Vec<u8> = (0..3_000_000_u32).map(|number| number.to_le_bytes()[1]).collect();
    for version in 0..3 {
        let (status, stored) = put(&server, "data.bin", content.clone()).await;
        assert_eq!((status, &stored["version"]), (201, &json!(version)), "{stored}");
        server.restart();
        let (status, kept) = read(&server, &format!("data.bin?version={version}")).await;
        assert!(status == 200 && kept == content, "{status}, {} bytes", kept.len());
    }
}

/// Proves X5: an artifact has its own limit, below and above that of other bodies.
#[tokio::test]
async fn the_limit_of_an_artifact_is_its_own() {
    const TEN_MEBIBYTES: usize = 10 * 1024 * 1024;
    let folder = TestFolder::with_files(&[("trackway.toml", "[artifacts]\nmax_bytes = 1000\n")]);
    let server = folder.serve(&[]);
    for size in [1001, TEN_MEBIBYTES + 1] {
        let (status, refused) = put(&server, "a", vec![b'x'; size]).await;
        assert_eq!((status, &refused["code"]), (413, &json!("too-large")), "{size}: {refused}");
    }
    assert_eq!(put(&server, "a", vec![b'x'; 1000]).await.1["version"], 0);
    drop(server);
    let folder = TestFolder::new();
    let server = ServerUnderTest::start(&folder.data_path());
    assert_eq!(put(&server, "a", vec![b'x'; TEN_MEBIBYTES + 1]).await.0, 201);
}

/// The commands, on the folder itself and on the server that holds it.
#[test]
fn commands_store_show_get_and_remove() {
    for with_server in [false, true] {
        let folder = TestFolder::new();
        let source = folder.path().join("data.csv");
        fs::write(&source, "a,b\n1,2\n").unwrap();
        let (source, copy) = (source.to_str().unwrap(), folder.path().join("copy.csv"));
        let server = with_server.then(|| ServerUnderTest::start(&folder.data_path()));
        let trackway = |args: &[&str]| folder.run_command(&[&["artifacts"], args].concat());

        let stored = trackway(&["put", source, "--tag", "import", "--json"]).expect(0).json();
        assert_eq!((&stored["version"], &stored["mediaType"]), (&json!(0), &json!("text/csv")));
        assert_eq!(trackway(&["put", source]).expect(0).stdout, "data.csv version 1\n");
        trackway(&["put", source, "--if-absent"]).expect(2);
        trackway(&["put", source, "--session", "s1", "--name", "s.csv"]).expect(0);
        let listed = trackway(&["list", "--json"]).expect(0).json();
        assert_eq!(listed["items"].as_array().unwrap().len(), 2, "{listed}");
        let table = trackway(&["list", "--session", "s1"]).expect(0).stdout;
        assert!(table.contains("s.csv") && table.contains("session s1"), "{table}");
        let shown = trackway(&["show", "data.csv"]).expect(0).stdout;
        assert!(shown.contains("text/csv"), "{shown}");

        assert_eq!(trackway(&["get", "data.csv", "--version", "0"]).expect(0).stdout, "a,b\n1,2\n");
        trackway(&["get", "s.csv", "--session", "s1", "--output", copy.to_str().unwrap()]).expect(0);
        assert_eq!(fs::read_to_string(&copy).unwrap(), "a,b\n1,2\n");
        let unknown = trackway(&["get", "s.csv"]).expect(2);
        assert!(unknown.stderr.contains("docs/errors/unknown-artifact.md"), "{unknown:?}");
        trackway(&["rm", "data.csv", "--version", "0"]).expect(0);
        trackway(&["get", "data.csv", "--version", "0"]).expect(2);
        trackway(&["rm", "data.csv"]).expect(0);
        trackway(&["rm", "data.csv"]).expect(2);
        for wrong in
            [&["put", "-"][..], &["put", "missing"], &["get", "a/b"], &["put", source, "--scope", "run"]]
        {
            assert_eq!(trackway(wrong).code, 2, "{wrong:?}");
        }
        drop(server);
    }
}

/// Proves I5: a file that a user attaches is told to the model by its name, and is an artifact of the session.
#[tokio::test]
async fn an_attached_file_is_told_and_kept() {
    let (folder, model) = (TestFolder::new(), ScriptedModelServer::start().await);
    let source = folder.path().join("people.csv");
    fs::write(&source, "name\nAda\n").unwrap();
    model.queue_reply(ScriptedModelServer::openai_reply().with_text("I see it."));
    let lines = format!("/attach missing.csv\n/attach {}\nprocess it\n", source.display());
    let talk = trackway_command(&["chat"])
        .env("TRACKWAY_DATA", folder.data_path())
        .env("TRACKWAY_WORKSPACE", folder.path())
        .env("OPENAI_BASE_URL", model.base_url())
        .env("OPENAI_API_KEY", "secret")
        .env("TRACKWAY_MODEL", "openai/m")
        .run_to_end(&lines)
        .expect(0);
    assert!(talk.stdout.contains("missing.csv cannot be attached"), "{talk:?}");
    assert!(talk.stdout.contains("people.csv (9 bytes) goes along"), "{talk:?}");
    let told = model.requests()[0].body.to_string();
    assert!(told.contains("people.csv") && told.contains("Ada"), "{told}");
    let listed = folder.run_command(&["artifacts", "list", "--json"]).expect(0).json();
    let kept = &listed["items"][0];
    assert_eq!((&kept["filename"], &kept["scope"]), (&json!("people.csv"), &json!("session")), "{listed}");
    let session = kept["sessionId"].as_str().unwrap();
    let content = folder.run_command(&["artifacts", "get", "people.csv", "--session", session]).expect(0);
    assert_eq!(content.stdout, "name\nAda\n");
}
