//! Three real processes whose agents call each other in a ring.

use serde_json::{Value, json};

use super::{mesh_node::MeshNode, state, text, workspace};

const MODEL: &str = r"
name: relay
answers:
  - { after: peer_next, text: The next one has answered., repeat: true }
  - { calls: [{ tool: peer_next, arguments: { message: Pass it on. } }], repeat: true }
";

fn settings(max_depth: u32) -> String {
    let model = "[models.demo]\nprovider = \"scripted\"\nfile = \"model.yaml\"\n";
    format!("[defaults]\nmodel = \"demo\"\n{model}[mesh]\nmax_depth = {max_depth}\n")
}

/// Three nodes, each with the agent `relay`, whose peer `next` is the agent of the next node. The first message
/// goes to the first node.
async fn send_into_ring(max_depth: u32) -> (Value, Vec<MeshNode>) {
    let agent = "---\nworkflows: []\npeers: [next]\n---\nYou pass everything on.\n";
    let files = [("trackway.toml", &*settings(max_depth)), ("model.yaml", MODEL), ("agents/relay.md", agent)];
    let nodes: Vec<MeshNode> = (0..3).map(|_| MeshNode::start_owned(workspace(&files))).collect();
    for (node, next) in nodes.iter().zip(nodes.iter().cycle().skip(1)) {
        node.add_peer(&json!({ "url": next.agent_url("relay"), "name": "next" })).await;
    }
    let task = nodes[0].send("relay", &[text("Begin.")], None).await;
    (task, nodes)
}

/// The result of the tool call in the node's only turn.
async fn tool_result(node: &MeshNode) -> String {
    let [run] = &node.list_runs("relay").await[..] else { panic!("one turn") };
    assert_eq!(run["state"], "completed", "{run}");
    let detail = node.get(&format!("/api/runs/{}", run["id"].as_str().unwrap())).await;
    let artifacts = detail["artifacts"].as_array().unwrap_or_else(|| panic!("{detail:#}"));
    let result = artifacts.iter().find(|artifact| artifact.to_string().contains("tool-result-"));
    result.unwrap_or_else(|| panic!("{detail:#}")).to_string()
}

/// Proves L17: a call back into an agent that led to it is refused, and every turn of the ring ends.
#[tokio::test]
async fn a_ring_of_three_agents_ends_where_it_would_close() {
    let (task, nodes) = send_into_ring(8).await;
    assert_eq!(state(&task), "TASK_STATE_COMPLETED", "{task:#}");
    for node in &nodes[..2] {
        let result = tool_result(node).await;
        assert!(result.contains("The next one has answered."), "{result}");
    }
    let refused = tool_result(&nodes[2]).await;
    assert!(refused.contains("depth limit") && refused.contains("Nothing was called."), "{refused}");
}

/// Proves L17: the depth of a chain is counted across processes.
#[tokio::test]
async fn a_ring_of_three_agents_ends_at_the_depth_limit() {
    let (task, nodes) = send_into_ring(1).await;
    assert_eq!(state(&task), "TASK_STATE_COMPLETED", "{task:#}");
    let refused = tool_result(&nodes[1]).await;
    assert!(refused.contains("depth limit") && refused.contains("Nothing was called."), "{refused}");
    assert!(nodes[2].list_runs("relay").await.is_empty(), "nothing was sent further");
}
