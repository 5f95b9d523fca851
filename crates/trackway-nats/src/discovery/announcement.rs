//! What a node says about one of its agents.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CardAnnouncement {
    pub(super) node: String,
    /// When the node started, in milliseconds since 1970.
    pub(super) started_millis: i64,
    pub(super) card: Value,
}

impl CardAnnouncement {
    pub(super) fn encode(&self) -> Bytes {
        serde_json::to_vec(self).expect("a card is JSON").into()
    }

    /// Unknown fields are ignored: nodes of several versions share a namespace.
    pub(super) fn decode(value: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(value)
    }
}
