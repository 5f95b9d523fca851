//! From requests to the domain: messages, parts, files.

use trackway_a2a_wire::unwrap_data_value;
use trackway_domain::{File, FileSource, MessagePartContent, Part};

use super::request_params;
use crate::{
    error::A2aError,
    operations::IncomingMessage,
    wire::client_message::{ParsedClientMessage, check_message_part_count, invalid_message_error, is_base64},
};

/// The message of a send, checked. Paths in faults point into the request.
pub(crate) fn parse_incoming_message(
    sent: request_params::MessageParams,
) -> Result<IncomingMessage, A2aError> {
    if let Some(kind) = sent.kind.filter(|kind| kind != "message") {
        return Err(invalid_message_error(
            "kind",
            &format!("{kind:?} is not \"message\""),
            "send \"message\"",
        ));
    }
    match sent.role.as_str() {
        "user" => {}
        "agent" => {
            let next = "send \"user\": what a client says has that role";
            return Err(invalid_message_error("role", "a client cannot speak as the agent", next));
        }
        role => {
            return Err(invalid_message_error("role", &format!("{role:?} is not a role"), "send \"user\""));
        }
    }
    check_message_part_count(sent.parts.len())?;
    let parts = sent.parts.into_iter().enumerate().map(|(index, sent)| parse_part(index, sent.0));
    ParsedClientMessage {
        parts: parts.collect::<Result<_, _>>()?,
        message_id: sent.message_id,
        context_id: sent.context_id,
        task_id: sent.task_id,
        metadata: sent.metadata.unwrap_or_default(),
        references: sent.reference_task_ids.unwrap_or_default(),
        extensions: sent.extensions.unwrap_or_default(),
    }
    .into_incoming_message()
}

fn parse_part(index: usize, sent: request_params::PartParams) -> Result<Part, A2aError> {
    let lacks = |field: &str| {
        let place = format!("parts/{index}");
        let why = format!("a part of this kind needs the field `{field}`");
        invalid_message_error(&place, &why, "add the field, or send the kind that fits the fields")
    };
    let mut metadata = sent.metadata.unwrap_or_default();
    let content = match sent.kind.as_deref() {
        Some("text") => MessagePartContent::Text(sent.text.ok_or_else(|| lacks("text"))?),
        Some("data") => {
            let data = sent.data.ok_or_else(|| lacks("data"))?;
            MessagePartContent::Data(unwrap_data_value(data, &mut metadata))
        }
        Some("file") => {
            MessagePartContent::File(parse_file_part(index, sent.file.ok_or_else(|| lacks("file"))?.0)?)
        }
        Some(kind) => {
            let place = format!("parts/{index}/kind");
            let why = format!("{kind:?} is not a kind of part");
            return Err(invalid_message_error(&place, &why, "send \"text\", \"data\" or \"file\""));
        }
        None => {
            let place = format!("parts/{index}");
            let next = "add `kind`: \"text\", \"data\" or \"file\"";
            return Err(invalid_message_error(&place, "a part needs the field `kind`", next));
        }
    };
    Ok(Part { content, metadata })
}

fn parse_file_part(index: usize, sent: request_params::FileParams) -> Result<File, A2aError> {
    let place = |field: &str| format!("parts/{index}/file{field}");
    let source = match (sent.bytes, sent.uri) {
        (Some(bytes), None) if is_base64(&bytes) => FileSource::Base64(bytes),
        (Some(_), None) => {
            let next = "encode the file's bytes with the standard base64 alphabet";
            return Err(invalid_message_error(&place("/bytes"), "this is not base64", next));
        }
        (None, Some(uri)) if !uri.is_empty() => FileSource::Uri(uri),
        (None, Some(_)) => {
            return Err(invalid_message_error(&place("/uri"), "it is empty", "send the file's address"));
        }
        (Some(_), Some(_)) | (None, None) => {
            let why = "a file has either `bytes` or `uri`";
            return Err(invalid_message_error(&place(""), why, "send exactly one of the two"));
        }
    };
    Ok(File { name: sent.name, mime_type: sent.mime_type, source })
}

#[cfg(test)]
mod tests;
