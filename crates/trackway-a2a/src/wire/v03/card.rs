//! The agent card: what a client must know before it speaks.

use serde::Serialize;
use serde_json::Value;
use trackway_runtime::ProgramInfo;

use super::PROTOCOL_VERSION;

/// Marks an agent as a workflow, for meshes that offer workflows as typed tools.
const AGENT_TYPE_EXTENSION: &str = "https://solace.com/a2a/extensions/agent-type";
/// Carries the schemas, for which the card itself has no place.
const SCHEMAS_EXTENSION: &str = "https://solace.com/a2a/extensions/sam/schemas";

const MODES: [&str; 2] = ["application/json", "text/plain"];
/// Every skill has a tag; this is the one of a workflow that names none.
const DEFAULT_TAG: &str = "workflow";

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Card<'a> {
    protocol_version: &'static str,
    name: &'a str,
    description: &'a str,
    url: &'a str,
    preferred_transport: &'static str,
    additional_interfaces: [Interface<'a>; 1],
    version: &'a str,
    capabilities: Capabilities<'a>,
    default_input_modes: [&'static str; 2],
    default_output_modes: [&'static str; 2],
    skills: [Skill<'a>; 1],
    supports_authenticated_extended_card: bool,
}

#[derive(Debug, Serialize)]
struct Interface<'a> {
    url: &'a str,
    transport: &'static str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Capabilities<'a> {
    streaming: bool,
    push_notifications: bool,
    state_transition_history: bool,
    extensions: [Extension<'a>; 2],
}

#[derive(Debug, Serialize)]
struct Extension<'a> {
    uri: &'static str,
    description: &'static str,
    required: bool,
    params: ExtensionParams<'a>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum ExtensionParams<'a> {
    AgentType {
        r#type: &'static str,
    },
    Schemas {
        input_schema: &'a Value,
        #[serde(skip_serializing_if = "Value::is_null")]
        output_schema: &'a Value,
    },
}

#[derive(Debug, Serialize)]
struct Skill<'a> {
    id: &'a str,
    name: &'a str,
    description: &'a str,
    tags: Tags<'a>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    examples: &'a [String],
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Tags<'a> {
    Own(&'a [String]),
    Default([&'static str; 1]),
}

impl<'a> Card<'a> {
    /// The card of a workflow that answers at `url`.
    pub(crate) fn new(info: &'a ProgramInfo, url: &'a str) -> Self {
        Self {
            protocol_version: PROTOCOL_VERSION,
            name: &info.name,
            description: &info.description,
            url,
            preferred_transport: "JSONRPC",
            additional_interfaces: [Interface { url, transport: "JSONRPC" }],
            version: &info.version,
            capabilities: Capabilities {
                streaming: true,
                push_notifications: false,
                state_transition_history: false,
                extensions: extensions(info),
            },
            default_input_modes: MODES,
            default_output_modes: MODES,
            skills: [Skill {
                id: &info.name,
                name: &info.name,
                description: &info.description,
                tags: match info.tags.as_slice() {
                    [] => Tags::Default([DEFAULT_TAG]),
                    own => Tags::Own(own),
                },
                examples: &info.examples,
            }],
            supports_authenticated_extended_card: false,
        }
    }
}

fn extensions(info: &ProgramInfo) -> [Extension<'_>; 2] {
    let agent_type = Extension {
        uri: AGENT_TYPE_EXTENSION,
        description: "What kind of agent this is.",
        required: false,
        params: ExtensionParams::AgentType { r#type: "workflow" },
    };
    let schemas = Extension {
        uri: SCHEMAS_EXTENSION,
        description: "JSON Schemas of the first message's data part and of the output.",
        required: false,
        params: ExtensionParams::Schemas {
            input_schema: &info.input_schema,
            output_schema: &info.output_schema,
        },
    };
    [agent_type, schemas]
}

#[cfg(test)]
mod tests;
