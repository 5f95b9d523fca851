//! What can be found without knowing anything: the list, the cards, and health.

use serde_json::{Value, json};

use super::support::{Server, reply, soon};

async fn get(server: &Server, path: &str) -> (u16, Value) {
    let response = soon(path, server.http().get(server.url(path)).send()).await.unwrap();
    let status = response.status().as_u16();
    (status, soon(path, reply(response)).await.unwrap())
}

/// Proves X5.
#[tokio::test]
async fn the_list_has_every_program_with_addresses_that_answer() {
    let server = Server::start();
    let (status, list) = get(&server, "/a2a/agents").await;
    assert_eq!((status, get(&server, "/a2a/agents/").await), (200, (200, list.clone())));
    let agents = list["agents"].as_array().unwrap();
    let names: Vec<_> = agents.iter().map(|agent| agent["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        ["approve", "assistant", "echo", "fails", "family", "invest", "ledger", "review"]
    );
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
        let card = reply(card).await.unwrap();
        assert_eq!((&card["name"], &card["url"]), (&agent["name"], &agent["url"]));
        assert_eq!(card["description"], agent["description"]);
    }
}

/// Proves I2: its own workflows carry the two extensions.
#[tokio::test]
async fn a_card_says_what_a_client_of_0_3_must_know() {
    let server = Server::start();
    let path = "/a2a/agents/invest/.well-known/agent-card.json";
    let (status, card) = get(&server, path).await;
    assert_eq!((status, get(&server, &format!("{path}/")).await.1), (200, card.clone()));
    assert_eq!(card["protocolVersion"], "0.3.0");
    assert_eq!(card["preferredTransport"], "JSONRPC");
    assert_eq!(
        (&card["capabilities"]["streaming"], &card["capabilities"]["pushNotifications"]),
        (&json!(true), &json!(true))
    );
    for list in ["defaultInputModes", "defaultOutputModes", "skills"] {
        assert!(!card[list].as_array().unwrap().is_empty(), "{list}");
    }
    assert!(card["version"].is_string());
    let skill = &card["skills"][0];
    assert!(
        skill["id"].is_string() && skill["name"].is_string() && skill["description"].is_string()
    );
    assert!(!skill["tags"].as_array().unwrap().is_empty());
    let extensions = card["capabilities"]["extensions"].as_array().unwrap();
    let by_uri = |end: &str| {
        extensions
            .iter()
            .find(|extension| extension["uri"].as_str().unwrap().ends_with(end))
            .unwrap()
    };
    assert_eq!(by_uri("/agent-type")["params"], json!({ "type": "workflow" }));
    assert_eq!(by_uri("/schemas")["params"]["input_schema"]["required"], json!(["walletAddress"]));
}

#[tokio::test]
async fn an_agent_answers_with_and_without_a_slash() {
    let server = Server::start();
    for path in ["/a2a/agents/echo", "/a2a/agents/echo/"] {
        let message = json!({ "kind": "message", "messageId": path, "role": "user",
            "parts": [{ "kind": "text", "text": "hi" }] });
        let params = json!({ "message": message, "configuration": { "blocking": true } });
        let body =
            json!({ "jsonrpc": "2.0", "id": path, "method": "message/send", "params": params });
        let response =
            soon(path, server.http().post(server.url(path)).json(&body).send()).await.unwrap();
        let answer = reply(response).await.unwrap();
        assert_eq!(answer["result"]["status"]["state"], "completed", "{answer}");
        assert_eq!(answer["id"], path);
    }
}

#[tokio::test]
async fn health_is_answered() {
    let server = Server::start();
    assert_eq!(get(&server, "/livez").await, (200, json!({ "status": "alive" })));
    assert_eq!(get(&server, "/readyz").await, (200, json!({ "status": "ready" })));
}
