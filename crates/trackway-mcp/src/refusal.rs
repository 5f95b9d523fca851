//! Errors as data: one form for every refused call.
//!
//! No call throws across the boundary. A refusal is an ordinary tool result with `isError`, a stable code,
//! what happened, what to send instead, and whether the same call may succeed later.

use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Value, json};
use trackway_domain::{ErrorCode, InputRequirement, Permission};
use trackway_ports::Identity;
use trackway_runtime::GuidedRunError;

use crate::{text, token::TokenError};

/// Longest message. A message may quote what was sent, such as a name, but must not send all of it back.
/// Limit (MCP): message of a refusal.
const MESSAGE_CHARS_MAX: usize = 4_000;

/// Wrong arguments that the message names; all of them are in `needs`.
/// Limit (MCP): wrong arguments that a message names; all of them are in `needs`.
const NEEDS_IN_MESSAGE_MAX: usize = 3;

/// Why a call was refused. Nothing was changed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ToolRefusal {
    pub(crate) code: ErrorCode,
    pub(crate) message: String,
    /// What to do instead, as a sentence for the agent.
    pub(crate) next: String,
    /// Whether the same call may succeed later.
    pub(crate) retryable: bool,
    pub(crate) needs: Vec<InputRequirement>,
}

impl ToolRefusal {
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>, next: impl Into<String>) -> Self {
        let retryable = matches!(
            code,
            ErrorCode::StoreBusy
                | ErrorCode::StoreFailed
                | ErrorCode::Stopping
                | ErrorCode::AuthUnavailable
                | ErrorCode::PeerUnavailable
        );
        let message = text::truncate_chars(&message.into(), MESSAGE_CHARS_MAX);
        Self { code, message, next: next.into(), retryable, needs: Vec::new() }
    }

    /// The arguments themselves are wrong.
    pub(crate) fn invalid_arguments_refusal(tool: &str, needs: Vec<InputRequirement>) -> Self {
        let told: Vec<&str> =
            needs.iter().take(NEEDS_IN_MESSAGE_MAX).map(|need| need.message.as_str()).collect();
        let more = match needs.len() - told.len() {
            0 => String::new(),
            more => format!("; and {more} more, see `needs`"),
        };
        let message = format!("{tool}: {}{more}", told.join("; "));
        let next = format!("Call {tool} again with what `needs` says at each pointer.");
        Self { needs, ..Self::new(ErrorCode::InvalidRequest, message, next) }
    }

    /// Whether the caller may work on runs of this workflow; every refusal is recorded in the audit log.
    pub(crate) fn check_can_run_workflow(identity: &Identity, workflow: &str) -> Result<(), Self> {
        let checked = identity.check_permission(Permission::RunWorkflow(workflow));
        checked.map_err(|_| Self::forbidden_workflow_refusal(workflow))
    }

    fn forbidden_workflow_refusal(workflow: &str) -> Self {
        Self::new(
            ErrorCode::Forbidden,
            format!("the key of this connection does not permit workflow {workflow:?}"),
            format!(
                "Use a workflow that workflow_list shows, or a key with the scope workflow:{workflow}:run."
            ),
        )
    }

    pub(crate) fn to_refusal_json(&self) -> Value {
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

    pub(crate) fn into_tool_result(self) -> CallToolResult {
        let mut result = CallToolResult::error(vec![ContentBlock::text(text::render_refusal(&self))]);
        result.structured_content = Some(self.to_refusal_json());
        result
    }
}

impl From<TokenError> for ToolRefusal {
    fn from(error: TokenError) -> Self {
        let need = requirement_at_pointer(format!("/{}", error.param), &error.fault.to_string());
        Self { needs: vec![need], ..Self::new(error.code(), error.to_string(), error.recovery_hint()) }
    }
}

impl From<GuidedRunError> for ToolRefusal {
    fn from(error: GuidedRunError) -> Self {
        let (code, message) = (error.code(), error.to_string());
        let needs = match &error {
            GuidedRunError::UnknownWorkflow { similar: near, .. } => vec![workflow_id_requirement(near)],
            GuidedRunError::MissingContext(block) | GuidedRunError::TooManyAttempts { block, .. } => {
                block.needs.clone()
            }
            GuidedRunError::TooLarge { what, .. } | GuidedRunError::TooDeep { what, .. } => {
                vec![requirement_at_pointer(format!("/{what}"), &message)]
            }
            GuidedRunError::InvalidSessionId { what, .. } => {
                vec![requirement_at_pointer(format!("/context/{what}"), &message)]
            }
            _ => Vec::new(),
        };
        Self {
            needs,
            ..Self::new(code, append_error_details(&error, message), recovery_hint_for_error(&error))
        }
    }
}

