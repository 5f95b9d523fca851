//! The card.

use crate::{
    agent_card::{AgentCard, AgentInterface, BEARER_SCHEME, BEARER_SCHEME_DESCRIPTION, ProtocolBinding},
    grpc::{encoding_macros, pb::v03 as pb, protobuf_value},
    protocol_version::ProtocolVersion,
    wire::v03::PROTOCOL_VERSION,
};

encoding_macros::card_encoding! {}

/// Contains only addresses that serve 0.3; one of JSON-RPC is always among them.
pub(super) fn encode_protobuf_card(card: &AgentCard<'_>) -> pb::AgentCard {
    let info = card.program_info;
    let spoken = || card.interfaces.iter().filter(|known| known.generation == ProtocolVersion::V03);
    let preferred = spoken().find(|known| known.binding == ProtocolBinding::JsonRpc);
    let mut written = pb::AgentCard {
        name: info.name.clone(),
        description: info.description.clone(),
        url: preferred.map(|known| known.url.clone()).unwrap_or_default(),
        version: info.version.clone(),
        capabilities: Some(pb::AgentCapabilities {
            streaming: true,
            push_notifications: card.has_push_notifications,
            extensions: encode_extensions(card),
        }),
        default_input_modes: info.input_modes.clone(),
        default_output_modes: info.output_modes.clone(),
        skills: encode_skills(card),
        supports_authenticated_extended_card: card.has_extended_card,
        preferred_transport: ProtocolBinding::JsonRpc.as_str().to_owned(),
        additional_interfaces: spoken().map(encode_protobuf_interface).collect(),
        protocol_version: PROTOCOL_VERSION.to_owned(),
        ..Default::default()
    };
    if card.requires_key {
        written.security_schemes.insert(BEARER_SCHEME.to_owned(), encode_bearer_scheme());
        let scopes = pb::StringList { list: card.scopes.clone() };
        written.security.push(pb::Security { schemes: [(BEARER_SCHEME.to_owned(), scopes)].into() });
    }
    written
}

fn encode_protobuf_interface(known: &AgentInterface) -> pb::AgentInterface {
    pb::AgentInterface { url: known.url.clone(), transport: known.binding.as_str().to_owned() }
}
