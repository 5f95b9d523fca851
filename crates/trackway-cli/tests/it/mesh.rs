//! Two real processes: an agent of one calls a workflow of the other, over HTTP and over NATS.

mod call_rings;
mod changing_cards;
mod mesh_node;
mod over_nats;

use std::{path::PathBuf, process::Command};

use serde_json::{Value, json};
use tempfile::TempDir;

use self::mesh_node::MeshNode;

/// How often the peer dies during one call.
const KILLS: usize = 3;

/// The folder of the example.
fn example() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/mesh")
}

/// Both processes of the example.
async fn start_example() -> (MeshNode, MeshNode) {
    let onboarding = MeshNode::start(&example().join("onboarding"), &[]);
    let peer = onboarding.agent_url("onboarding");
    let orders = MeshNode::start(&example().join("orders"), &[("ONBOARDING_URL", &peer)]);
    orders.ping_peer("onboarding").await;
    (onboarding, orders)
}

fn text(text: &str) -> Value {
    json!({ "text": text })
}

fn state(task: &Value) -> &str {
    task["status"]["state"].as_str().unwrap_or_else(|| panic!("{task}"))
}

/// Proves I4, I6, I9: the source's first data flow, word for word.
#[tokio::test]
async fn a_workflow_elsewhere_is_called_with_parameters() {
    let (onboarding, orders) = start_example().await;
    let task = orders.send("orders", &[text("Onboard user John Doe.")], None).await;
    assert_eq!(state(&task), "TASK_STATE_COMPLETED", "{task:#}");
    assert!(task.to_string().contains("Everybody is onboarded."), "{task:#}");
    let [run] = &onboarding.list_runs("onboarding").await[..] else { panic!("one remote task") };
    assert_eq!(run["state"], "completed", "{run}");
    let detail = onboarding.get(&format!("/api/runs/{}", run["id"].as_str().unwrap())).await;
    assert_eq!(detail["input"], json!({ "name": "John Doe" }));
    assert_eq!(detail["output"], json!({ "count": 1, "names": ["John Doe"] }));
}

/// Proves I5, I7, I10: the source's second data flow, word for word; the file was dropped into the
/// conversation.
#[tokio::test]
async fn a_workflow_elsewhere_is_called_with_a_file() {
    let (onboarding, orders) = start_example().await;
    let csv = std::fs::read(example().join("data.csv")).unwrap();
    let encoded = data_encoding::BASE64.encode(&csv);
    let file = json!({ "raw": encoded, "filename": "data.csv", "mediaType": "text/csv" });
    let parts = [text("Process this CSV file using the onboarding workflow."), file];
    let task = orders.send("orders", &parts, None).await;
    assert_eq!(state(&task), "TASK_STATE_COMPLETED", "{task:#}");
    let [run] = &onboarding.list_runs("onboarding").await[..] else { panic!("one remote task") };
    let detail = onboarding.get(&format!("/api/runs/{}", run["id"].as_str().unwrap())).await;
    let names = json!(["Ada Lovelace", "Grace Hopper", "Edsger Dijkstra"]);
    assert_eq!(detail["output"], json!({ "count": 3, "names": names }), "{detail:#}");
    assert_eq!(detail["input"]["rows"][0], json!({ "name": "Ada Lovelace", "plan": "pro" }));
}

/// The script of the example works as its page says.
#[test]
fn the_script_of_the_example_runs() {
    let script = Command::new("sh")
        .arg(example().join("run.sh"))
        .env("TRACKWAY", env!("CARGO_BIN_EXE_trackway"))
        .output()
        .unwrap();
    let (said, log) = (String::from_utf8_lossy(&script.stdout), String::from_utf8_lossy(&script.stderr));
    assert!(script.status.success(), "{said}\n{log}");
    assert_eq!(said.matches("TASK_STATE_COMPLETED").count(), 2, "{said}\n{log}");
}

