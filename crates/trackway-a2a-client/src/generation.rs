//! The generations of the protocol, and what each calls its operations on JSON-RPC.

use std::fmt;

/// A generation of the protocol. The newer is the greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Generation {
    V03,
    V1,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    Send,
    Stream,
    Get,
    List,
    Cancel,
    Subscribe,
    PushSet,
    PushGet,
    PushList,
    PushDelete,
    ExtendedCard,
}

impl Generation {
    /// Major and minor, as the header and the card name it.
    pub const fn version(self) -> &'static str {
        match self {
            Self::V03 => "0.3",
            Self::V1 => "1.0",
        }
    }

    /// From a version in a card; patches make no difference.
    pub(super) fn of_version(version: &str) -> Option<Self> {
        let mut numbers = version.trim().split('.');
        match (numbers.next()?, numbers.next().unwrap_or("0")) {
            ("0", "3") => Some(Self::V03),
            ("1", "0") => Some(Self::V1),
            _ => None,
        }
    }

    pub(super) const fn extensions_header(self) -> &'static str {
        match self {
            Self::V03 => "x-a2a-extensions",
            Self::V1 => "a2a-extensions",
        }
    }

    pub(super) const fn method(self, operation: Operation) -> &'static str {
        let (old, new) = match operation {
            Operation::Send => ("message/send", "SendMessage"),
            Operation::Stream => ("message/stream", "SendStreamingMessage"),
            Operation::Get => ("tasks/get", "GetTask"),
            // 0.3 has no such method; nobody asks for it there.
            Operation::List => ("tasks/list", "ListTasks"),
            Operation::Cancel => ("tasks/cancel", "CancelTask"),
            Operation::Subscribe => ("tasks/resubscribe", "SubscribeToTask"),
            Operation::PushSet => {
                ("tasks/pushNotificationConfig/set", "CreateTaskPushNotificationConfig")
            }
            Operation::PushGet => {
                ("tasks/pushNotificationConfig/get", "GetTaskPushNotificationConfig")
            }
            Operation::PushList => {
                ("tasks/pushNotificationConfig/list", "ListTaskPushNotificationConfigs")
            }
            Operation::PushDelete => {
                ("tasks/pushNotificationConfig/delete", "DeleteTaskPushNotificationConfig")
            }
            Operation::ExtendedCard => {
                ("agent/getAuthenticatedExtendedCard", "GetExtendedAgentCard")
            }
        };
        match self {
            Self::V03 => old,
            Self::V1 => new,
        }
    }
}

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.version())
    }
}
