//! A message as the client sent it, in any generation: the checks that all of them share.

use serde_json::Value;
use trackway_domain::{Message, MessageId, MessageRole, Object, Part, QuestionId, SessionId};

use super::invocation_metadata;
use crate::{error::A2aError, operations::IncomingMessage};

/// Most parts of one message. A part needs more memory than bytes on the wire; a thousand is far more
/// than a message of a conversation has.
/// Limit (A2A): parts of one message.
const PARTS_MAX: usize = 1_000;

/// A client's message with parsed parts. Empty ids mean that none was sent.
#[derive(Debug, Default)]
pub(crate) struct ParsedClientMessage {
    pub(crate) message_id: String,
    pub(crate) context_id: Option<String>,
    pub(crate) task_id: Option<String>,
    pub(crate) parts: Vec<Part>,
    pub(crate) metadata: Object,
    pub(crate) references: Vec<String>,
    pub(crate) extensions: Vec<String>,
}

impl ParsedClientMessage {
    /// Checks the message. Paths in faults point into the request.
    pub(crate) fn into_incoming_message(self) -> Result<IncomingMessage, A2aError> {
        let id = MessageId::new(&self.message_id).map_err(|bad| {
            invalid_message_error("messageId", &bad.to_string(), "send a fresh UUID for each message")
        })?;
        let session = self.context_id.as_deref().map(SessionId::new).transpose().map_err(|bad| {
            invalid_message_error(
                "contextId",
                &bad.to_string(),
                "send the contextId of an earlier task, or none",
            )
        })?;
        let question = parse_question_id(&self.metadata)?;
        let new_run = parse_new_task_flag(&self.metadata)?;
        if new_run && (self.task_id.is_some() || question.is_some()) {
            let why = "a message with `newTask` starts a task, and this one names a task or a question";
            return Err(invalid_message_error(
                "metadata/newTask",
                why,
                "leave out newTask, or taskId and questionId",
            ));
        }
        let invocation = invocation_metadata::parse_invocation_options(&self.metadata)?;
        if invocation.starts_run() && (self.task_id.is_some() || question.is_some()) {
            let why = "artifacts and a session behaviour are for a message that starts a task, and this one \
                       names a task or a question";
            return Err(invalid_message_error("metadata", why, "leave them out, or taskId and questionId"));
        }
        let message = Message {
            id,
            role: MessageRole::User,
            parts: self.parts,
            metadata: self.metadata,
            references: self.references,
            extensions: self.extensions,
        };
        let run = self.task_id;
        Ok(IncomingMessage {
            message,
            run,
            session,
            question,
            starts_new_run: new_run || invocation.starts_run(),
            invocation,
            accepted_modes: Vec::new(),
            push: None,
        })
    }
}

/// Whether a message may have that many parts.
pub(crate) fn check_message_part_count(parts: usize) -> Result<(), A2aError> {
    if parts == 0 {
        return Err(invalid_message_error(
            "parts",
            "a message has at least one part",
            "send a text or data part",
        ));
    }
    if parts > PARTS_MAX {
        let why = format!("{parts} parts; at most {PARTS_MAX} are taken");
        return Err(invalid_message_error("parts", &why, "join parts, or send several messages"));
    }
    Ok(())
}

fn parse_question_id(metadata: &Object) -> Result<Option<QuestionId>, A2aError> {
    let Some(value) = metadata.get("questionId").filter(|value| !value.is_null()) else {
        return Ok(None);
    };
    let parsed = match value.as_str() {
        Some(text) => text.parse().map_err(|bad: trackway_domain::ParseIdError| bad.to_string()),
        None => Err("a question id is a string".to_owned()),
    };
    parsed.map(Some).map_err(|why| {
        let next = "repeat the questionId from the metadata of the question's message";
        invalid_message_error("metadata/questionId", &why, next)
    })
}

/// Whether the client requests a new task.
fn parse_new_task_flag(metadata: &Object) -> Result<bool, A2aError> {
    match metadata.get("newTask") {
        None => Ok(false),
        Some(Value::Bool(new)) => Ok(*new),
        Some(other) => {
            let why = format!("{other} is neither true nor false");
            Err(invalid_message_error("metadata/newTask", &why, "send true, or leave it out"))
        }
    }
}

/// Whether the text uses the standard alphabet, with or without padding.
pub(crate) fn is_base64(text: &str) -> bool {
    let digits = text.trim_end_matches('=');
    let padding = text.len() - digits.len();
    let whole = match padding {
        0 => text.len() % 4 != 1,
        1 | 2 => text.len().is_multiple_of(4),
        _ => false,
    };
    let in_alphabet = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/';
    whole && digits.bytes().all(in_alphabet)
}

/// An error at a location in the message.
pub(crate) fn invalid_message_error(pointer: &str, why: &str, next: &'static str) -> A2aError {
    A2aError::invalid_param_error(
        format!("/params/message/{pointer}"),
        format!("message/{pointer}: {why}"),
        next,
    )
}
