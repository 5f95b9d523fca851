//! Workflows that are called with artifacts, from outside: by address, through a crash, and from the
//! artifacts of a user.

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use axum::{Router, routing::get};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::support::{CrashableServer, Message, text_message, with_test_timeout};

/// A file on this machine, and how often it was read.
struct ServedFile {
    url: String,
    reads: Arc<AtomicUsize>,
}

impl ServedFile {
    async fn open(content: &'static str) -> Self {
        let reads = Arc::new(AtomicUsize::new(0));
        let count = reads.clone();
        let read = move || {
            count.fetch_add(1, Ordering::Relaxed);
            std::future::ready(content)
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/file", listener.local_addr().unwrap());
        let router = Router::new().route("/file", get(read));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, reads }
    }

    fn read_count(&self) -> usize {
        self.reads.load(Ordering::Relaxed)
    }
}

/// A server that may read files of this machine.
fn server_with_settings(settings: &str) -> CrashableServer {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("trackway.toml"), settings).unwrap();
    CrashableServer::start_in(home, &[])
}

fn invoked_with(reference: Value, parts: Value) -> Message {
    text_message("").with_field("parts", parts).with_field(
        "metadata",
        json!({ "invoked_with_artifacts": [reference], "sessionBehavior": "RUN_BASED" }),
    )
}

/// Proves I5, I7, X2: the input of an accepted task is recorded. A crash, a restart and a repeated message
/// read nothing again, and the task comes to its end.
#[tokio::test]
async fn an_accepted_call_survives_a_kill_without_reading_its_file_again() {
    let file = ServedFile::open("entries: 6\ndelayMs: 100\n").await;
    let mut server = server_with_settings("[outgoing]\nallow = [\"127.0.0.0/8\"]\n");
    let part = json!({ "kind": "file", "file": { "name": "work.yaml", "uri": file.url } });
    let message = invoked_with(json!({ "filename": "work.yaml" }), json!([part]));
    let task = server.agent("ledger").send(&message).await.unwrap();
    for _ in 0..3 {
        server.crash();
        let again = server.agent("ledger").send(&message).await.unwrap();
        assert_eq!((&again["id"], &again["contextId"]), (&task["id"], &task["contextId"]));
    }
    let events = with_test_timeout("the end", server.agent("ledger").replay(&task)).await;
    assert_eq!(events.last().unwrap().result["status"]["state"], "completed");
    assert_eq!(file.read_count(), 1);
}

/// Proves I5, I7, I9: a CSV file of a user reaches the bundled workflow, the artifact and the output are as
/// declared, and the run's own session is linked to the caller's in every view.
#[tokio::test]
async fn onboarding_takes_a_csv_artifact_of_the_user() {
    let server = CrashableServer::start();
    let put =
        server.http().put(server.url("/api/artifacts/people.csv")).body("name;plan\nAnn;pro\n\"Bob B\";\n");
    let put = with_test_timeout("put", put.header("content-type", "text/csv").send()).await.unwrap();
    assert_eq!(put.status().as_u16(), 201);
    let message = invoked_with(
        json!({ "filename": "people.csv", "version": 0 }),
        json!([{ "kind": "text", "text": "Onboard everyone." }]),
    )
    .in_context(&json!("talk"));
    let tasks = [
        server.agent("onboarding").send_and_wait(&message).await.unwrap(),
        server.agent("onboarding").send_and_wait(&message.with_new_id()).await.unwrap(),
    ];
    let result = json!({ "count": 2, "names": ["Ann", "Bob B"] });
    for task in &tasks {
        assert_eq!(task["metadata"]["output"], result);
        assert_eq!(task["metadata"]["linkedContextId"], "talk");
        assert_eq!(task["artifacts"][0]["artifactId"], "onboarded.json");
        assert_eq!(task["artifacts"][0]["parts"][0]["data"], result);
        let url = server.url(&format!("/api/runs/{}", task["id"].as_str().unwrap()));
        let run: Value = server.http().get(url).send().await.unwrap().json().await.unwrap();
        assert_eq!((&run["sessionId"], &run["linkedSessionId"]), (&task["contextId"], &json!("talk")));
    }
    assert_ne!(tasks[0]["contextId"], tasks[1]["contextId"]);
    let missing = invoked_with(json!({ "filename": "none.csv" }), json!([{ "kind": "text", "text": "" }]));
    let refused = server.agent("onboarding").send_and_wait(&missing).await.unwrap_err();
    assert_eq!((refused.code, &refused.data["code"]), (-32602, &json!("unknown-artifact")));
}

/// Proves I9: the bundled workflow publishes what it needs, and refuses what does not fit.
#[tokio::test]
async fn onboarding_needs_a_name_or_rows() {
    let server = CrashableServer::start();
    let agent = server.agent("onboarding");
    let data = |data: Value| super::support::data_message(data);
    for input in [
        json!({}),
        json!({ "name": null }),
        json!({ "plan": "pro" }),
        json!({ "name": "" }),
        json!({ "name": "Ann", "age": 7 }),
        json!({ "rows": [{ "nam": "Ann" }] }),
        json!({ "rows": { "name": "Ann" } }),
        json!({ "name": 7 }),
    ] {
        let refused = agent.send_and_wait(&data(input.clone())).await.unwrap_err();
        assert_eq!(refused.code, -32602, "{input}");
        assert!(refused.data["errors"].is_array(), "{input}: {}", refused.data);
    }
    for (input, names) in [
        (json!({ "name": "John Doe" }), json!(["John Doe"])),
        (
            json!({ "name": "Ann", "plan": "pro", "rows": [{ "name": "Bob", "city": "Rome" }] }),
            json!(["Ann", "Bob"]),
        ),
        (json!({ "rows": [] }), json!([])),
    ] {
        let task = agent.send_and_wait(&data(input.clone())).await.unwrap();
        assert_eq!(task["metadata"]["output"]["names"], names, "{input}");
    }
    let card = server.url("/a2a/agents/onboarding/.well-known/agent-card.json");
    let card: Value = server.http().get(card).send().await.unwrap().json().await.unwrap();
    let extensions = card["capabilities"]["extensions"].as_array().unwrap();
    let schemas =
        extensions.iter().find(|one| one["uri"].as_str().unwrap().ends_with("sam/schemas")).unwrap();
    assert_eq!(schemas["params"]["input_schema"]["anyOf"].as_array().unwrap().len(), 2);
    assert_eq!(schemas["params"]["output_schema"]["required"], json!(["count", "names"]));
}
