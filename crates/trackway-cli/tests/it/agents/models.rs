//! Which model is asked, where, and with what.

use serde_json::json;
use trackway_testkit::ModelServer;

use super::desk::{Desk, KEY, serve, spoken, state};
use crate::a2a::support::text;

/// Proves D1: address, key and model of the environment reach the model server.
#[tokio::test]
async fn the_environment_names_the_model() {
    let desk = Desk::open(&[]).await;
    desk.says("Hello there.");
    let events = desk.turn(&text("Hello.")).await;
    assert_eq!((state(&events).as_str(), spoken(&events).as_str()), ("completed", "Hello there."));
    let asked = desk.model.until_asked(1).await;
    assert_eq!((asked.method.as_str(), asked.path.as_str()), ("POST", "/v1/chat/completions"));
    assert_eq!(asked.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!((&asked.body["model"], &asked.body["stream"]), (&json!("small"), &json!(true)));
    assert_eq!(desk.model.asked().len(), 1);
}

/// Proves X4: without a model and without a key there are rules, and they say who they are.
#[tokio::test]
async fn without_a_model_there_are_rules() {
    let server = serve(&[], &[]);
    let events = server.front().stream(&text("/run echo text=hello")).await;
    assert_eq!(state(&events), "completed");
    let told: Vec<String> = events.iter().map(|event| event.result.to_string()).collect();
    assert!(told.iter().any(|event| event.contains("offline-rules/1")), "{told:#?}");
    assert!(told.iter().any(|event| event.contains("dispatch_workflow_echo")), "{told:#?}");
}

/// Proves X4, X6: a model with its own address, key and headers, with variables in them; the key of
/// the environment does not go there.
#[tokio::test]
async fn a_model_of_the_file_has_its_own_address_key_and_headers() {
    let model = ModelServer::start().await;
    let config = format!(
        "[defaults]\nmodel = \"own\"\n[models.own]\nprovider = \"openai\"\nbase_url = \"{}\"\n\
         api_key = \"${{env:OWN_KEY}}\"\nmodel = \"tiny\"\nheaders = {{ X-Team = \"${{env:TEAM}}-a\" }}\n",
        model.base_url()
    );
    let env = [("OWN_KEY", "own-secret"), ("TEAM", "blue"), ("OPENAI_API_KEY", KEY)];
    let server = serve(&[("trackway.toml", &config)], &env);
    model.queue(ModelServer::openai().says("Mine."));
    let events = server.front().stream(&text("Hello.")).await;
    assert_eq!(spoken(&events), "Mine.");
    let asked = model.until_asked(1).await;
    assert_eq!(asked.header("authorization"), Some("Bearer own-secret"));
    assert_eq!(asked.header("x-team"), Some("blue-a"));
    assert_eq!(asked.body["model"], "tiny");
    let all = format!("{asked:?}");
    assert!(!all.contains(KEY), "{all}");
}
