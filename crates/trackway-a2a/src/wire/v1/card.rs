//! The card as JSON of 1.0.

use serde_json::{Map, Value, json};

use crate::card::{self, SCHEME, SCHEME_DESCRIPTION};

/// Fields with their default value are omitted: signatures cover exactly this form.
pub(crate) fn card(card: &card::Card<'_>) -> Value {
    let info = card.info;
    let mut capabilities = json!({
        "streaming": true,
        "pushNotifications": card.push,
        "extendedAgentCard": card.extended,
        "extensions": card.extensions.iter().map(extension).collect::<Vec<_>>(),
    });
    if card.extensions.is_empty() {
        capabilities.as_object_mut().map(|fields| fields.remove("extensions"));
    }
    let mut written = json!({
        "name": info.name,
        "description": info.description,
        "version": info.version,
        "supportedInterfaces": card.interfaces.iter().map(interface).collect::<Vec<_>>(),
        "capabilities": capabilities,
        "defaultInputModes": info.input_modes,
        "defaultOutputModes": info.output_modes,
        "skills": card.skills().iter().map(|skill| skill.written(info)).collect::<Vec<_>>(),
    });
    if card.secured {
        let scheme = json!({ "scheme": "Bearer", "description": SCHEME_DESCRIPTION });
        written["securitySchemes"] = json!({ SCHEME: { "httpAuthSecurityScheme": scheme } });
        let mut list = Map::new();
        if !card.scopes.is_empty() {
            list.insert("list".to_owned(), json!(card.scopes));
        }
        written["securityRequirements"] = json!([{ "schemes": { SCHEME: list } }]);
    }
    written
}

fn interface(known: &card::Interface) -> Value {
    let mut written = json!({
        "url": known.url,
        "protocolBinding": known.binding.as_str(),
        "protocolVersion": known.generation.version(),
    });
    if let Some(tenant) = &known.tenant {
        written["tenant"] = json!(tenant);
    }
    written
}

fn extension(known: &card::Declared<'_>) -> Value {
    let mut written = json!({ "uri": known.uri, "description": known.description });
    if known.required {
        written["required"] = json!(true);
    }
    if !known.params.is_null() {
        written["params"] = known.params.clone();
    }
    written
}
