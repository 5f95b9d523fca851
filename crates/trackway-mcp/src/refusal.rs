//! Errors as data: one form for everything that a call can be refused for.
//!
//! No call throws across the boundary. A refusal is an ordinary tool result with `isError`, a stable
//! code, what happened, what to send instead, and whether the same call may do later.

use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Value, json};
use trackway_domain::{Code, Need};
use trackway_runtime::GuideError;

use crate::{text, token::TokenError};

/// Longest message. One that quotes what was sent, such as a name, must not send all of it back.
/// Limit (MCP): message of a refusal.
const MESSAGE_CHARS_MAX: usize = 4_000;

/// Wrong arguments that the message itself tells; all of them are in `needs`.
/// Limit (MCP): wrong arguments that a message names; all of them are in `needs`.
const NEEDS_TOLD_MAX: usize = 3;

/// Why a call was refused. Nothing was changed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Refusal {
    pub(crate) code: Code,
    pub(crate) message: String,
    /// What to do instead, as a sentence to the agent.
    pub(crate) next: String,
    /// The same call may do later.
    pub(crate) retryable: bool,
    pub(crate) needs: Vec<Need>,
}

impl Refusal {
    pub(crate) fn new(code: Code, message: impl Into<String>, next: impl Into<String>) -> Self {
        let retryable = matches!(
            code,
            Code::StoreBusy | Code::StoreFailed | Code::Stopping | Code::AuthUnavailable
        );
        let message = text::cut(&message.into(), MESSAGE_CHARS_MAX);
        Self { code, message, next: next.into(), retryable, needs: Vec::new() }
    }

    /// The arguments themselves are wrong.
    pub(crate) fn arguments(tool: &str, needs: Vec<Need>) -> Self {
        let told: Vec<&str> =
            needs.iter().take(NEEDS_TOLD_MAX).map(|need| need.message.as_str()).collect();
        let more = match needs.len() - told.len() {
            0 => String::new(),
            more => format!("; and {more} more, see `needs`"),
        };
        let message = format!("{tool}: {}{more}", told.join("; "));
        let next = format!("Call {tool} again with what `needs` says at each pointer.");
        Self { needs, ..Self::new(Code::InvalidRequest, message, next) }
    }

    pub(crate) fn forbidden(workflow: &str) -> Self {
        Self::new(
            Code::Forbidden,
            format!("the key of this connection does not permit workflow {workflow:?}"),
            format!(
                "Use a workflow that workflow_list shows, or a key with the scope workflow:{workflow}:run."
            ),
        )
    }

    pub(crate) fn structured(&self) -> Value {
        let mut error = json!({
            "code": self.code.as_str(),
            "message": self.message,
            "next": self.next,
            "retryable": self.retryable,
        });
        if !self.needs.is_empty() {
            error["needs"] = json!(self.needs);
        }
        json!({ "error": error })
    }

    pub(crate) fn into_result(self) -> CallToolResult {
        let mut result = CallToolResult::error(vec![ContentBlock::text(text::refusal(&self))]);
        result.structured_content = Some(self.structured());
        result
    }
}

impl From<TokenError> for Refusal {
    fn from(error: TokenError) -> Self {
        let need = need(format!("/{}", error.param), &error.fault.to_string());
        Self { needs: vec![need], ..Self::new(error.code(), error.to_string(), error.next()) }
    }
}

impl From<GuideError> for Refusal {
    fn from(error: GuideError) -> Self {
        let (code, message) = (error.code(), error.to_string());
        let needs = match &error {
            GuideError::UnknownWorkflow { near, .. } => vec![workflow_need(near)],
            GuideError::MissingContext(block) | GuideError::TooManyAttempts { block, .. } => {
                block.needs.clone()
            }
            GuideError::TooLarge { what, .. } | GuideError::TooDeep { what, .. } => {
                vec![need(format!("/{what}"), &message)]
            }
            GuideError::BadSession { what, .. } => {
                vec![need(format!("/context/{what}"), &message)]
            }
            _ => Vec::new(),
        };
        Self { needs, ..Self::new(code, detailed(&error, message), next(&error)) }
    }
}

