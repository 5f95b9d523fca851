//! From protobuf to the domain: messages and parts.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use trackway_a2a_wire::{take_references, unwrap_data};
use trackway_domain::{Content, File, FileSource, Part};

use super::{encode::decode_role, non_empty};
use crate::{
    error::A2aError,
    grpc::{
        encoding_macros::{check_role, not_json_error, parse_metadata},
        pb::v03::{self as pb, file_part::File as Source, part::Part as Sent},
        protobuf_value,
    },
    operations::IncomingMessage,
    wire::sent_message::{self, check_part_count, invalid_message_error},
};

/// The message of a send, checked. Paths in faults point into the request.
pub(super) fn decode_message(message: pb::Message) -> Result<IncomingMessage, A2aError> {
    check_role(decode_role(&message))?;
    check_part_count(message.content.len())?;
    let parts = message.content.into_iter().enumerate().map(|(index, sent)| decode_part(index, sent));
    let mut metadata = parse_metadata(message.metadata, "metadata")?;
    let references = take_references(&mut metadata);
    sent_message::SentMessage {
        parts: parts.collect::<Result<_, _>>()?,
        message_id: message.message_id,
        context_id: non_empty(message.context_id),
        task_id: non_empty(message.task_id),
        metadata,
        references,
        extensions: message.extensions,
    }
    .into_incoming()
}

fn decode_part(index: usize, part: pb::Part) -> Result<Part, A2aError> {
    let place = |field: &str| format!("content/{index}{field}");
    let mut metadata = parse_metadata(part.metadata, &place("/metadata"))?;
    let content = match part.part {
        Some(Sent::Text(text)) => Content::Text(text),
        Some(Sent::Data(data)) => {
            let data = protobuf_value::decode_struct(data.data.unwrap_or_default())
                .map_err(|why| not_json_error(&place("/data"), why))?;
            Content::Data(unwrap_data(data.into(), &mut metadata))
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
            let (name, mime_type) = (non_empty(file.name), non_empty(file.mime_type));
            Content::File(File { name, mime_type, source })
        }
        None => {
            let why = "a part is a `text`, a `file` or `data`";
            return Err(invalid_message_error(&place(""), why, "send one of the three"));
        }
    };
    Ok(Part { content, metadata })
}
