//! Agents of a workspace on a running server: their addresses, and files that change.

use std::{
    fs,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use serde_json::{Value, json};

use crate::support::{ServerUnderTest, TestFolder};

const CONFIG: &str = "[defaults]\nmodel = \"stage\"\n[models.stage]\nprovider = \"scripted\"\nfile = \"script.yaml\"\n[models.other]\nprovider = \"scripted\"\nfile = \"other.yaml\"\n";

/// A workspace with one agent and a model that answers as the file says.
fn workspace() -> TestFolder {
    TestFolder::with_files(&[
        ("trackway.toml", CONFIG),
        ("script.yaml", "answers: [{ text: from the first, repeat: true }]\n"),
        ("other.yaml", "answers: [{ text: from the other, repeat: true }]\n"),
        ("agents/helper.md", "---\ndescription: Helps.\n---\nHelp.\n"),
    ])
}

/// Sends a message to an address and returns the answer's text.
async fn send_hello(server: &ServerUnderTest, path: &str) -> String {
    static SENT: AtomicU64 = AtomicU64::new(0);
    let id = format!("message-{}", SENT.fetch_add(1, Ordering::Relaxed));
    let message = json!({ "role": "ROLE_USER", "messageId": id, "parts": [{ "text": "hello" }] });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "SendMessage",
        "params": { "message": message } });
    let (_, answer) = server.post(path, &call).await;
    let task = &answer["result"]["task"];
    assert_eq!(task["status"]["state"], "TASK_STATE_COMPLETED", "{answer}");
    let artifacts = task["artifacts"].as_array().unwrap();
    let text = artifacts.iter().find(|artifact| artifact["artifactId"] == "text-response");
    let parts = text.unwrap()["parts"].as_array().unwrap();
    parts.iter().filter_map(|part| part["text"].as_str()).collect()
}

/// Lists the agents until the condition holds.
async fn until(server: &ServerUnderTest, so: impl Fn(&[Value]) -> bool) {
    loop {
        let (_, list) = server.get("/a2a/agents").await;
        if so(list["agents"].as_array().unwrap()) {
            return;
        }
        // why: the system reports changed files in its own time, and a client gets no signal.
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn described(agents: &[Value], name: &str, description: &str) -> bool {
    agents.iter().any(|agent| agent["name"] == name && agent["description"] == description)
}

/// Proves D1: an agent answers at its own address and, as the default one, at that of the server.
#[tokio::test]
async fn an_agent_answers_at_its_addresses() {
    let desk = workspace();
    let server = desk.serve(&[]);
    assert_eq!(send_hello(&server, "/a2a/agents/helper").await, "from the first");
    assert_eq!(send_hello(&server, "/a2a").await, "from the first");
    let (_, card) = server.get("/.well-known/agent-card.json").await;
    assert_eq!((&card["name"], &card["description"]), (&json!("helper"), &json!("Helps.")));
}

/// The reported change is what runs.
#[tokio::test]
async fn a_changed_file_is_what_runs() {
    let desk = workspace();
    let server = desk.serve(&[]);
    assert_eq!(send_hello(&server, "/a2a/agents/helper").await, "from the first");
    desk.write_file("agents/helper.md", "---\ndescription: Other.\nmodel: other\n---\nHelp.\n");
    desk.write_file("agents/second.md", "---\ndescription: New.\n---\n");
    until(&server, |agents| described(agents, "helper", "Other.") && described(agents, "second", "New."))
        .await;
    assert_eq!(send_hello(&server, "/a2a/agents/helper").await, "from the other");
    assert_eq!(send_hello(&server, "/a2a/agents/second").await, "from the first");
    // A mistake changes nothing, even if another file is right.
    desk.write_file("agents/second.md", "---\ndescription: Newer.\n---\n");
    until(&server, |agents| described(agents, "second", "Newer.")).await;
    desk.write_file("agents/helper.md", "---\ndescription: Broken.\nmodl: other\n---\n");
    desk.write_file("agents/third.md", "---\ndescription: Third.\n---\n");
    assert_eq!(send_hello(&server, "/a2a/agents/helper").await, "from the other");
    fs::remove_file(desk.path().join("agents/second.md")).unwrap();
    desk.write_file("agents/helper.md", "---\ndescription: Mended.\n---\n");
    until(&server, |agents| {
        described(agents, "helper", "Mended.")
            && described(agents, "third", "Third.")
            && !agents.iter().any(|agent| agent["name"] == "second")
    })
    .await;
    assert_eq!(send_hello(&server, "/a2a/agents/helper").await, "from the first");
    // The models themselves change too.
    desk.write_file("trackway.toml", &CONFIG.replace("model = \"stage\"", "model = \"other\""));
    desk.write_file("agents/helper.md", "---\ndescription: Last.\n---\n");
    until(&server, |agents| described(agents, "helper", "Last.")).await;
    assert_eq!(send_hello(&server, "/a2a/agents/third").await, "from the other");
}
