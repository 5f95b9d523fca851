//! From protobuf to the domain: messages and parts.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use trackway_a2a_wire::{take_references, unwrapped};
use trackway_domain::{Content, File, FileSource, Part};

use super::{encode::decode_role, given};
use crate::{
    fault::Fault,
    grpc::{
        pb::v03::{self as pb, file_part::File as Source, part::Part as Sent},
        shared::{check_role, not_json_error, parse_metadata},
        value,
    },
    ops::Incoming,
    wire::sent::{self, check_count, wrong},
};

/// The message of a send, checked. Paths in faults point into the request.
pub(super) fn decode_message(message: pb::Message) -> Result<Incoming, Fault> {
    check_role(decode_role(&message))?;
    check_count(message.content.len())?;
    let parts =
        message.content.into_iter().enumerate().map(|(index, sent)| decode_part(index, sent));
    let mut metadata = parse_metadata(message.metadata, "metadata")?;
    let references = take_references(&mut metadata);
    sent::Sent {
        parts: parts.collect::<Result<_, _>>()?,
        message_id: message.message_id,
        context_id: given(message.context_id),
        task_id: given(message.task_id),
        metadata,
        references,
        extensions: message.extensions,
    }
    .incoming()
}

fn decode_part(index: usize, part: pb::Part) -> Result<Part, Fault> {
    let place = |field: &str| format!("content/{index}{field}");
    let mut metadata = parse_metadata(part.metadata, &place("/metadata"))?;
    let content = match part.part {
        Some(Sent::Text(text)) => Content::Text(text),
        Some(Sent::Data(data)) => {
            let data = value::object(data.data.unwrap_or_default())
                .map_err(|why| not_json_error(&place("/data"), why))?;
            Content::Data(unwrapped(data.into(), &mut metadata))
        }
        Some(Sent::File(file)) => {
            let source = match file.file {
                Some(Source::FileWithBytes(bytes)) => FileSource::Base64(STANDARD.encode(bytes)),
                Some(Source::FileWithUri(uri)) if !uri.is_empty() => FileSource::Uri(uri),
                Some(Source::FileWithUri(_)) | None => {
                    let why = "a file has either bytes or a uri";
                    return Err(wrong(&place("/file"), why, "send exactly one of the two"));
                }
            };
            let (name, mime_type) = (given(file.name), given(file.mime_type));
            Content::File(File { name, mime_type, source })
        }
        None => {
            let why = "a part is a `text`, a `file` or `data`";
            return Err(wrong(&place(""), why, "send one of the three"));
        }
    };
    Ok(Part { content, metadata })
}
