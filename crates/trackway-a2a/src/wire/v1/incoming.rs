//! From what was sent to what the domain knows: messages and parts.

use trackway_domain::{Content, File, FileSource, Part};

use super::{params, push::given};
use crate::{
    fault::Fault,
    ops::Incoming,
    wire::sent::{Sent, check_count, is_base64, wrong},
};

/// The message of a send, checked. Paths in faults point into the request.
pub(super) fn incoming(sent: params::Message) -> Result<Incoming, Fault> {
    match sent.role.as_str() {
        "ROLE_USER" => {}
        "ROLE_AGENT" => {
            let next = "send \"ROLE_USER\": what a client says has that role";
            return Err(wrong("role", "a client cannot speak as the agent", next));
        }
        role => {
            return Err(wrong("role", &format!("{role:?} is not a role"), "send \"ROLE_USER\""));
        }
    }
    check_count(sent.parts.len())?;
    let parts = sent.parts.into_iter().enumerate().map(|(index, sent)| part(index, sent.0));
    Sent {
        parts: parts.collect::<Result<_, _>>()?,
        message_id: sent.message_id,
        context_id: given(sent.context_id),
        task_id: given(sent.task_id),
        metadata: sent.metadata.unwrap_or_default(),
        references: sent.reference_task_ids.unwrap_or_default(),
        extensions: sent.extensions.unwrap_or_default(),
    }
    .incoming()
}

fn part(index: usize, sent: params::Part) -> Result<Part, Fault> {
    let mut metadata = sent.metadata.unwrap_or_default();
    let (filename, media_type) = (given(sent.filename), given(sent.media_type));
    let file = |source| {
        let name = filename.clone();
        Content::File(File { name, mime_type: media_type.clone(), source })
    };
    let content = match (sent.text, sent.raw, sent.url, sent.data) {
        (Some(text), None, None, None) => Content::Text(text),
        (None, Some(raw), None, None) if is_base64(&raw) => file(FileSource::Base64(raw)),
        (None, Some(_), None, None) => {
            let next = "encode the bytes with the standard base64 alphabet";
            return Err(wrong(&format!("parts/{index}/raw"), "this is not base64", next));
        }
        (None, None, Some(url), None) if !url.is_empty() => file(FileSource::Uri(url)),
        (None, None, Some(_), None) => {
            let next = "send the file's address";
            return Err(wrong(&format!("parts/{index}/url"), "it is empty", next));
        }
        (None, None, None, Some(data)) => Content::Data(data),
        _ => {
            let why = "a part has exactly one of `text`, `raw`, `url` and `data`";
            return Err(wrong(&format!("parts/{index}"), why, "send one of the four"));
        }
    };
    if !matches!(content, Content::File(_)) {
        // The domain keeps these of text and data where 0.3 has them: among the metadata.
        let beside = [("mimeType", media_type), ("filename", filename)];
        for (name, value) in beside {
            if let Some(value) = value {
                metadata.insert(name.to_owned(), value.into());
            }
        }
    }
    Ok(Part { content, metadata })
}

#[cfg(test)]
mod tests;
