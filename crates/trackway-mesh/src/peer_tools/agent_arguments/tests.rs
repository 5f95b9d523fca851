//! What an agent's tool accepts.

use trackway_runtime::SchemaCache;

use super::*;

fn parse(schema: Option<&Value>, arguments: Value) -> Result<AgentInput, Vec<String>> {
    let parsed = AgentArguments::new(schema).parse(&SchemaCache::default(), arguments);
    parsed.map_err(|errors| errors.iter().map(|error| format!("{} {}", error.path, error.code)).collect())
}

/// Proves I3 for a plain peer: a message, and the names of artifacts.
#[test]
fn an_agent_takes_a_message_and_artifacts() {
    let message = |artifacts: &[&str]| {
        let artifacts = artifacts.iter().map(|name| (*name).to_owned()).collect();
        Ok(AgentInput::Message { text: "Hi".to_owned(), artifacts })
    };
    let wrong = |errors: &[&str]| Err(errors.iter().map(|error| (*error).to_owned()).collect());
    let table = [
        (json!({ "message": "Hi" }), message(&[])),
        (json!({ "message": "Hi", "artifacts": null }), message(&[])),
        (json!({ "message": "Hi", "artifacts": ["a.csv", "", " a.csv ", "b"] }), message(&["a.csv", "b"])),
        (json!({}), wrong(&["/message required"])),
        (json!({ "message": "" }), wrong(&["/message minLength"])),
        (json!({ "message": 2 }), wrong(&["/message type"])),
        (json!({ "message": "Hi", "artifacts": "a.csv" }), wrong(&["/artifacts type"])),
        (json!({ "message": "Hi", "text": "x" }), wrong(&["/text additionalProperties"])),
        (
            json!({ "message": "Hi", "artifacts": vec!["x"; ARTIFACTS_MAX + 1] }),
            wrong(&["/artifacts maxItems"]),
        ),
    ];
    for (given, expected) in table {
        assert_eq!(parse(None, given.clone()), expected, "{given}");
    }
}

/// A card with a schema decides what its agent takes.
#[test]
fn a_schema_of_the_card_is_kept() {
    let schema = json!({ "type": "object", "properties": { "q": { "type": "string" } }, "required": ["q"] });
    assert_eq!(AgentArguments::new(Some(&schema)).schema_for_model(), schema);
    assert_eq!(parse(Some(&schema), json!({ "q": "x" })), Ok(AgentInput::Data(json!({ "q": "x" }))));
    assert_eq!(parse(Some(&schema), json!({})), Err(vec!["/q required".to_owned()]));
    let text = json!({ "type": "string" });
    assert_eq!(parse(Some(&text), json!({ "input": "x" })), Ok(AgentInput::Data(json!("x"))));
}
