//! The card as JSON of 0.3.

use serde_json::{Value, json};

use super::PROTOCOL_VERSION;
use crate::{
    card::{self, Binding, SCHEME, SCHEME_DESCRIPTION},
    version::Generation,
};

/// Contains only addresses that serve 0.3; one of JSON-RPC is always among them.
pub(crate) fn card(card: &card::Card<'_>) -> Value {
    let info = card.info;
    let spoken: Vec<_> =
        card.interfaces.iter().filter(|known| known.generation == Generation::V03).collect();
    let preferred = spoken.iter().find(|known| known.binding == Binding::JsonRpc);
    let extensions: Vec<_> = card.extensions.iter().map(extension).collect();
    let interfaces: Vec<_> = spoken
        .iter()
        .map(|known| json!({ "url": known.url, "transport": known.binding.as_str() }))
        .collect();
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
            "pushNotifications": card.push,
            "stateTransitionHistory": false,
            "extensions": extensions,
        },
        "defaultInputModes": info.input_modes,
        "defaultOutputModes": info.output_modes,
        "skills": card.skills().iter().map(|skill| skill.written(info)).collect::<Vec<_>>(),
        "supportsAuthenticatedExtendedCard": card.extended,
    });
    if card.secured {
        written["securitySchemes"] = json!({
            SCHEME: { "type": "http", "scheme": "Bearer", "description": SCHEME_DESCRIPTION },
        });
        written["security"] = json!([{ SCHEME: card.scopes }]);
    }
    written
}

fn extension(known: &card::Declared<'_>) -> Value {
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
