//! Why a workspace cannot be used.

use std::path::PathBuf;

use super::finding::Finding;
use crate::{ServerError, SigningKeyError};

/// Why a workspace cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    #[error("there is no folder {}", .0.display())]
    NoFolder(PathBuf),
    /// All errors among the findings.
    #[error("{}", format_findings(.0))]
    Findings(Vec<Finding>),
    #[error("cards cannot be signed with signing_key_file")]
    Signing(#[source] SigningKeyError),
    #[error(transparent)]
    Server(#[from] ServerError),
}

/// One line for each.
fn format_findings(findings: &[Finding]) -> String {
    findings.iter().map(Finding::to_string).collect::<Vec<_>>().join("\n")
}
