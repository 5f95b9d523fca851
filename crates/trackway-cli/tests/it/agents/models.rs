//! Which model is called, at which address, and with which credentials.

use serde_json::json;
use trackway_testkit::ScriptedModelServer;

use super::agent_workspace::{AgentWorkspace, KEY, joined_text_response, last_state, serve_workspace};
use crate::a2a::support::text_message;

/// Proves D1: address, key and model of the environment reach the model server.
#[tokio::test]
async fn the_environment_names_the_model() {
    let desk = AgentWorkspace::open(&[]).await;
    desk.queue_text("Hello there.");
    let events = desk.run_turn(&text_message("Hello.")).await;
    assert_eq!(
        (last_state(&events).as_str(), joined_text_response(&events).as_str()),
        ("completed", "Hello there.")
    );
    let asked = desk.model.wait_for_requests(1).await;
    assert_eq!((asked.method.as_str(), asked.path.as_str()), ("POST", "/v1/chat/completions"));
    assert_eq!(asked.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!((&asked.body["model"], &asked.body["stream"]), (&json!("small"), &json!(true)));
    assert_eq!(desk.model.requests().len(), 1);
}

/// Proves X4: without a model and without a key the offline rules answer, and say so.
#[tokio::test]
async fn without_a_model_there_are_rules() {
    let server = serve_workspace(&[], &[]);
    let events = server.default_agent().stream_message(&text_message("/run echo text=hello")).await;
    assert_eq!(last_state(&events), "completed");
    let told: Vec<String> = events.iter().map(|event| event.result.to_string()).collect();
    assert!(told.iter().any(|event| event.contains("offline-rules/1")), "{told:#?}");
    assert!(told.iter().any(|event| event.contains("dispatch_workflow_echo")), "{told:#?}");
}

/// Proves X4, X6: a model with its own address, key and headers, with variables in them; the key of the
/// environment is not sent there.
#[tokio::test]
async fn a_model_of_the_file_has_its_own_address_key_and_headers() {
    let model = ScriptedModelServer::start().await;
    let config = format!(
        "[defaults]\nmodel = \"own\"\n[models.own]\nprovider = \"openai\"\nbase_url = \"{}\"\n\
         api_key = \"${{env:OWN_KEY}}\"\nmodel = \"tiny\"\nheaders = {{ X-Team = \"${{env:TEAM}}-a\" }}\n",
        model.base_url()
    );
    let env = [("OWN_KEY", "own-secret"), ("TEAM", "blue"), ("OPENAI_API_KEY", KEY)];
    let server = serve_workspace(&[("trackway.toml", &config)], &env);
    model.queue_reply(ScriptedModelServer::openai_reply().with_text("Mine."));
    let events = server.default_agent().stream_message(&text_message("Hello.")).await;
    assert_eq!(joined_text_response(&events), "Mine.");
    let asked = model.wait_for_requests(1).await;
    assert_eq!(asked.header("authorization"), Some("Bearer own-secret"));
    assert_eq!(asked.header("x-team"), Some("blue-a"));
    assert_eq!(asked.body["model"], "tiny");
    let all = format!("{asked:?}");
    assert!(!all.contains(KEY), "{all}");
}