const INTERVIEW: &str = r#"
id: interview
name: Interview
description: Asks three times.
version: "1"
steps:
  - { id: first, ask: { message: "First?", schema: { type: object, required: [a] } }, save: first }
  - { id: second, ask: { message: "Second?", schema: { type: object, required: [a] } }, save: second }
  - { id: third, ask: { message: "Third?", schema: { type: object, required: [a] } }, save: third }
"#;

/// Inputs are read from the caller's node.
const PEER: &str = "[outgoing]\nallow = [\"127.0.0.0/8\"]\n";

const MODEL: &str = r"
name: orders
answers:
  - { after: workflow_interview, text: The interview is over., repeat: true }
  - { user: interview, calls: [{ tool: workflow_interview, arguments: {} }], repeat: true }
";

const ORDERS: &str = r#"
[defaults]
model = "demo"
[models.demo]
provider = "scripted"
file = "model.yaml"
[[peers]]
name = "interview"
url = "${env:PEER_URL}"
"#;

fn workspace(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let file = folder.path().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
    folder
}

/// Proves I9, X2: the peer is killed and started again three times during one call: its questions become
/// ours, the answers travel back, and there is one remote task and one result.
#[tokio::test]
async fn a_call_continues_when_its_peer_is_killed_three_times() {
    let there = workspace(&[("trackway.toml", PEER), ("workflows/interview.yaml", INTERVIEW)]);
    let agent = "---\nworkflows: []\npeers: [interview]\n---\nYou interview people.\n";
    let here = workspace(&[("trackway.toml", ORDERS), ("model.yaml", MODEL), ("agents/orders.md", agent)]);
    let mut peer = MeshNode::start(there.path(), &[]);
    let address = peer.agent_url("interview");
    let orders = MeshNode::start(here.path(), &[("PEER_URL", &address)]);
    orders.ping_peer("interview").await;
    let mut task = orders.send("orders", &[text("Begin the interview.")], None).await;
    for number in 1..=KILLS {
        assert_eq!(state(&task), "TASK_STATE_INPUT_REQUIRED", "{task:#}");
        assert_eq!(peer.list_runs("interview").await.len(), 1);
        peer.kill_and_restart();
        let id = task["id"].as_str().unwrap().to_owned();
        task = orders.send("orders", &[json!({ "data": { "a": number } })], Some(&id)).await;
    }
    assert_eq!(state(&task), "TASK_STATE_COMPLETED", "{task:#}");
    assert!(task.to_string().contains("The interview is over."), "{task:#}");
    let [run] = &peer.list_runs("interview").await[..] else { panic!("one remote task") };
    assert_eq!(run["state"], "completed", "{run}");
    let detail = peer.get(&format!("/api/runs/{}", run["id"].as_str().unwrap())).await;
    let given = ["first", "second", "third"].map(|step| detail["output"][step]["a"].clone());
    assert_eq!(given, [json!(1), json!(2), json!(3)], "{detail:#}");
}

/// Proves L10: cancelling our task cancels the task at the peer, also if the peer is away meanwhile.
#[tokio::test]
async fn a_cancel_travels_to_the_peer() {
    let there = workspace(&[("trackway.toml", PEER), ("workflows/interview.yaml", INTERVIEW)]);
    let agent = "---\nworkflows: []\npeers: [interview]\n---\nYou interview people.\n";
    let here = workspace(&[("trackway.toml", ORDERS), ("model.yaml", MODEL), ("agents/orders.md", agent)]);
    let mut peer = MeshNode::start(there.path(), &[]);
    let address = peer.agent_url("interview");
    let orders = MeshNode::start(here.path(), &[("PEER_URL", &address)]);
    orders.ping_peer("interview").await;
    let task = orders.send("orders", &[text("Begin the interview.")], None).await;
    assert_eq!(state(&task), "TASK_STATE_INPUT_REQUIRED", "{task:#}");
    let [run] = &peer.list_runs("interview").await[..] else { panic!("one remote task") };
    let run = run["id"].as_str().unwrap().to_owned();
    peer.kill();
    orders.cancel("orders", task["id"].as_str().unwrap()).await;
    peer.start_again();
    assert_eq!(peer.wait_for_end(&run).await, "canceled");
}
