//! The operations, and their names on JSON-RPC in each generation.

use trackway_a2a_wire::ProtocolVersion;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AgentOperation {
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

impl AgentOperation {
    pub(super) const fn rpc_method_name(self, generation: ProtocolVersion) -> &'static str {
        let (old, new) = match self {
            Self::Send => ("message/send", "SendMessage"),
            Self::Stream => ("message/stream", "SendStreamingMessage"),
            Self::Get => ("tasks/get", "GetTask"),
            // 0.3 has no such method; the client does not call it there.
            Self::List => ("tasks/list", "ListTasks"),
            Self::Cancel => ("tasks/cancel", "CancelTask"),
            Self::Subscribe => ("tasks/resubscribe", "SubscribeToTask"),
            Self::PushSet => ("tasks/pushNotificationConfig/set", "CreateTaskPushNotificationConfig"),
            Self::PushGet => ("tasks/pushNotificationConfig/get", "GetTaskPushNotificationConfig"),
            Self::PushList => ("tasks/pushNotificationConfig/list", "ListTaskPushNotificationConfigs"),
            Self::PushDelete => ("tasks/pushNotificationConfig/delete", "DeleteTaskPushNotificationConfig"),
            Self::ExtendedCard => ("agent/getAuthenticatedExtendedCard", "GetExtendedAgentCard"),
        };
        match generation {
            ProtocolVersion::V03 => old,
            ProtocolVersion::V1 => new,
        }
    }
}
