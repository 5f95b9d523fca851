//! What a card says about its agent: whether it is a workflow, and which inputs it takes (I2).
//!
//! Two extensions carry it, because the card itself has no fields for it.

use std::sync::Arc;

use serde_json::{Value, json};
use trackway_a2a_client::AgentCard;
use trackway_runtime::SchemaCache;

use crate::PeerKind;

/// Says what type of agent the card describes.
const AGENT_TYPE_EXTENSION: &str = "https://solace.com/a2a/extensions/agent-type";
/// Carries the schemas.
const SCHEMAS_EXTENSION: &str = "https://solace.com/a2a/extensions/sam/schemas";

/// The value of `type` that makes an agent a workflow.
const WORKFLOW_TYPE: &str = "workflow";
/// Published cards use both spellings.
const INPUT_SCHEMA_PARAMS: [&str; 2] = ["input_schema", "inputSchema"];
const OUTPUT_SCHEMA_PARAMS: [&str; 2] = ["output_schema", "outputSchema"];

/// Largest schema of a peer: a model gets it with every call.
/// Limit (Mesh): schema in a peer's card, in bytes.
const SCHEMA_BYTES_MAX: usize = 64 * 1024;
/// Largest card, also of a card that was not read over HTTP.
/// Limit (Mesh): card of a peer, in bytes.
const CARD_BYTES_MAX: usize = 1024 * 1024;
/// Longest description of a peer that messages contain.
/// Limit (Mesh): description of a peer in a message, in characters.
const SHOWN_CHARS_MAX: usize = 200;

/// Why a card cannot be used. It prints as the end of a sentence about the peer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CardRefusal {
    #[error("its card is larger than {CARD_BYTES_MAX} bytes")]
    CardTooLarge,
    #[error("the {which} in its card is not an object")]
    SchemaNotObject { which: &'static str },
    #[error("the {which} in its card is larger than {SCHEMA_BYTES_MAX} bytes")]
    SchemaTooLarge { which: &'static str },
    #[error("the {which} in its card cannot be used: {reason}")]
    SchemaInvalid { which: &'static str, reason: String },
}

/// The kind of the agent that the card describes.
pub(crate) fn classify_card(card: &AgentCard) -> Result<PeerKind, CardRefusal> {
    if card.document.to_string().len() > CARD_BYTES_MAX {
        return Err(CardRefusal::CardTooLarge);
    }
    let input_schema = find_schema(card, "input schema", INPUT_SCHEMA_PARAMS)?;
    let output_schema = find_schema(card, "output schema", OUTPUT_SCHEMA_PARAMS)?;
    if !is_workflow(card) {
        return Ok(PeerKind::Agent { input_schema });
    }
    let input_schema = input_schema.unwrap_or_else(|| Arc::new(generic_input_schema()));
    Ok(PeerKind::Workflow { input_schema, output_schema })
}

/// The input of a workflow whose card names none.
fn generic_input_schema() -> Value {
    json!({ "type": "object", "properties": { "text": { "type": "string" } }, "required": ["text"] })
}

fn is_workflow(card: &AgentCard) -> bool {
    let mut marks = card.extensions.iter().filter(|extension| extension.uri == AGENT_TYPE_EXTENSION);
    marks.any(|mark| mark.params.get("type").and_then(Value::as_str) == Some(WORKFLOW_TYPE))
}

/// The schema under one of its spellings; `null` counts as absent.
fn find_schema(
    card: &AgentCard,
    which: &'static str,
    spellings: [&str; 2],
) -> Result<Option<Arc<Value>>, CardRefusal> {
    let params = card.extensions.iter().filter(|extension| extension.uri == SCHEMAS_EXTENSION);
    let params: Vec<&Value> = params.map(|extension| &extension.params).collect();
    let found = spellings.iter().flat_map(|name| params.iter().filter_map(|params| params.get(*name)));
    match found.into_iter().find(|schema| !schema.is_null()) {
        None => Ok(None),
        Some(schema) => check_schema(which, schema).map(|()| Some(Arc::new(schema.clone()))),
    }
}

/// A schema that passes is compiled again at its first use, by whoever checks values against it.
fn check_schema(which: &'static str, schema: &Value) -> Result<(), CardRefusal> {
    if !schema.is_object() {
        return Err(CardRefusal::SchemaNotObject { which });
    }
    if schema.to_string().len() > SCHEMA_BYTES_MAX {
        return Err(CardRefusal::SchemaTooLarge { which });
    }
    SchemaCache::default().compile_schema(schema).map_err(|error| {
        let reason = error.to_string().chars().take(SHOWN_CHARS_MAX).collect();
        CardRefusal::SchemaInvalid { which, reason }
    })
}

#[cfg(test)]
mod tests;
