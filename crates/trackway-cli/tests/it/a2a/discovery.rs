//! What a client finds without prior knowledge: the list, the cards, and health.

use serde_json::{Value, json};

use super::support::{CrashableServer, read_json_body, with_test_timeout};

async fn get(server: &CrashableServer, path: &str) -> (u16, Value) {
    let response = with_test_timeout(path, server.http().get(server.url(path)).send()).await.unwrap();
    let status = response.status().as_u16();
    (status, with_test_timeout(path, read_json_body(response)).await.unwrap())
}

/// Proves X5.
#[tokio::test]
async fn the_list_has_every_program_with_addresses_that_answer() {
    let server = CrashableServer::start();
    let (status, list) = get(&server, "/a2a/agents").await;
    assert_eq!((status, get(&server, "/a2a/agents/").await), (200, (200, list.clone())));
    let agents = list["agents"].as_array().unwrap();
    let names: Vec<_> = agents.iter().map(|agent| agent["name"].as_str().unwrap()).collect();
    let bundled =
        ["approve", "assistant", "echo", "fails", "family", "invest", "ledger", "onboarding", "review"];
    assert_eq!(names, bundled);
    for agent in agents {
        let name = agent["name"].as_str().unwrap();
        let url = server.url(&format!("/a2a/agents/{name}"));
        let kind = if name == "assistant" { "agent" } else { "workflow" };
        assert_eq!(
            *agent,
            json!({ "name": name, "kind": kind, "description": agent["description"], "url": url,
                "cardUrl": format!("{url}/.well-known/agent-card.json") })
        );
        assert!(!agent["description"].as_str().unwrap().is_empty());
        let card = server.http().get(agent["cardUrl"].as_str().unwrap()).send().await.unwrap();
        let card = read_json_body(card).await.unwrap();
        assert_eq!((&card["name"], &card["url"]), (&agent["name"], &agent["url"]));
        assert_eq!(card["description"], agent["description"]);
        let slashed = format!("/a2a/agents/{name}/.well-known/agent-card.json/");
        assert_eq!(get(&server, &slashed).await, (200, card));
    }
}

#[tokio::test]
async fn health_is_answered() {
    let server = CrashableServer::start();
    assert_eq!(get(&server, "/livez").await, (200, json!({ "status": "alive" })));
    assert_eq!(get(&server, "/readyz").await, (200, json!({ "status": "ready" })));
}