fn requirement_at_pointer(pointer: String, message: &str) -> InputRequirement {
    InputRequirement { pointer, message: message.to_owned(), ..InputRequirement::default() }
}

fn workflow_id_requirement(similar_ids: &[String]) -> InputRequirement {
    InputRequirement {
        pointer: "/workflowId".to_owned(),
        message: "an id that workflow_list shows".to_owned(),
        example: similar_ids.first().map(|id| id.as_str().into()),
        ..InputRequirement::default()
    }
}

/// The message, with what a person needs to know if the agent cannot fix it.
fn append_error_details(error: &GuidedRunError, message: String) -> String {
    let lines: Vec<String> = match error {
        GuidedRunError::InvalidWorkflow { file, findings: faults, .. } => {
            let told =
                faults.iter().map(|fault| format!("{file}: {}", text::format_finding_with_location(fault)));
            told.collect()
        }
        GuidedRunError::UnsupportedWorkflow { unsupported: unheeded, .. } => {
            let matters = unheeded.iter().filter(|construct| construct.matters);
            matters.map(|construct| format!("{}: {}", construct.path, construct.message)).collect()
        }
        _ => return message,
    };
    format!("{message}: {}", lines.join("; "))
}

fn recovery_hint_for_error(error: &GuidedRunError) -> String {
    match error {
        GuidedRunError::UnknownWorkflow { similar: near, .. } => match near.first() {
            Some(id) => format!("Did you mean {id:?}? workflow_list shows which there are."),
            None => "Call workflow_list and use one of its ids.".to_owned(),
        },
        GuidedRunError::InvalidWorkflow { .. } => {
            "Tell the user what is wrong in the file; once it is fixed, the same call works.".to_owned()
        }
        GuidedRunError::UnsupportedWorkflow { .. } => {
            "Tell the user which construct is not supported, or choose another workflow.".to_owned()
        }
        GuidedRunError::MissingContext(_) => {
            "Call workflow_start again with what `needs` says at each pointer.".to_owned()
        }
        GuidedRunError::UnknownRun { .. } => {
            "This run is not here or belongs to somebody else: workflow_resume finds your own runs, workflow_start begins another.".to_owned()
        }
        GuidedRunError::UnknownNode { .. } => {
            "The run was cut short or belongs to another history: go on from another stateToken of it, which workflow_resume finds, or begin another run with workflow_start.".to_owned()
        }
        GuidedRunError::TooDeep { what, levels } => {
            format!("Send a {what} that is nested at most {levels} levels deep.")
        }
        GuidedRunError::Ended { .. } => {
            "The run takes no more answers; begin another with workflow_start.".to_owned()
        }
        GuidedRunError::NotAdopted { run } => {
            format!("Tell the user: the run came from elsewhere, and `trackway runs adopt {run}` lets it go on here. Then send the same call again.")
        }
        GuidedRunError::Damaged { .. } => {
            "Tell the user; other runs are not affected. workflow_resume finds the newest snapshot that can be read, and an earlier stateToken of the run still works.".to_owned()
        }
        GuidedRunError::TooLarge { what, max } => {
            format!("Send a shorter {what}, of at most {max} bytes; keep large material in files and name them.")
        }
        GuidedRunError::InvalidSessionId { what, .. } => {
            format!("Send another {what}: a text of at most 256 bytes without control characters.")
        }
        GuidedRunError::TooManyAttempts { .. } => {
            "Stop trying: tell the user what is needed and ask how to go on. An answer that fits is still taken; an earlier stateToken begins another branch.".to_owned()
        }
        GuidedRunError::NotGuided { .. } => "Use a run that workflow_start began.".to_owned(),
        GuidedRunError::CannotMigrate { .. } => "Go on with the definition that the run is pinned to.".to_owned(),
        GuidedRunError::Unavailable { .. } => {
            "Nothing was recorded. Send the same call again in a moment.".to_owned()
        }
        GuidedRunError::Stopping => "Send the same call again when the server is back.".to_owned(),
        GuidedRunError::Internal { .. } => {
            "Tell the user that something went wrong inside the server; its log says what.".to_owned()
        }
        GuidedRunError::Store { .. } => {
            "Tell the user that the store has failed; the same call can be sent again after a restart.".to_owned()
        }
    }
}
