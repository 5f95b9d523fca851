//! The complete card for both generations.

use serde_json::json;
use trackway_runtime::{ProgramInfo, ProgramKind, ProtocolExtension};

use super::*;
use crate::{
    agent_card::{AgentInterface, ProtocolBinding},
    protocol_version::ProtocolVersion,
};

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
        input_modes: vec!["application/json".into()],
        output_modes: vec!["text/plain".into()],
        extensions: vec![ProtocolExtension {
            uri: "https://a.example/ext".into(),
            description: "Needed.".into(),
            required: true,
        }],
        deadline: None,
    }
}

fn interfaces() -> Vec<AgentInterface> {
    let known = |url: &str, binding, generation, tenant: Option<&str>| AgentInterface {
        url: url.to_owned(),
        binding,
        generation,
        tenant: tenant.map(str::to_owned),
    };
    vec![
        known("http://a/x", ProtocolBinding::JsonRpc, ProtocolVersion::V1, None),
        known("a:1", ProtocolBinding::Grpc, ProtocolVersion::V1, Some("echo")),
        known("http://a/x", ProtocolBinding::JsonRpc, ProtocolVersion::V03, None),
        known("http://a/x/rest", ProtocolBinding::HttpJson, ProtocolVersion::V03, None),
    ]
}

/// Proves X5: each generation finds all its members, and the shared members are the same.
#[test]
fn both_generations_find_their_own_members() {
    let info = info();
    let mut card = AgentCard::new(&info, interfaces());
    (card.has_push_notifications, card.has_extended_card, card.requires_key) = (true, true, true);
    card.scopes = vec!["workflow:echo:run".to_owned()];
    let expected = json!({
        "name": "echo",
        "description": "Says it again.",
        "version": "1.0.0",
        "supportedInterfaces": [
            {"url": "http://a/x", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
            {"url": "a:1", "protocolBinding": "GRPC", "protocolVersion": "1.0", "tenant": "echo"},
            {"url": "http://a/x", "protocolBinding": "JSONRPC", "protocolVersion": "0.3"},
            {"url": "http://a/x/rest", "protocolBinding": "HTTP+JSON", "protocolVersion": "0.3"},
        ],
        "capabilities": {
            "streaming": true, "pushNotifications": true, "extendedAgentCard": true,
            "stateTransitionHistory": false,
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
                {"uri": "https://a.example/ext", "description": "Needed.", "required": true},
            ],
        },
        "defaultInputModes": ["application/json"],
        "defaultOutputModes": ["text/plain"],
        "skills": [{"id": "echo", "name": "echo", "description": "Says it again.",
            "tags": ["demo"], "examples": ["hello"],
            "inputModes": ["application/json"], "outputModes": ["text/plain"]}],
        "securitySchemes": {"bearer": {
            "httpAuthSecurityScheme": {"scheme": "Bearer",
                "description": "An API key of this server, or a JWT that it trusts."},
            "type": "http", "scheme": "Bearer",
            "description": "An API key of this server, or a JWT that it trusts.",
        }},
        "securityRequirements": [{"schemes": {"bearer": {"list": ["workflow:echo:run"]}}}],
        "security": [{"bearer": ["workflow:echo:run"]}],
        "protocolVersion": "0.3.0",
        "url": "http://a/x",
        "preferredTransport": "JSONRPC",
        "additionalInterfaces": [
            {"url": "http://a/x", "transport": "JSONRPC"},
            {"url": "http://a/x/rest", "transport": "HTTP+JSON"},
        ],
        "supportsAuthenticatedExtendedCard": true,
    });
    assert_eq!(render_multi_version_card(&card, None), expected);
}
