//! What a request wants to do, as far as scopes decide it.

use std::fmt;

/// An action that needs a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permission<'a> {
    /// To start, answer and cancel runs of this workflow.
    RunWorkflow(&'a str),
    ReadArtifacts,
    /// To store and remove artifacts.
    WriteArtifacts,
    /// To add, remove and ping peers.
    AdministerPeers,
    /// To read the audit log of the caller's tenant.
    ReadAudit,
    /// To see what belongs to no single tenant, such as metrics.
    SeeAllTenants,
}

/// A caller may not do this. The text is safe to show to the caller.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("this key may not {refused}")]
pub struct PermissionRefusal {
    /// What the caller may not do.
    pub refused: String,
    /// The scope that would permit it.
    pub needed_scope: String,
}

impl Permission<'_> {
    /// The name of the action in the audit log.
    pub const fn action(&self) -> &'static str {
        match self {
            Self::RunWorkflow(_) => "workflow:run",
            Self::ReadArtifacts => "artifact:read",
            Self::WriteArtifacts => "artifact:write",
            Self::AdministerPeers => "peer:admin",
            Self::ReadAudit => "audit:read",
            Self::SeeAllTenants => "metrics:read",
        }
    }

    /// What the action is done to; empty if the action says it.
    pub const fn object(&self) -> &str {
        match self {
            Self::RunWorkflow(name) => name,
            Self::ReadArtifacts
            | Self::WriteArtifacts
            | Self::AdministerPeers
            | Self::ReadAudit
            | Self::SeeAllTenants => "",
        }
    }

    /// A scope that permits the action, as a person would write it.
    pub fn needed_scope(&self) -> String {
        match self {
            Self::RunWorkflow(name) => format!("workflow:{name}:run or agent:{name}:call"),
            Self::SeeAllTenants => "*".to_owned(),
            Self::ReadArtifacts | Self::WriteArtifacts | Self::AdministerPeers | Self::ReadAudit => {
                self.action().to_owned()
            }
        }
    }

    /// The refusal of this action.
    pub fn refusal(&self) -> PermissionRefusal {
        PermissionRefusal { refused: self.to_string(), needed_scope: self.needed_scope() }
    }
}

/// What the caller wants to do, after "may" or "may not".
impl fmt::Display for Permission<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RunWorkflow(name) => write!(f, "run {name:?}"),
            Self::ReadArtifacts => f.write_str("read artifacts"),
            Self::WriteArtifacts => f.write_str("store or remove artifacts"),
            Self::AdministerPeers => f.write_str("add, remove or ping peers"),
            Self::ReadAudit => f.write_str("read the audit log"),
            Self::SeeAllTenants => f.write_str("see what others do"),
        }
    }
}
