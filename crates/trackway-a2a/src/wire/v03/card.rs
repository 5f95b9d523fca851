//! The card as JSON of 0.3.

use serde_json::{Value, json};

use super::PROTOCOL_VERSION;
use crate::{
    card::{self, BEARER_SCHEME, BEARER_SCHEME_DESCRIPTION, Binding},
    protocol_version::ProtocolVersion,
};

/// Contains only addresses that serve 0.3; one of JSON-RPC is always among them.
pub(crate) fn render_card(card: &card::AgentCard<'_>) -> Value {
    let info = card.program_info;
    let spoken: Vec<_> =
        card.interfaces.iter().filter(|known| known.generation == ProtocolVersion::V03).collect();
    let preferred = spoken.iter().find(|known| known.binding == Binding::JsonRpc);
    let extensions: Vec<_> = card.extensions.iter().map(render_extension).collect();
    let interfaces: Vec<_> =
        spoken.iter().map(|known| json!({ "url": known.url, "transport": known.binding.as_str() })).collect();
    let mut written = json!({
        "protocolVersion": PROTOCOL_VERSION,
        "name": info.name,
        "description": info.description,
        "url": preferred.map_or("", |known| known.url.as_str()),
        "preferredTransport": Binding::JsonRpc.as_str(),
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
        "skills": card.skills().iter().map(|skill| skill.render_json(info)).collect::<Vec<_>>(),
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

fn render_extension(known: &card::DeclaredExtension<'_>) -> Value {
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
