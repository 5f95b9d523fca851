//! The two data flows of the source between processes that know each other by NATS alone.

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{INTERVIEW, KILLS, MODEL, example, mesh_node::MeshNode, state, text, workspace};
use crate::{a2a::support::with_test_timeout, nats::nats_server::NatsServer};

const SETTINGS: &str = "[defaults]\nmodel = \"demo\"\n[models.demo]\nprovider = \"scripted\"\nfile = \"model.yaml\"\n\
                        [outgoing]\nallow = [\"127.0.0.0/8\"]\n";

/// The orders team without any address of a peer.
fn orders_workspace() -> TempDir {
    let read = |name: &str| std::fs::read_to_string(example().join("orders").join(name)).unwrap();
    workspace(&[
        ("trackway.toml", SETTINGS),
        ("model.yaml", &read("model.yaml")),
        ("agents/orders.md", &read("agents/orders.md")),
    ])
}

async fn wait_for_peer(node: &MeshNode, name: &str) {
    let is_up = async {
        loop {
            let peers = node.get("/api/peers?limit=100").await;
            let items = peers["items"].as_array().unwrap_or_else(|| panic!("{peers}"));
            if items.iter().any(|peer| peer["name"] == name && peer["health"] == "up") {
                return;
            }
        }
    };
    with_test_timeout(name, is_up).await;
}

/// Both nodes bring the bundled workflow, so they are replicas of one peer and either may take the work: there is
/// one run of it, and this is its detail.
async fn only_run(nodes: &[&MeshNode]) -> Value {
    let mut found = Vec::new();
    for node in nodes {
        for run in node.list_runs("onboarding").await {
            found.push(node.get(&format!("/api/runs/{}", run["id"].as_str().unwrap())).await);
        }
    }
    assert_eq!(found.len(), 1, "{found:#?}");
    found.remove(0)
}

/// Proves I4, I5, I6, I7, X6: parameters, and then a file that was dropped into the conversation.
#[tokio::test]
async fn both_data_flows_travel_over_nats() {
    let csv = std::fs::read(example().join("data.csv")).unwrap();
    let file =
        json!({ "raw": data_encoding::BASE64.encode(&csv), "filename": "data.csv", "mediaType": "text/csv" });
    let names = json!(["Ada Lovelace", "Grace Hopper", "Edsger Dijkstra"]);
    for (parts, output) in [
        (vec![text("Onboard user John Doe.")], json!({ "count": 1, "names": ["John Doe"] })),
        (
            vec![text("Process this CSV file using the onboarding workflow."), file],
            json!({ "count": 3, "names": names }),
        ),
    ] {
        let nats = NatsServer::start().await;
        let env = [("TRACKWAY_NATS", &*nats.url)];
        let onboarding = MeshNode::start(&example().join("onboarding"), &env);
        let here = orders_workspace();
        let orders = MeshNode::start(here.path(), &env);
        wait_for_peer(&orders, "onboarding").await;
        let task = orders.send("orders", &parts, None).await;
        assert_eq!(state(&task), "TASK_STATE_COMPLETED", "{task:#}");
        assert!(task.to_string().contains("Everybody is onboarded."), "{task:#}");
        let run = only_run(&[&onboarding, &orders]).await;
        assert_eq!(run["output"], output, "{run:#}");
    }
}

/// Proves I9, X2, X6: the peer is killed three times during one call; there is one remote task and one result.
#[tokio::test]
async fn a_call_over_nats_continues_when_its_peer_is_killed_three_times() {
    let nats = NatsServer::start().await;
    let env = [("TRACKWAY_NATS", &*nats.url)];
    let reads_inputs = "[outgoing]\nallow = [\"127.0.0.0/8\"]\n";
    let there = workspace(&[("trackway.toml", reads_inputs), ("workflows/interview.yaml", INTERVIEW)]);
    let agent = "---\nworkflows: []\npeers: [interview]\n---\nYou interview people.\n";
    let here = workspace(&[("trackway.toml", SETTINGS), ("model.yaml", MODEL), ("agents/orders.md", agent)]);
    let mut peer = MeshNode::start(there.path(), &env);
    let orders = MeshNode::start(here.path(), &env);
    wait_for_peer(&orders, "interview").await;
    let mut task = orders.send("orders", &[text("Begin the interview.")], None).await;
    for number in 1..=KILLS {
        assert_eq!(state(&task), "TASK_STATE_INPUT_REQUIRED", "{task:#}");
        assert_eq!(peer.list_runs("interview").await.len(), 1);
        peer.kill_and_restart();
        let id = task["id"].as_str().unwrap().to_owned();
        task = orders.send("orders", &[json!({ "data": { "a": number } })], Some(&id)).await;
    }
    assert_eq!(state(&task), "TASK_STATE_COMPLETED", "{task:#}");
    let [run] = &peer.list_runs("interview").await[..] else { panic!("one remote task") };
    assert_eq!(run["state"], "completed", "{run}");
}
