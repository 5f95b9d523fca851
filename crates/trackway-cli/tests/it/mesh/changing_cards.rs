//! The card of a peer changes while a conversation goes on.

use serde_json::{Value, json};

use super::{MODEL, ORDERS, mesh_node::MeshNode, text, workspace};

fn interview(property: &str) -> String {
    format!(
        "id: interview\nname: Interview\ndescription: Takes one value.\nversion: \"1\"\n\
         input: {{ type: object, required: [{property}], properties: {{ {property}: {{ type: string }} }} }}\n\
         steps:\n  - {{ id: only, ask: {{ message: \"Sure?\", schema: {{ type: object }} }}, save: only }}\n"
    )
}

/// The names that the tool call was refused for.
fn refusal(task: &Value) -> String {
    let artifacts = task["artifacts"].as_array().unwrap_or_else(|| panic!("{task:#}"));
    let result = artifacts.iter().rev().find(|artifact| artifact.to_string().contains("tool-result-"));
    result.unwrap_or_else(|| panic!("{task:#}")).to_string()
}

/// Proves I1, I3: the next model call after a change of the card has the new tool, in the same conversation.
#[tokio::test]
async fn the_next_turn_has_the_tool_of_the_new_card() {
    let there = workspace(&[("workflows/interview.yaml", &interview("colour"))]);
    let agent = "---\nworkflows: []\npeers: [interview]\n---\nYou interview people.\n";
    let here = workspace(&[("trackway.toml", ORDERS), ("model.yaml", MODEL), ("agents/orders.md", agent)]);
    let mut peer = MeshNode::start(there.path(), &[]);
    let orders = MeshNode::start(here.path(), &[("PEER_URL", &peer.agent_url("interview"))]);
    orders.ping_peer("interview").await;
    let first = orders.send("orders", &[text("Begin the interview.")], None).await;
    assert!(refusal(&first).contains("colour"), "{first:#}");
    std::fs::write(there.path().join("workflows/interview.yaml"), interview("shape")).unwrap();
    peer.kill_and_restart();
    orders.ping_peer("interview").await;
    let context = first["contextId"].as_str().unwrap();
    let second = orders.send_in_context("orders", &[text("Begin the interview again.")], context).await;
    let refused = refusal(&second);
    assert!(refused.contains("shape") && !refused.contains("colour"), "{second:#}");
    assert_eq!(second["contextId"], json!(context));
}
