//! Messages between a caller and a run.

use serde::{Deserialize, Serialize};

use crate::{MessageId, Object, Part};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MessageRole {
    User,
    Agent,
}

/// A whole message. Its session and run are those of the log that contains it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    pub id: MessageId,
    pub role: MessageRole,
    pub parts: Vec<Part>,
    #[serde(default, skip_serializing_if = "Object::is_empty")]
    pub metadata: Object,
    /// Other runs that this message refers to. They are text, because a caller may name runs of
    /// other servers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<String>,
    /// URIs of the protocol extensions that the sender used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<String>,
}

impl Message {
    pub fn new(id: MessageId, role: MessageRole, parts: Vec<Part>) -> Self {
        Self { id, role, parts, metadata: Object::new(), references: Vec::new(), extensions: Vec::new() }
    }
}
