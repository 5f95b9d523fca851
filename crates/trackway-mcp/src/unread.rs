//! A request that is too long or nested too deeply to be read is answered all the same, under its own
//! id: a call like every refused call, anything else as JSON-RPC has it. What the answer needs is found
//! by a scan that keeps only a few words of the message, so it may be of any size and depth.

mod scan;

use rmcp::model::ResultType;
use serde_json::{Value, json};
use trackway_domain::{Code, JSON_DEPTH_MAX};

pub(crate) use self::scan::Scan;
use crate::{
    jsonrpc::{self, INVALID_REQUEST},
    refusal::Refusal,
};

/// Levels that the JSON parser enters; a message that is deeper is refused by it.
/// Limit (MCP): levels of a request's JSON.
const PARSED_LEVELS_MAX: usize = 127;

/// The method of calls.
pub(crate) const CALL: &str = "tools/call";

/// Why a message was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unread {
    TooLong { bytes_max: usize },
    TooDeep,
}

/// The form of results that a client knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Revision {
    Older,
    /// Says with every result what kind of result it is.
    Newest,
}

impl Unread {
    /// Whether a message that has been seen to its end is one that no parser here takes.
    pub(crate) fn too_deep(scan: &Scan) -> Option<Self> {
        (scan.is_whole() && scan.deepest() > PARSED_LEVELS_MAX).then_some(Self::TooDeep)
    }

    /// The answer; none to what wants none.
    pub(crate) fn answer(self, scan: &Scan, revision: Revision) -> Option<Value> {
        let refusal = self.refusal();
        match (scan.id(), scan.method()) {
            // A notification, or an answer to one of our questions.
            (None, Some(_)) | (Some(_), None) => None,
            (Some(id), Some(CALL)) => {
                let mut result = refusal.into_result();
                result.result_type = (revision == Revision::Newest).then_some(ResultType::COMPLETE);
                Some(json!({ "jsonrpc": "2.0", "id": id, "result": result }))
            }
            (id, _) => {
                let data = json!({ "code": refusal.code.as_str(), "next": refusal.next });
                let mut answer = jsonrpc::error(&json!(id), INVALID_REQUEST, &refusal.message);
                answer["error"]["data"] = data;
                Some(answer)
            }
        }
    }

    fn refusal(self) -> Refusal {
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
        Refusal::new(Code::TooLarge, message, next)
    }
}

#[cfg(test)]
mod tests;
