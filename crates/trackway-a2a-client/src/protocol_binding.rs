//! The supported bindings: how an operation becomes an HTTP exchange, and how its outcome is parsed.

use serde_json::value::RawValue;

use super::{ClientError, ProtocolVersion, http_json, jsonrpc};

/// A binding of the protocol. The preferred one is the smaller value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProtocolBinding {
    JsonRpc,
    /// Only of 1.0: the binding of 0.3 has different forms, and almost no agent serves it alone.
    HttpJson,
}

/// The names in cards.
pub(super) const JSON_RPC: &str = "JSONRPC";
const HTTP_JSON: &str = "HTTP+JSON";

impl ProtocolBinding {
    pub(super) fn parse_binding_name(name: &str, generation: ProtocolVersion) -> Option<Self> {
        let known = [(JSON_RPC, Self::JsonRpc), (HTTP_JSON, Self::HttpJson)];
        let (_, binding) = known.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name))?;
        binding.supports_version(generation).then_some(binding)
    }

    pub(super) fn supports_version(self, generation: ProtocolVersion) -> bool {
        self == Self::JsonRpc || generation == ProtocolVersion::V1
    }

    /// The result in a body or in an event, or the refusal.
    pub(super) fn parse_binding_response(
        self,
        text: &str,
        status: u16,
    ) -> Result<Box<RawValue>, ClientError> {
        match self {
            Self::JsonRpc => jsonrpc::parse_rpc_response(text, status),
            Self::HttpJson => http_json::parse_rest_response(text, status),
        }
    }
}
