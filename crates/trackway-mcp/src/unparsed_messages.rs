//! A request that is too long or too deeply nested to be parsed still gets an answer under its own id. A
//! call is answered like every refused call, anything else as JSON-RPC says. A scan finds what the answer
//! needs. It keeps only a few words, so the message may have any size and depth.

mod message_scan;

use rmcp::model::ResultType;
use serde_json::{Value, json};
use trackway_domain::{ErrorCode, JSON_DEPTH_MAX};

pub(crate) use self::message_scan::JsonRpcMessageScan;
use crate::{
    jsonrpc::{self, INVALID_REQUEST},
    refusal::ToolRefusal,
};

/// Levels that the JSON parser enters; it refuses a deeper message.
/// Limit (MCP): levels of a request's JSON.
const PARSED_LEVELS_MAX: usize = 127;

/// The method of calls.
pub(crate) const CALL_METHOD: &str = "tools/call";

/// Why a message was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnparsedMessageReason {
    TooLong { bytes_max: usize },
    TooDeep,
}

/// The form of results that a client expects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClientResultFormat {
    Older,
    /// Every result says what kind of result it is.
    Newest,
}

impl UnparsedMessageReason {
    /// Whether no parser here accepts this completely scanned message.
    pub(crate) fn check_nesting_depth(scan: &JsonRpcMessageScan) -> Option<Self> {
        (scan.is_complete_object() && scan.max_nesting_depth() > PARSED_LEVELS_MAX).then_some(Self::TooDeep)
    }

    /// The answer; none if the message expects none.
    pub(crate) fn jsonrpc_refusal_answer(
        self,
        scan: &JsonRpcMessageScan,
        revision: ClientResultFormat,
    ) -> Option<Value> {
        let refusal = self.to_tool_refusal();
        match (scan.request_id(), scan.request_method()) {
            // A notification, or an answer to one of our questions.
            (None, Some(_)) | (Some(_), None) => None,
            (Some(id), Some(CALL_METHOD)) => {
                let mut result = refusal.into_tool_result();
                result.result_type = (revision == ClientResultFormat::Newest).then_some(ResultType::COMPLETE);
                Some(json!({ "jsonrpc": "2.0", "id": id, "result": result }))
            }
            (id, _) => {
                let data = json!({ "code": refusal.code.as_str(), "next": refusal.next });
                let mut answer =
                    jsonrpc::jsonrpc_error_message(&json!(id), INVALID_REQUEST, &refusal.message);
                answer["error"]["data"] = data;
                Some(answer)
            }
        }
    }

    fn to_tool_refusal(self) -> ToolRefusal {
        let (message, next) = match self {
            Self::TooLong { bytes_max } => (
                format!("the message is larger than {bytes_max} bytes"),
                "Send less at once; keep large material in files and name them.".to_owned(),
            ),
            Self::TooDeep => (
                format!("the message is nested deeper than {JSON_DEPTH_MAX} levels"),
                format!("Send arguments that are nested at most {JSON_DEPTH_MAX} levels deep."),
            ),
        };
        ToolRefusal::new(ErrorCode::TooLarge, message, next)
    }
}

#[cfg(test)]
mod tests;
