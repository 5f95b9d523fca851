//! Parses agent cards: the abilities of an agent, and its addresses.

use std::cmp::Reverse;

use reqwest::Url;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::{ClientError, ProtocolBinding, ProtocolVersion, protocol_binding::JSON_RPC};

/// The description of an agent. Reads the cards of both generations, even if they are one document.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentCard {
    pub name: String,
    pub description: String,
    pub version: String,
    pub streaming: bool,
    pub push_notifications: bool,
    pub extended_card: bool,
    pub extensions: Vec<AgentExtension>,
    pub skills: Vec<AgentSkill>,
    /// Every address in the card, in its order of preference, those of 1.0 first.
    pub interfaces: Vec<AgentInterface>,
    /// The version of the document, for checking whether there is a newer one.
    pub etag: Option<String>,
    /// The whole document, with security schemes, signatures and everything else.
    pub document: Value,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct AgentExtension {
    #[serde(default, deserialize_with = "null_as_default")]
    pub uri: String,
    #[serde(default, deserialize_with = "null_as_default")]
    pub required: bool,
    #[serde(default)]
    pub params: Value,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct AgentSkill {
    pub id: String,
    #[serde(default, deserialize_with = "null_as_default")]
    pub name: String,
    #[serde(default, deserialize_with = "null_as_default")]
    pub description: String,
    #[serde(default, deserialize_with = "null_as_default")]
    pub tags: Vec<String>,
    #[serde(default, deserialize_with = "null_as_default")]
    pub examples: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentInterface {
    pub url: String,
    /// `JSONRPC`, `GRPC`, `HTTP+JSON`, or the agent's name for a custom binding.
    pub binding: String,
    /// As in the card, such as `1.0` or `0.3.0`.
    pub version: String,
    /// Sent with every request of 1.0.
    pub tenant: Option<String>,
}

/// The interface that a client chose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ChosenInterface {
    pub(super) url: Url,
    pub(super) binding: ProtocolBinding,
    pub(super) generation: ProtocolVersion,
    pub(super) tenant: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReceivedCard {
    name: String,
    #[serde(default, deserialize_with = "null_as_default")]
    description: String,
    #[serde(default, deserialize_with = "null_as_default")]
    version: String,
    capabilities: Option<ReceivedCapabilities>,
    skills: Option<Vec<AgentSkill>>,
    supported_interfaces: Option<Vec<ReceivedInterfaceV1>>,
    protocol_version: Option<String>,
    url: Option<String>,
    preferred_transport: Option<String>,
    additional_interfaces: Option<Vec<ReceivedInterfaceV03>>,
    supports_authenticated_extended_card: Option<bool>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReceivedCapabilities {
    streaming: Option<bool>,
    push_notifications: Option<bool>,
    extended_agent_card: Option<bool>,
    extensions: Option<Vec<AgentExtension>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReceivedInterfaceV1 {
    url: String,
    protocol_binding: String,
    #[serde(default, deserialize_with = "null_as_default")]
    protocol_version: String,
    tenant: Option<String>,
}

#[derive(Deserialize)]
struct ReceivedInterfaceV03 {
    url: String,
    transport: String,
}

/// Some agents write absent fields as `null`.
fn null_as_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

impl AgentCard {
    pub(super) fn parse_card(json: &str, etag: Option<String>) -> Result<Self, ClientError> {
        let document: Value = serde_json::from_str(json).map_err(ClientError::malformed_response_error)?;
        Self::from_document(document, etag)
    }

    /// The card in this document, of either generation.
    pub fn from_document(document: Value, etag: Option<String>) -> Result<Self, ClientError> {
        let read = ReceivedCard::deserialize(&document).map_err(ClientError::malformed_response_error)?;
        let interfaces = read.list_interfaces();
        let capabilities = read.capabilities.unwrap_or_default();
        let extended = capabilities.extended_agent_card.unwrap_or_default();
        Ok(Self {
            name: read.name,
            description: read.description,
            version: read.version,
            streaming: capabilities.streaming.unwrap_or_default(),
            push_notifications: capabilities.push_notifications.unwrap_or_default(),
            extended_card: extended || read.supports_authenticated_extended_card.unwrap_or_default(),
            extensions: capabilities.extensions.unwrap_or_default(),
            skills: read.skills.unwrap_or_default(),
            interfaces,
            etag,
            document,
        })
    }

    /// The interface to use: the newest generation, and there JSON-RPC before HTTP+JSON; among equals
    /// the first in the card. `from` is the address of the card; addresses may be relative to it. A
    /// card that was read over an encrypted connection does not lead to an unencrypted address. With
    /// `secrets` to send, no card leads to another machine than its own: otherwise an author of cards
    /// could collect them.
    pub(super) fn choose_interface(
        &self,
        card_url: &Url,
        sends_secrets: bool,
    ) -> Result<ChosenInterface, ClientError> {
        let usable = |interface: &AgentInterface| {
            let version = interface.version.trim();
            // Some cards omit the minor number.
            let whole = || ProtocolVersion::parse_version(&format!("{version}.0"));
            let generation = ProtocolVersion::parse_version(version).or_else(whole)?;
            let binding = ProtocolBinding::parse_binding_name(&interface.binding, generation)?;
            let url = card_url.join(&interface.url).ok()?;
            let safe = url.scheme() == "https" || url.scheme() == card_url.scheme();
            let safe = safe && (!sends_secrets || url.host() == card_url.host());
            let tenant = interface.tenant.clone();
            safe.then_some(ChosenInterface { url, binding, generation, tenant })
        };
        let mut choices: Vec<ChosenInterface> = self.interfaces.iter().filter_map(usable).collect();
        // Stable: the card's own order stays among equals.
        choices.sort_by_key(|choice| (Reverse(choice.generation), choice.binding));
        choices.into_iter().next().ok_or_else(|| ClientError::NoInterface {
            offered: self.interfaces.iter().map(ToString::to_string).collect(),
        })
    }
}

impl ReceivedCard {
    fn list_interfaces(&self) -> Vec<AgentInterface> {
        let supported = self.supported_interfaces.iter().flatten().map(|supported| AgentInterface {
            url: supported.url.clone(),
            binding: supported.protocol_binding.clone(),
            version: supported.protocol_version.clone(),
            tenant: supported.tenant.clone().filter(|tenant| !tenant.is_empty()),
        });
        let mut interfaces: Vec<AgentInterface> = supported.collect();
        // The fields of 0.3. This client does not support generations before 0.3.
        let version = self.protocol_version.clone().unwrap_or_else(|| "0.3".to_owned());
        let old = |url: &str, transport: &str| AgentInterface {
            url: url.to_owned(),
            binding: transport.to_owned(),
            version: version.clone(),
            tenant: None,
        };
        let preferred = self.preferred_transport.as_deref().unwrap_or(JSON_RPC);
        let first = self.url.iter().map(|url| old(url, preferred));
        let others = self.additional_interfaces.iter().flatten();
        for interface in first.chain(others.map(|other| old(&other.url, &other.transport))) {
            if !interfaces.contains(&interface) {
                interfaces.push(interface);
            }
        }
        interfaces
    }
}

impl std::fmt::Display for AgentInterface {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} at {}", self.binding, self.version, self.url)
    }
}

#[cfg(test)]
mod tests;
