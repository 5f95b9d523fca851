//! The card.

use crate::{
    agent_card::{AgentCard, AgentInterface, BEARER_SCHEME, BEARER_SCHEME_DESCRIPTION},
    grpc::{encoding_macros, pb::v1 as pb, protobuf_value},
    server::A2aServer,
    wire::v1,
};

encoding_macros::card_encoding! {}

pub(super) fn encode_protobuf_card(card: &AgentCard<'_>, door: &A2aServer) -> pb::AgentCard {
    let info = card.program_info;
    let mut written = pb::AgentCard {
        name: info.name.clone(),
        description: info.description.clone(),
        supported_interfaces: card.interfaces.iter().map(encode_protobuf_interface).collect(),
        version: info.version.clone(),
        capabilities: Some(pb::AgentCapabilities {
            streaming: Some(true),
            push_notifications: Some(card.has_push_notifications),
            extensions: encode_extensions(card),
            extended_agent_card: Some(card.has_extended_card),
        }),
        default_input_modes: info.input_modes.clone(),
        default_output_modes: info.output_modes.clone(),
        skills: encode_skills(card),
        signatures: door
            .options
            .signer
            .iter()
            .flat_map(|signer| encode_card_signatures(card, signer))
            .collect(),
        ..Default::default()
    };
    if card.requires_key {
        written.security_schemes.insert(BEARER_SCHEME.to_owned(), encode_bearer_scheme());
        let scopes = pb::StringList { list: card.scopes.clone() };
        let schemes = [(BEARER_SCHEME.to_owned(), scopes)].into();
        written.security_requirements.push(pb::SecurityRequirement { schemes });
    }
    written
}

fn encode_protobuf_interface(known: &AgentInterface) -> pb::AgentInterface {
    pb::AgentInterface {
        url: known.url.clone(),
        protocol_binding: known.binding.as_str().to_owned(),
        tenant: known.tenant.clone().unwrap_or_default(),
        protocol_version: known.generation.as_str().to_owned(),
    }
}

/// Signatures cover the JSON form, for every binding.
fn encode_card_signatures(card: &AgentCard<'_>, signer: &crate::CardSigner) -> Vec<pb::AgentCardSignature> {
    let signed = |signature: &serde_json::Value| {
        let text = |name: &str| signature[name].as_str().unwrap_or_default().to_owned();
        pb::AgentCardSignature { protected: text("protected"), signature: text("signature"), header: None }
    };
    signer.sign_card(&v1::render_card_json(card)).iter().map(signed).collect()
}