fn need(pointer: String, message: &str) -> Need {
    Need { pointer, message: message.to_owned(), ..Need::default() }
}

fn workflow_need(near: &[String]) -> Need {
    Need {
        pointer: "/workflowId".to_owned(),
        message: "an id that workflow_list shows".to_owned(),
        example: near.first().map(|id| id.as_str().into()),
        ..Need::default()
    }
}

/// The message with what a person needs to see where the agent cannot mend it.
fn detailed(error: &GuideError, message: String) -> String {
    let lines: Vec<String> = match error {
        GuideError::InvalidWorkflow { file, faults, .. } => {
            let told = faults.iter().map(|fault| format!("{file}: {}", text::placed(fault)));
            told.collect()
        }
        GuideError::UnsupportedWorkflow { unheeded, .. } => {
            let matters = unheeded.iter().filter(|construct| construct.matters);
            matters.map(|construct| format!("{}: {}", construct.path, construct.message)).collect()
        }
        _ => return message,
    };
    format!("{message}: {}", lines.join("; "))
}

fn next(error: &GuideError) -> String {
    match error {
        GuideError::UnknownWorkflow { near, .. } => match near.first() {
            Some(id) => format!("Did you mean {id:?}? workflow_list shows which there are."),
            None => "Call workflow_list and use one of its ids.".to_owned(),
        },
        GuideError::InvalidWorkflow { .. } => {
            "Tell the user what is wrong in the file; once it is mended, the same call works.".to_owned()
        }
        GuideError::UnsupportedWorkflow { .. } => {
            "Tell the user which construct is not supported, or choose another workflow.".to_owned()
        }
        GuideError::MissingContext(_) => {
            "Call workflow_start again with what `needs` says at each pointer.".to_owned()
        }
        GuideError::UnknownRun { .. } => {
            "This run is not here or belongs to somebody else: workflow_resume finds your own runs, workflow_start begins another.".to_owned()
        }
        GuideError::UnknownNode { .. } => {
            "The run was cut short or belongs to another history: go on from another stateToken of it, which workflow_resume finds, or begin another run with workflow_start.".to_owned()
        }
        GuideError::TooDeep { what, levels } => {
            format!("Send a {what} that is nested at most {levels} levels deep.")
        }
        GuideError::Ended { .. } => {
            "The run takes no more answers; begin another with workflow_start.".to_owned()
        }
        GuideError::NotAdopted { run } => {
            format!("Tell the user: the run came from elsewhere, and `trackway runs adopt {run}` lets it go on here. Then send the same call again.")
        }
        GuideError::Damaged { .. } => {
            "Tell the user; other runs are not affected. workflow_resume finds the newest snapshot that can be read, and an earlier stateToken of the run still works.".to_owned()
        }
        GuideError::TooLarge { what, max } => {
            format!("Send a shorter {what}, of at most {max} bytes; keep large material in files and name them.")
        }
        GuideError::BadSession { what, .. } => {
            format!("Send another {what}: a text of at most 256 bytes without control characters.")
        }
        GuideError::TooManyAttempts { .. } => {
            "Stop trying: tell the user what is needed and ask how to go on. An answer that fits is still taken; an earlier stateToken begins another branch.".to_owned()
        }
        GuideError::NotGuided { .. } => "Use a run that workflow_start began.".to_owned(),
        GuideError::CannotMigrate { .. } => "Go on with the definition that the run is pinned to.".to_owned(),
        GuideError::Unavailable { .. } => {
            "Nothing was recorded. Send the same call again in a moment.".to_owned()
        }
        GuideError::Stopping => "Send the same call again when the server is back.".to_owned(),
        GuideError::Internal { .. } => {
            "Tell the user that something went wrong inside the server; its log says what.".to_owned()
        }
        GuideError::Store { .. } => {
            "Tell the user that the store has failed; the same call can be sent again after a restart.".to_owned()
        }
    }
}
