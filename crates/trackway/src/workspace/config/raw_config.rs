//! The format of the file. Strings keep their position, so that a finding can name the line.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

pub(super) type SpannedText = Spanned<String>;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawConfig {
    pub(super) auth: RawAuthSection,
    pub(super) outgoing: RawOutgoingSection,
    pub(super) push: RawPushSection,
    pub(super) server: RawServerSection,
    pub(super) a2a: RawA2aSection,
    pub(super) mcp: RawMcpSection,
    pub(super) nats: RawNatsSection,
    pub(super) workflows: RawWorkflowsSection,
    pub(super) retention: RawRetentionSection,
    pub(super) defaults: RawDefaultsSection,
    pub(super) models: BTreeMap<SpannedText, Spanned<RawModelSection>>,
    pub(super) dispatch: RawDispatchSection,
    pub(super) mesh: RawMeshSection,
    pub(super) peers: Vec<Spanned<RawPeerSection>>,
    pub(super) artifacts: RawArtifactsSection,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawArtifactsSection {
    pub(super) max_bytes: Option<Spanned<u64>>,
    pub(super) quota_bytes: Option<Spanned<u64>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawAuthSection {
    pub(super) required: bool,
    pub(super) keys: Vec<Spanned<RawApiKeySection>>,
    pub(super) jwt: Option<Spanned<RawJwtSection>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawApiKeySection {
    pub(super) id: SpannedText,
    pub(super) sha256: SpannedText,
    pub(super) tenant: SpannedText,
    pub(super) user: SpannedText,
    pub(super) scopes: Vec<SpannedText>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawJwtSection {
    pub(super) jwks_url: Option<SpannedText>,
    pub(super) jwks_file: Option<SpannedText>,
    pub(super) issuer: SpannedText,
    pub(super) audience: SpannedText,
    pub(super) tenant_claim: Option<SpannedText>,
    pub(super) user_claim: Option<SpannedText>,
    pub(super) scope_claim: Option<SpannedText>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawOutgoingSection {
    pub(super) allow_loopback: bool,
    pub(super) allow: Vec<SpannedText>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawNatsSection {
    pub(super) url: Option<SpannedText>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawPushSection {
    pub(super) secret: Option<SpannedText>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawServerSection {
    pub(super) public_url: Option<SpannedText>,
    pub(super) body_max_bytes: Option<Spanned<u64>>,
    pub(super) max_connections: Option<Spanned<u64>>,
    pub(super) header_timeout: Option<SpannedText>,
    pub(super) body_timeout: Option<SpannedText>,
    pub(super) idle_timeout: Option<SpannedText>,
    pub(super) blocking_timeout: Option<SpannedText>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawA2aSection {
    pub(super) default_agent: Option<SpannedText>,
    pub(super) signing_key_file: Option<SpannedText>,
    pub(super) signing_key_id: Option<SpannedText>,
    pub(super) grpc_reflection: bool,
    pub(super) grpc_in_card: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawMcpSection {
    pub(super) checkpoints: bool,
    pub(super) session_checkpoints: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawWorkflowsSection {
    pub(super) folders: Option<Vec<SpannedText>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawRetentionSection {
    pub(super) enabled: Option<bool>,
    pub(super) days: Option<Spanned<u64>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawDefaultsSection {
    pub(super) agent: Option<SpannedText>,
    pub(super) model: Option<SpannedText>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawModelSection {
    pub(super) provider: SpannedText,
    pub(super) base_url: Option<SpannedText>,
    pub(super) api_key: Option<SpannedText>,
    pub(super) model: Option<SpannedText>,
    #[serde(default)]
    pub(super) headers: BTreeMap<SpannedText, SpannedText>,
    pub(super) price: Option<Spanned<RawPriceSection>>,
    pub(super) images: Option<Spanned<bool>>,
    pub(super) record: Option<SpannedText>,
    pub(super) file: Option<SpannedText>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawPriceSection {
    pub(super) input: f64,
    pub(super) output: f64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawDispatchSection {
    pub(super) first_answer_timeout: Option<SpannedText>,
    pub(super) depth_max: Option<Spanned<u32>>,
    pub(super) runs_max: Option<Spanned<u32>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawMeshSection {
    pub(super) refresh: Option<SpannedText>,
    pub(super) reconnect: Option<SpannedText>,
    pub(super) timeout: Option<SpannedText>,
    pub(super) max_depth: Option<Spanned<u32>>,
    pub(super) allow: Option<Vec<SpannedText>>,
    pub(super) deny: Option<Vec<SpannedText>>,
    pub(super) namespace: Option<SpannedText>,
    pub(super) trust: Option<Vec<SpannedText>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawPeerSection {
    pub(super) url: Option<SpannedText>,
    pub(super) name: Option<SpannedText>,
    pub(super) key: Option<SpannedText>,
    pub(super) headers: BTreeMap<SpannedText, SpannedText>,
    /// The name of a file, or the card itself.
    pub(super) card: Option<Spanned<serde_json::Value>>,
}
