//! The complete card.

use serde_json::json;

use trackway_runtime::{ProgramInfo, ProgramKind};

use super::*;
use crate::agent_card::{AgentCard, AgentInterface};

fn at(url: &str) -> Vec<AgentInterface> {
    let known =
        |generation, binding| AgentInterface { url: url.to_owned(), binding, generation, tenant: None };
    vec![
        known(ProtocolVersion::V1, ProtocolBinding::HttpJson),
        known(ProtocolVersion::V03, ProtocolBinding::JsonRpc),
    ]
}

fn info() -> ProgramInfo {
    ProgramInfo {
        name: "echo".into(),
        kind: ProgramKind::Workflow,
        version: "1.0.0".into(),
        description: "Says it again.".into(),
        tags: vec!["demo".into()],
        examples: vec!["hello".into()],
        skills: Vec::new(),
        input_schema: json!({"type": "object"}),
        output_schema: json!({"type": "string"}),
        input_modes: ProgramInfo::MODES_DEFAULT.map(str::to_owned).into(),
        output_modes: ProgramInfo::MODES_DEFAULT.map(str::to_owned).into(),
        extensions: vec![],
        deadline: None,
    }
}

/// Proves I2: its own workflows carry the two extensions.
#[test]
fn a_card_says_where_what_and_how() {
    let url = "http://127.0.0.1:7420/a2a/agents/echo";
    assert_eq!(
        render_card_json(&AgentCard::new(&info(), at(url))),
        json!({
            "protocolVersion": "0.3.0",
            "name": "echo",
            "description": "Says it again.",
            "url": url,
            "preferredTransport": "JSONRPC",
            "additionalInterfaces": [{"url": url, "transport": "JSONRPC"}],
            "version": "1.0.0",
            "capabilities": {
                "streaming": true, "pushNotifications": false, "stateTransitionHistory": false,
                "extensions": [
                    {"uri": "https://solace.com/a2a/extensions/agent-type",
                     "description": "What kind of agent this is.",
                     "required": false, "params": {"type": "workflow"}},
                    {"uri": "https://solace.com/a2a/extensions/sam/schemas",
                     "description": "JSON Schemas of the first message's data part and of the output.",
                     "required": false,
                     "params": {"input_schema": {"type": "object"}, "output_schema": {"type": "string"}}},
                    {"uri": "urn:trackway:a2a:idempotent-messages",
                     "description": "A message with an id that was sent before has no effect; its answer is the first one's task.",
                     "required": false},
                ],
            },
            "defaultInputModes": ["application/json", "text/plain"],
            "defaultOutputModes": ["application/json", "text/plain"],
            "skills": [{"id": "echo", "name": "echo", "description": "Says it again.",
                "tags": ["demo"], "examples": ["hello"],
                "inputModes": ["application/json", "text/plain"],
                "outputModes": ["application/json", "text/plain"]}],
            "supportsAuthenticatedExtendedCard": false,
        })
    );
}

#[test]
fn required_lists_are_never_empty() {
    let bare = ProgramInfo { tags: vec![], examples: vec![], ..info() };
    let card = render_card_json(&AgentCard::new(&bare, at("http://a.example")));
    assert_eq!(card["skills"][0]["tags"], json!(["workflow"]));
    assert_eq!(card["skills"][0].get("examples"), None);
}
