//! The format of the file. Strings keep their position, so that a finding can name the line.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

pub(super) type Text = Spanned<String>;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct File {
    pub(super) auth: Auth,
    pub(super) outgoing: Outgoing,
    pub(super) push: Push,
    pub(super) server: Server,
    pub(super) a2a: A2a,
    pub(super) mcp: Mcp,
    pub(super) workflows: Workflows,
    pub(super) retention: Retention,
    pub(super) defaults: Defaults,
    pub(super) models: BTreeMap<Text, Spanned<Model>>,
    pub(super) dispatch: Dispatch,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Auth {
    pub(super) required: bool,
    pub(super) keys: Vec<Spanned<Key>>,
    pub(super) jwt: Option<Spanned<Jwt>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Key {
    pub(super) id: Text,
    pub(super) sha256: Text,
    pub(super) tenant: Text,
    pub(super) user: Text,
    pub(super) scopes: Vec<Text>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Jwt {
    pub(super) jwks_url: Option<Text>,
    pub(super) jwks_file: Option<Text>,
    pub(super) issuer: Text,
    pub(super) audience: Text,
    pub(super) tenant_claim: Option<Text>,
    pub(super) user_claim: Option<Text>,
    pub(super) scope_claim: Option<Text>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Outgoing {
    pub(super) allow_loopback: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Push {
    pub(super) secret: Option<Text>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Server {
    pub(super) public_url: Option<Text>,
    pub(super) body_max_bytes: Option<Spanned<u64>>,
    pub(super) max_connections: Option<Spanned<u64>>,
    pub(super) header_timeout: Option<Text>,
    pub(super) body_timeout: Option<Text>,
    pub(super) idle_timeout: Option<Text>,
    pub(super) blocking_timeout: Option<Text>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct A2a {
    pub(super) default_agent: Option<Text>,
    pub(super) signing_key_file: Option<Text>,
    pub(super) signing_key_id: Option<Text>,
    pub(super) grpc_reflection: bool,
    pub(super) grpc_in_card: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Mcp {
    pub(super) checkpoints: bool,
    pub(super) session_checkpoints: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Workflows {
    pub(super) folders: Option<Vec<Text>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Retention {
    pub(super) enabled: Option<bool>,
    pub(super) days: Option<Spanned<u64>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Defaults {
    pub(super) agent: Option<Text>,
    pub(super) model: Option<Text>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Model {
    pub(super) provider: Text,
    pub(super) base_url: Option<Text>,
    pub(super) api_key: Option<Text>,
    pub(super) model: Option<Text>,
    #[serde(default)]
    pub(super) headers: BTreeMap<Text, Text>,
    pub(super) price: Option<Spanned<Price>>,
    pub(super) images: Option<Spanned<bool>>,
    pub(super) record: Option<Text>,
    pub(super) file: Option<Text>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Price {
    pub(super) input: f64,
    pub(super) output: f64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Dispatch {
    pub(super) first_answer_timeout: Option<Text>,
    pub(super) depth_max: Option<Spanned<u32>>,
    pub(super) runs_max: Option<Spanned<u32>>,
}
