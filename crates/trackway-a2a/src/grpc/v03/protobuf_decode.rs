//! From protobuf to the domain: messages and parts.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use trackway_a2a_wire::{take_referenced_task_ids, unwrap_data_value};
use trackway_domain::{File, FileSource, MessagePartContent, Part};

use super::{non_empty_text, protobuf_encode::decode_role};
use crate::{
    error::A2aError,
    grpc::{
        encoding_macros::{check_client_role, parse_protobuf_metadata, protobuf_not_json_error},
        pb::v03::{self as pb, file_part::File as Source, part::Part as Sent},
        protobuf_value,
    },
    operations::IncomingMessage,
    wire::client_message::{self, check_message_part_count, invalid_message_error},
};

/// The message of a send, checked. Paths in faults point into the request.
pub(super) fn decode_incoming_message(message: pb::Message) -> Result<IncomingMessage, A2aError> {
    check_client_role(decode_role(&message))?;
    check_message_part_count(message.content.len())?;
    let parts = message.content.into_iter().enumerate().map(|(index, sent)| decode_part(index, sent));
    let mut metadata = parse_protobuf_metadata(message.metadata, "metadata")?;
    let references = take_referenced_task_ids(&mut metadata);
    client_message::ParsedClientMessage {
        parts: parts.collect::<Result<_, _>>()?,
        message_id: message.message_id,
        context_id: non_empty_text(message.context_id),
        task_id: non_empty_text(message.task_id),
        metadata,
        references,
        extensions: message.extensions,
    }
    .into_incoming_message()
}

fn decode_part(index: usize, part: pb::Part) -> Result<Part, A2aError> {
    let place = |field: &str| format!("content/{index}{field}");
    let mut metadata = parse_protobuf_metadata(part.metadata, &place("/metadata"))?;
    let content = match part.part {
        Some(Sent::Text(text)) => MessagePartContent::Text(text),
        Some(Sent::Data(data)) => {
            let data = protobuf_value::decode_protobuf_struct(data.data.unwrap_or_default())
                .map_err(|why| protobuf_not_json_error(&place("/data"), why))?;
            MessagePartContent::Data(unwrap_data_value(data.into(), &mut metadata))
        }
        Some(Sent::File(file)) => {
            let source = match file.file {
                Some(Source::FileWithBytes(bytes)) => FileSource::Base64(STANDARD.encode(bytes)),
                Some(Source::FileWithUri(uri)) if !uri.is_empty() => FileSource::Uri(uri),
                Some(Source::FileWithUri(_)) | None => {
                    let why = "a file has either bytes or a uri";
                    return Err(invalid_message_error(&place("/file"), why, "send exactly one of the two"));
                }
            };
            let (name, mime_type) = (non_empty_text(file.name), non_empty_text(file.mime_type));
            MessagePartContent::File(File { name, mime_type, source })
        }
        None => {
            let why = "a part is a `text`, a `file` or `data`";
            return Err(invalid_message_error(&place(""), why, "send one of the three"));
        }
    };
    Ok(Part { content, metadata })
}
