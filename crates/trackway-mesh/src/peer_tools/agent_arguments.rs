//! The arguments of a peer agent's tool: a message with artifacts, or an input of the card's schema. Pure.

use serde_json::{Value, json};
use trackway_domain::ValidationError;
use trackway_engine::SchemaChecker;
use trackway_runtime::ArgumentsSchema;

use super::{given_arguments, workflow_arguments::inline_root_reference};

/// Artifacts that go with one message.
/// Limit (Mesh): artifacts in one call of a peer.
const ARTIFACTS_MAX: usize = 32;

/// The arguments of one agent.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum AgentArguments {
    /// `{message, artifacts?}`.
    Message,
    /// What its card asks for.
    Schema(ArgumentsSchema),
}

/// What a call gives the agent.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum AgentInput {
    Message {
        text: String,
        artifacts: Vec<String>,
    },
    /// It satisfies the card's schema.
    Data(Value),
}

impl AgentArguments {
    pub(super) fn new(input_schema: Option<&Value>) -> Self {
        match input_schema {
            None => Self::Message,
            Some(schema) => Self::Schema(ArgumentsSchema::from_input_schema(&inline_root_reference(schema))),
        }
    }

    pub(super) fn schema_for_model(&self) -> Value {
        match self {
            Self::Message => message_schema(),
            Self::Schema(arguments) => arguments.schema.clone(),
        }
    }

    /// What a call gives, or everything that is wrong with its arguments.
    pub(super) fn parse(
        &self,
        schemas: &dyn SchemaChecker,
        arguments: Value,
    ) -> Result<AgentInput, Vec<ValidationError>> {
        let arguments = given_arguments::object_of_arguments(arguments)?;
        let arguments = given_arguments::check_without_nulls(schemas, &self.schema_for_model(), arguments)?;
        match self {
            Self::Schema(schema) => {
                let input = ArgumentsSchema::input_from_arguments(arguments, schema.is_wrapped);
                Ok(AgentInput::Data(input))
            }
            Self::Message => {
                let text = arguments["message"].as_str().unwrap_or_default().to_owned();
                let names = arguments["artifacts"].as_array().into_iter().flatten();
                let mut artifacts: Vec<String> = Vec::new();
                for name in names.filter_map(Value::as_str).map(str::trim).filter(|name| !name.is_empty()) {
                    if !artifacts.iter().any(|known| known == name) {
                        artifacts.push(name.to_owned());
                    }
                }
                Ok(AgentInput::Message { text, artifacts })
            }
        }
    }
}

fn message_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "message": { "type": "string", "minLength": 1, "description": "What to say to the agent." },
            "artifacts": {
                "type": "array",
                "items": { "type": "string" },
                "maxItems": ARTIFACTS_MAX,
                "description": "Filenames of existing artifacts that go with the message.",
            },
        },
        "required": ["message"],
        "additionalProperties": false,
    })
}

#[cfg(test)]
mod tests;
