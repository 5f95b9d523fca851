//! From requests to the domain: messages and parts.

use trackway_a2a_wire::{PartContentError, ReceivedPartV1};
use trackway_domain::{File, FileSource, MessagePartContent, Part};

use super::{push_params::non_empty_text, request_params};
use crate::{
    error::A2aError,
    operations::IncomingMessage,
    wire::client_message::{ParsedClientMessage, check_message_part_count, invalid_message_error, is_base64},
};

/// The message of a send, checked. Paths in faults point into the request.
pub(super) fn parse_incoming_message(
    sent: request_params::MessageParams,
) -> Result<IncomingMessage, A2aError> {
    match sent.role.as_str() {
        "ROLE_USER" => {}
        "ROLE_AGENT" => {
            let next = "send \"ROLE_USER\": what a client says has that role";
            return Err(invalid_message_error("role", "a client cannot speak as the agent", next));
        }
        role => {
            return Err(invalid_message_error(
                "role",
                &format!("{role:?} is not a role"),
                "send \"ROLE_USER\"",
            ));
        }
    }
    check_message_part_count(sent.parts.len())?;
    let parts = sent.parts.into_iter().enumerate().map(|(index, sent)| parse_part(index, sent.0));
    ParsedClientMessage {
        parts: parts.collect::<Result<_, _>>()?,
        message_id: sent.message_id,
        context_id: non_empty_text(sent.context_id),
        task_id: non_empty_text(sent.task_id),
        metadata: sent.metadata.unwrap_or_default(),
        references: sent.reference_task_ids.unwrap_or_default(),
        extensions: sent.extensions.unwrap_or_default(),
    }
    .into_incoming_message()
}

fn parse_part(index: usize, sent: ReceivedPartV1) -> Result<Part, A2aError> {
    let part = sent.into_part().map_err(|PartContentError| {
        let why = "a part has exactly one of `text`, `raw`, `url` and `data`";
        invalid_message_error(&format!("parts/{index}"), why, "send one of the four")
    })?;
    match &part.content {
        MessagePartContent::File(File { source: FileSource::Base64(raw), .. }) if !is_base64(raw) => {
            let next = "encode the bytes with the standard base64 alphabet";
            Err(invalid_message_error(&format!("parts/{index}/raw"), "this is not base64", next))
        }
        MessagePartContent::File(File { source: FileSource::Uri(url), .. }) if url.is_empty() => {
            let next = "send the file's address";
            Err(invalid_message_error(&format!("parts/{index}/url"), "it is empty", next))
        }
        _ => Ok(part),
    }
}

#[cfg(test)]
mod tests;
