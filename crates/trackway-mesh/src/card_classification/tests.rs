//! Cards as others publish them, and hostile ones.

use serde_json::{Value, json};

use super::*;

fn classify(extensions: &Value) -> Result<PeerKind, CardRefusal> {
    let document = json!({
        "name": "Onboarding", "url": "http://a.example/", "protocolVersion": "0.3.0",
        "capabilities": {"extensions": extensions},
    });
    classify_card(&AgentCard::from_document(document, None).unwrap())
}

fn workflow_mark(params: &Value) -> Value {
    json!({"uri": AGENT_TYPE_EXTENSION, "params": params})
}

fn schemas(params: &Value) -> Value {
    json!({"uri": SCHEMAS_EXTENSION, "params": params})
}

fn input_of(kind: PeerKind) -> Option<Value> {
    match kind {
        PeerKind::Agent { input_schema } => input_schema.map(|schema| (*schema).clone()),
        PeerKind::Workflow { input_schema, .. } => Some((*input_schema).clone()),
    }
}

/// Proves I2: the two extensions decide, in both spellings of their parameters.
#[test]
fn extensions_tell_workflows_from_agents() {
    let person = json!({"type": "object", "properties": {"name": {"type": "string", "minLength": 1}},
        "required": ["name"]});
    let generic = json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]});
    let workflow = workflow_mark(&json!({"type": "workflow"}));
    for (extensions, kind, input) in [
        (json!([]), "agent", None),
        (json!([workflow]), "workflow", Some(&generic)),
        (json!([workflow, schemas(&json!({"input_schema": person}))]), "workflow", Some(&person)),
        (json!([schemas(&json!({"inputSchema": person})), workflow]), "workflow", Some(&person)),
        (
            json!([workflow, schemas(&json!({"input_schema": null, "inputSchema": null}))]),
            "workflow",
            Some(&generic),
        ),
        (json!([workflow, schemas(&json!({}))]), "workflow", Some(&generic)),
        (json!([workflow, schemas(&Value::Null)]), "workflow", Some(&generic)),
        (json!([schemas(&json!({"input_schema": person}))]), "agent", Some(&person)),
        (json!([workflow_mark(&json!({"type": "agent"}))]), "agent", None),
        (json!([workflow_mark(&json!({"type": 2.0}))]), "agent", None),
        (json!([workflow_mark(&json!(["workflow"]))]), "agent", None),
        (json!([{"uri": "urn:other", "params": {"type": "workflow"}}]), "agent", None),
    ] {
        let found = classify(&extensions).unwrap();
        assert_eq!((found.as_str(), input_of(found)), (kind, input.cloned()), "{extensions}");
    }
}

/// Proves I2: the output schema is kept as it is.
#[test]
fn output_schema_is_read() {
    let output = json!({"type": "object", "required": ["count"]});
    for spelling in OUTPUT_SCHEMA_PARAMS {
        let extensions =
            json!([workflow_mark(&json!({"type": "workflow"})), schemas(&json!({spelling: output}))]);
        let PeerKind::Workflow { output_schema, .. } = classify(&extensions).unwrap() else { panic!() };
        assert_eq!(output_schema.as_deref(), Some(&output));
    }
}

/// Proves X5: a schema that nobody can check values against is refused with its reason.
#[test]
fn unusable_schemas_are_refused() {
    let many: Value = (0..20_000)
        .map(|key| (format!("k{key}"), json!({"type": "string"})))
        .collect::<serde_json::Map<_, _>>()
        .into();
    for (schema, says) in [
        (json!("string"), "not an object"),
        (json!([{"type": "object"}]), "not an object"),
        (json!(true), "not an object"),
        (json!({"type": "object", "properties": many}), "larger than"),
        (json!({"type": "nonsense"}), "cannot be used"),
        (json!({"type": "object", "required": "name"}), "cannot be used"),
        (json!({"properties": {"a": {"pattern": "("}}}), "cannot be used"),
    ] {
        let refusal = classify(&json!([schemas(&json!({"input_schema": schema}))])).unwrap_err();
        assert!(refusal.to_string().contains(says), "{refusal}");
    }
}

#[test]
fn large_cards_are_refused() {
    let document = json!({"name": "a", "url": "http://a/", "extra": "x".repeat(CARD_BYTES_MAX)});
    let card = AgentCard::from_document(document, None).unwrap();
    assert_eq!(classify_card(&card), Err(CardRefusal::CardTooLarge));
}
