//! The dialects, and the names that each uses.

use std::fmt;

use trackway_domain::{MessageRole, StateName};

/// A generation of the protocol. The wire format does not distinguish patch versions. The newer
/// generation is the greater value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProtocolVersion {
    V03,
    V1,
}

impl ProtocolVersion {
    /// The newest first.
    pub const ALL: [Self; 2] = [Self::V1, Self::V03];

    /// The generation of a version; everything after major and minor is ignored.
    pub fn parse_version(version: &str) -> Option<Self> {
        let mut numbers = version.trim().split('.');
        match (numbers.next(), numbers.next()) {
            (Some("1"), Some("0")) => Some(Self::V1),
            (Some("0"), Some("3")) => Some(Self::V03),
            _ => None,
        }
    }

    /// The header in which requests and responses name extensions.
    pub const fn extensions_header(self) -> &'static str {
        match self {
            Self::V03 => "x-a2a-extensions",
            Self::V1 => "a2a-extensions",
        }
    }

    /// Major and minor, as in cards, headers and stored configurations.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V03 => "0.3",
            Self::V1 => "1.0",
        }
    }
}

impl fmt::Display for ProtocolVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The supported forms of JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonDialect {
    /// Protocol 0.3 on JSON-RPC: tasks, messages, updates and parts name their kind in a field.
    V03,
    /// Protocol 0.3 on HTTP+JSON: the JSON form of its protobuf messages. Its readers are strict, so
    /// only fields of those messages are allowed.
    V03Protobuf,
    /// Protocol 1.0 on both: the JSON form of its protobuf messages.
    V1,
}

impl JsonDialect {
    pub const fn protocol_version(self) -> ProtocolVersion {
        match self {
            Self::V03 | Self::V03Protobuf => ProtocolVersion::V03,
            Self::V1 => ProtocolVersion::V1,
        }
    }

    /// Whether a value names its kind; otherwise the member that wraps it does.
    pub const fn has_kind_field(self) -> bool {
        matches!(self, Self::V03)
    }

    pub const fn role_name(self, role: MessageRole) -> &'static str {
        match (self, role) {
            (Self::V03, MessageRole::User) => "user",
            (Self::V03, MessageRole::Agent) => "agent",
            (Self::V03Protobuf | Self::V1, MessageRole::User) => "ROLE_USER",
            (Self::V03Protobuf | Self::V1, MessageRole::Agent) => "ROLE_AGENT",
        }
    }

    pub fn parse_role(self, name: &str) -> Option<MessageRole> {
        [MessageRole::User, MessageRole::Agent].into_iter().find(|role| self.role_name(*role) == name)
    }

    /// A task of 1.0 is never `unknown`; protobuf calls this state unspecified.
    pub const fn state_name(self, state: StateName) -> &'static str {
        let (tagged, proto) = match state {
            StateName::Submitted => ("submitted", "TASK_STATE_SUBMITTED"),
            StateName::Working => ("working", "TASK_STATE_WORKING"),
            StateName::InputRequired => ("input-required", "TASK_STATE_INPUT_REQUIRED"),
            StateName::AuthRequired => ("auth-required", "TASK_STATE_AUTH_REQUIRED"),
            StateName::Completed => ("completed", "TASK_STATE_COMPLETED"),
            StateName::Failed => ("failed", "TASK_STATE_FAILED"),
            // With two l, only in this dialect.
            StateName::Canceled if matches!(self, Self::V03Protobuf) => ("", "TASK_STATE_CANCELLED"),
            StateName::Canceled => ("canceled", "TASK_STATE_CANCELED"),
            StateName::Rejected => ("rejected", "TASK_STATE_REJECTED"),
            StateName::Unknown => ("unknown", "TASK_STATE_UNSPECIFIED"),
        };
        if self.has_kind_field() { tagged } else { proto }
    }

    pub fn parse_task_state(self, name: &str) -> Option<StateName> {
        StateName::ALL.into_iter().find(|state| self.state_name(*state) == name)
    }
}
