//! The card as JSON of 0.3.

use serde_json::{Value, json};

use super::PROTOCOL_VERSION;
use crate::{
    agent_card::{self, BEARER_SCHEME, BEARER_SCHEME_DESCRIPTION, ProtocolBinding},
    protocol_version::ProtocolVersion,
};

/// Contains only addresses that serve 0.3; one of JSON-RPC is always among them.
pub(crate) fn render_card_json(card: &agent_card::AgentCard<'_>) -> Value {
    let info = card.program_info;
    let spoken: Vec<_> =
        card.interfaces.iter().filter(|known| known.generation == ProtocolVersion::V03).collect();
    let preferred = spoken.iter().find(|known| known.binding == ProtocolBinding::JsonRpc);
    let extensions: Vec<_> = card.extensions.iter().map(render_extension_json).collect();
    let interfaces: Vec<_> =
        spoken.iter().map(|known| json!({ "url": known.url, "transport": known.binding.as_str() })).collect();
    let mut written = json!({
        "protocolVersion": PROTOCOL_VERSION,
        "name": info.name,
        "description": info.description,
        "url": preferred.map_or("", |known| known.url.as_str()),
        "preferredTransport": ProtocolBinding::JsonRpc.as_str(),
        "additionalInterfaces": interfaces,
        "version": info.version,
        "capabilities": {
            "streaming": true,
            "pushNotifications": card.has_push_notifications,
            "stateTransitionHistory": false,
            "extensions": extensions,
        },
        "defaultInputModes": info.input_modes,
        "defaultOutputModes": info.output_modes,
        "skills": card.agent_skills().iter().map(|skill| skill.render_skill_json(info)).collect::<Vec<_>>(),
        "supportsAuthenticatedExtendedCard": card.has_extended_card,
    });
    if card.requires_key {
        written["securitySchemes"] = json!({
            BEARER_SCHEME: { "type": "http", "scheme": "Bearer", "description": BEARER_SCHEME_DESCRIPTION },
        });
        written["security"] = json!([{ BEARER_SCHEME: card.scopes }]);
    }
    written
}

fn render_extension_json(known: &agent_card::DeclaredExtension<'_>) -> Value {
    let mut written = json!({
        "uri": known.uri,
        "description": known.description,
        "required": known.required,
    });
    if !known.params.is_null() {
        written["params"] = known.params.clone();
    }
    written
}

#[cfg(test)]
mod tests;
