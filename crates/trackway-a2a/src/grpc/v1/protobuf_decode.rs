//! From protobuf to the domain: messages and parts.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use trackway_domain::{File, FileSource, MessagePartContent, Part};

use super::{non_empty_text, protobuf_encode::decode_role};
use crate::{
    error::A2aError,
    grpc::{
        encoding_macros::{check_client_role, parse_protobuf_metadata, protobuf_not_json_error},
        pb::v1::{self as pb, part::Content as Sent},
        protobuf_value,
    },
    operations::IncomingMessage,
    wire::client_message::{self, check_message_part_count, invalid_message_error},
};

/// The message of a send, checked. Paths in faults point into the request.
pub(super) fn decode_incoming_message(message: pb::Message) -> Result<IncomingMessage, A2aError> {
    check_client_role(decode_role(&message))?;
    check_message_part_count(message.parts.len())?;
    let parts = message.parts.into_iter().enumerate().map(|(index, sent)| decode_part(index, sent));
    client_message::ParsedClientMessage {
        parts: parts.collect::<Result<_, _>>()?,
        message_id: message.message_id,
        context_id: non_empty_text(message.context_id),
        task_id: non_empty_text(message.task_id),
        metadata: parse_protobuf_metadata(message.metadata, "metadata")?,
        references: message.reference_task_ids,
        extensions: message.extensions,
    }
    .into_incoming_message()
}

fn decode_part(index: usize, part: pb::Part) -> Result<Part, A2aError> {
    let place = |field: &str| format!("parts/{index}{field}");
    let mut metadata = parse_protobuf_metadata(part.metadata, &place("/metadata"))?;
    let (name, mime_type) = (non_empty_text(part.filename), non_empty_text(part.media_type));
    let content = match part.content {
        Some(Sent::Text(text)) => MessagePartContent::Text(text),
        Some(Sent::Data(data)) => MessagePartContent::Data(
            protobuf_value::decode_protobuf_value(data)
                .map_err(|why| protobuf_not_json_error(&place("/data"), why))?,
        ),
        Some(Sent::Raw(bytes)) => {
            let source = FileSource::Base64(STANDARD.encode(bytes));
            return Ok(Part {
                content: MessagePartContent::File(File { name, mime_type, source }),
                metadata,
            });
        }
        Some(Sent::Url(url)) if !url.is_empty() => {
            let source = FileSource::Uri(url);
            return Ok(Part {
                content: MessagePartContent::File(File { name, mime_type, source }),
                metadata,
            });
        }
        Some(Sent::Url(_)) => {
            return Err(invalid_message_error(&place("/url"), "it is empty", "send the file's address"));
        }
        None => {
            let why = "a part has one of `text`, `raw`, `url` and `data`";
            return Err(invalid_message_error(&place(""), why, "send one of the four"));
        }
    };
    // For text and data, the domain keeps these where 0.3 has them: in the metadata.
    for (key, value) in [("mimeType", mime_type), ("filename", name)] {
        if let Some(value) = value {
            metadata.insert(key.to_owned(), value.into());
        }
    }
    Ok(Part { content, metadata })
}
