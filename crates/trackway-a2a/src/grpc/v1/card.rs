//! The card.

use crate::{
    card::{Card, Interface, SCHEME, SCHEME_DESCRIPTION},
    door::Door,
    grpc::{pb::v1 as pb, shared, value},
    wire::v1,
};

shared::card_encoding! {}

pub(super) fn encode_card(card: &Card<'_>, door: &Door) -> pb::AgentCard {
    let info = card.info;
    let mut written = pb::AgentCard {
        name: info.name.clone(),
        description: info.description.clone(),
        supported_interfaces: card.interfaces.iter().map(encode_interface).collect(),
        version: info.version.clone(),
        capabilities: Some(pb::AgentCapabilities {
            streaming: Some(true),
            push_notifications: Some(card.push),
            extensions: encode_extensions(card),
            extended_agent_card: Some(card.extended),
        }),
        default_input_modes: info.input_modes.clone(),
        default_output_modes: info.output_modes.clone(),
        skills: encode_skills(card),
        signatures: door
            .options
            .signer
            .iter()
            .flat_map(|signer| encode_signatures(card, signer))
            .collect(),
        ..Default::default()
    };
    if card.secured {
        written.security_schemes.insert(SCHEME.to_owned(), encode_bearer_scheme());
        let scopes = pb::StringList { list: card.scopes.clone() };
        let schemes = [(SCHEME.to_owned(), scopes)].into();
        written.security_requirements.push(pb::SecurityRequirement { schemes });
    }
    written
}

fn encode_interface(known: &Interface) -> pb::AgentInterface {
    pb::AgentInterface {
        url: known.url.clone(),
        protocol_binding: known.binding.as_str().to_owned(),
        tenant: known.tenant.clone().unwrap_or_default(),
        protocol_version: known.generation.version().to_owned(),
    }
}

/// Signatures cover the JSON form, for every binding.
fn encode_signatures(card: &Card<'_>, signer: &crate::Signer) -> Vec<pb::AgentCardSignature> {
    let signed = |signature: &serde_json::Value| {
        let text = |name: &str| signature[name].as_str().unwrap_or_default().to_owned();
        pb::AgentCardSignature {
            protected: text("protected"),
            signature: text("signature"),
            header: None,
        }
    };
    signer.sign(&v1::card(card)).iter().map(signed).collect()
}
