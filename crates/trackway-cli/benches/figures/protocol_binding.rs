//! The ways to call an agent over HTTP: the request, and its generation and binding.

use serde_json::{Value, json};

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MeasuredOperation {
    /// A send that waits for the end.
    Send,
    /// A stream of all events.
    Stream,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProtocolBinding {
    Rpc03,
    Rest03,
    Rpc1,
    Rest1,
}

/// A request without the address of its agent.
pub(crate) struct AgentRequest {
    pub(crate) path: &'static str,
    pub(crate) headers: &'static [(&'static str, &'static str)],
    pub(crate) body: String,
}

impl MeasuredOperation {
    pub(crate) const ALL: [Self; 2] = [Self::Send, Self::Stream];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Send => "a2a send of echo, blocking",
            Self::Stream => "a2a stream of echo, all events",
        }
    }
}

impl ProtocolBinding {
    pub(crate) const ALL: [Self; 4] = [Self::Rpc1, Self::Rest1, Self::Rpc03, Self::Rest03];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Rpc03 => "0.3 JSON-RPC",
            Self::Rest03 => "0.3 HTTP+JSON",
            Self::Rpc1 => "1.0 JSON-RPC",
            Self::Rest1 => "1.0 HTTP+JSON",
        }
    }

    /// Whether it has the newer generation, the default of the SDKs' servers.
    pub(crate) fn is_version_1(self) -> bool {
        matches!(self, Self::Rpc1 | Self::Rest1)
    }

    /// A message of one word with this id.
    pub(crate) fn build_request(self, ask: MeasuredOperation, id: &str) -> AgentRequest {
        let stream = ask == MeasuredOperation::Stream;
        let (path, body) = match self {
            Self::Rpc03 => {
                let method = if stream { "message/stream" } else { "message/send" };
                let mut params = json!({ "message": {
                    "kind": "message", "messageId": id, "role": "user",
                    "parts": [{ "kind": "text", "text": "hello" }] } });
                if !stream {
                    params["configuration"] = json!({ "blocking": true });
                }
                ("", json_rpc_call(method, &params))
            }
            Self::Rest03 => {
                let path = if stream { "/rest/v1/message:stream" } else { "/rest/v1/message:send" };
                let mut body = json!({ "message": {
                    "messageId": id, "role": "ROLE_USER", "content": [{ "text": "hello" }] } });
                if !stream {
                    body["configuration"] = json!({ "blocking": true });
                }
                (path, body)
            }
            Self::Rpc1 => {
                let method = if stream { "SendStreamingMessage" } else { "SendMessage" };
                ("", json_rpc_call(method, &version_1_message(id)))
            }
            Self::Rest1 => {
                let path = if stream { "/rest/message:stream" } else { "/rest/message:send" };
                (path, version_1_message(id))
            }
        };
        let headers: &[_] = if self.is_version_1() { &[("a2a-version", "1.0")] } else { &[] };
        AgentRequest { path, headers, body: body.to_string() }
    }
}

fn json_rpc_call(method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
}

fn version_1_message(id: &str) -> Value {
    json!({ "message": { "messageId": id, "role": "ROLE_USER", "parts": [{ "text": "hello" }] } })
}
