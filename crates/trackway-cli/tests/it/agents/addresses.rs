//! Where agents are found, and what their cards say.

use serde_json::{Value, json};

use super::agent_workspace::{AgentWorkspace, joined_text_response};
use crate::a2a::support::{CrashableServer, text_message};

const BROKER: &str = r#"---
name: broker
description: Buys and sells.
workflows: ["inv*"]
tools: [time_now]
skills:
  - name: Investing
    description: Opens a position.
    tags: [money]
    examples: ["Invest from 0x1"]
---
You are a broker.
"#;
const AIDE: &str = "---\nname: aide\ndescription: Helps.\n---\nYou help.\n";
const CONFIG: &str = "[defaults]\nagent = \"broker\"\n";

async fn card(server: &CrashableServer, path: &str) -> Value {
    let response = server.http().get(server.url(path)).send().await.unwrap();
    response.json().await.unwrap()
}

fn tools(request: &Value) -> Vec<&str> {
    let tools = request["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap()).collect()
}

/// Proves D1: the default agent is at the front and on the well-known card, others at
/// their own addresses; each sees the tools and workflows that its file allows.
#[tokio::test]
async fn each_agent_has_its_address_card_and_tools() {
    let files = [("agents/broker.md", BROKER), ("agents/aide.md", AIDE), ("trackway.toml", CONFIG)];
    let desk = AgentWorkspace::open(&files).await;
    for path in ["/.well-known/agent-card.json", "/a2a/agents/broker/.well-known/agent-card.json"] {
        let card = card(&desk.server, path).await;
        assert_eq!(card["name"], "broker", "{card}");
        assert_eq!(card["description"], "Buys and sells.");
        let skill = &card["skills"][0];
        assert_eq!(
            (&skill["name"], &skill["tags"], &skill["examples"]),
            (&json!("Investing"), &json!(["money"]), &json!(["Invest from 0x1"]))
        );
    }
    let card = card(&desk.server, "/a2a/agents/aide/.well-known/agent-card.json").await;
    assert_eq!((&card["name"], &card["description"]), (&json!("aide"), &json!("Helps.")));

    desk.queue_text("The broker.");
    desk.queue_text("The aide.");
    assert_eq!(joined_text_response(&desk.run_turn(&text_message("Who?")).await), "The broker.");
    let aide = desk.server.agent("aide").stream_message(&text_message("Who?")).await;
    assert_eq!(joined_text_response(&aide), "The aide.");
    let asked = desk.model.requests();
    assert_eq!(tools(&asked[0].body), ["dispatch_workflow_invest", "time_now"]);
    assert_eq!(asked[0].body["messages"][0], json!({ "role": "system", "content": "You are a broker." }));
    let all = tools(&asked[1].body);
    for workflow in ["echo", "fails", "family", "invest", "ledger", "onboarding", "review"] {
        assert!(all.contains(&format!("dispatch_workflow_{workflow}").as_str()), "{all:?}");
    }
    assert!(!all.contains(&"time_now"), "an agent has the tools that it names: {all:?}");
}
