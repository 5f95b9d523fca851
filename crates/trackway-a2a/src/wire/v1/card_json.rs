//! The card as JSON of 1.0.

use serde_json::{Map, Value, json};

use crate::agent_card::{self, BEARER_SCHEME, BEARER_SCHEME_DESCRIPTION};

/// Fields with their default value are omitted: signatures cover exactly this form.
pub(crate) fn render_card_json(card: &agent_card::AgentCard<'_>) -> Value {
    let info = card.program_info;
    let mut capabilities = json!({
        "streaming": true,
        "pushNotifications": card.has_push_notifications,
        "extendedAgentCard": card.has_extended_card,
        "extensions": card.extensions.iter().map(render_extension_json).collect::<Vec<_>>(),
    });
    if card.extensions.is_empty() {
        capabilities.as_object_mut().map(|fields| fields.remove("extensions"));
    }
    let mut written = json!({
        "name": info.name,
        "description": info.description,
        "version": info.version,
        "supportedInterfaces": card.interfaces.iter().map(render_interface_json).collect::<Vec<_>>(),
        "capabilities": capabilities,
        "defaultInputModes": info.input_modes,
        "defaultOutputModes": info.output_modes,
        "skills": card.agent_skills().iter().map(|skill| skill.render_skill_json(info)).collect::<Vec<_>>(),
    });
    if card.requires_key {
        let scheme = json!({ "scheme": "Bearer", "description": BEARER_SCHEME_DESCRIPTION });
        written["securitySchemes"] = json!({ BEARER_SCHEME: { "httpAuthSecurityScheme": scheme } });
        let mut list = Map::new();
        if !card.scopes.is_empty() {
            list.insert("list".to_owned(), json!(card.scopes));
        }
        written["securityRequirements"] = json!([{ "schemes": { BEARER_SCHEME: list } }]);
    }
    written
}

fn render_interface_json(known: &agent_card::AgentInterface) -> Value {
    let mut written = json!({
        "url": known.url,
        "protocolBinding": known.binding.as_str(),
        "protocolVersion": known.generation.as_str(),
    });
    if let Some(tenant) = &known.tenant {
        written["tenant"] = json!(tenant);
    }
    written
}

fn render_extension_json(known: &agent_card::DeclaredExtension<'_>) -> Value {
    let mut written = json!({ "uri": known.uri, "description": known.description });
    if known.required {
        written["required"] = json!(true);
    }
    if !known.params.is_null() {
        written["params"] = known.params.clone();
    }
    written
}
