//! From protobuf to the domain: messages and parts.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use trackway_domain::{Content, File, FileSource, Part};

use super::{encode::decode_role, given};
use crate::{
    fault::Fault,
    grpc::{
        pb::v1::{self as pb, part::Content as Sent},
        shared::{check_role, not_json_error, parse_metadata},
        value,
    },
    ops::Incoming,
    wire::sent::{self, check_count, wrong},
};

/// The message of a send, checked. Paths in faults point into the request.
pub(super) fn decode_message(message: pb::Message) -> Result<Incoming, Fault> {
    check_role(decode_role(&message))?;
    check_count(message.parts.len())?;
    let parts = message.parts.into_iter().enumerate().map(|(index, sent)| decode_part(index, sent));
    sent::Sent {
        parts: parts.collect::<Result<_, _>>()?,
        message_id: message.message_id,
        context_id: given(message.context_id),
        task_id: given(message.task_id),
        metadata: parse_metadata(message.metadata, "metadata")?,
        references: message.reference_task_ids,
        extensions: message.extensions,
    }
    .incoming()
}

fn decode_part(index: usize, part: pb::Part) -> Result<Part, Fault> {
    let place = |field: &str| format!("parts/{index}{field}");
    let mut metadata = parse_metadata(part.metadata, &place("/metadata"))?;
    let (name, mime_type) = (given(part.filename), given(part.media_type));
    let content = match part.content {
        Some(Sent::Text(text)) => Content::Text(text),
        Some(Sent::Data(data)) => {
            Content::Data(value::json(data).map_err(|why| not_json_error(&place("/data"), why))?)
        }
        Some(Sent::Raw(bytes)) => {
            let source = FileSource::Base64(STANDARD.encode(bytes));
            return Ok(Part { content: Content::File(File { name, mime_type, source }), metadata });
        }
        Some(Sent::Url(url)) if !url.is_empty() => {
            let source = FileSource::Uri(url);
            return Ok(Part { content: Content::File(File { name, mime_type, source }), metadata });
        }
        Some(Sent::Url(_)) => {
            return Err(wrong(&place("/url"), "it is empty", "send the file's address"));
        }
        None => {
            let why = "a part has one of `text`, `raw`, `url` and `data`";
            return Err(wrong(&place(""), why, "send one of the four"));
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
