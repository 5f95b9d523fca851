//! Documents: built from the declared outputs of a session.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How the outputs of several steps become one document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DocumentKind {
    /// Fields of an object; a later value of the same field replaces the earlier.
    Header,
    /// A list that only grows.
    Log,
    /// Rows identified by a key. The first row of a key keeps its position; a later one replaces its
    /// content.
    Table,
    /// The notes of one step.
    Notes,
    /// Notes of a checkpoint.
    Checkpoint,
}

/// What one answer adds to one document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DocumentChange {
    pub name: String,
    pub kind: DocumentKind,
    /// For a table: JSON pointer to the key inside a row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    pub value: Value,
}
