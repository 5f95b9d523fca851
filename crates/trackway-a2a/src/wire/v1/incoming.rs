//! From requests to the domain: messages and parts.

use trackway_a2a_wire::{NotOneContent, PartV1};
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

fn part(index: usize, sent: PartV1) -> Result<Part, Fault> {
    let part = sent.part().map_err(|NotOneContent| {
        let why = "a part has exactly one of `text`, `raw`, `url` and `data`";
        wrong(&format!("parts/{index}"), why, "send one of the four")
    })?;
    match &part.content {
        Content::File(File { source: FileSource::Base64(raw), .. }) if !is_base64(raw) => {
            let next = "encode the bytes with the standard base64 alphabet";
            Err(wrong(&format!("parts/{index}/raw"), "this is not base64", next))
        }
        Content::File(File { source: FileSource::Uri(url), .. }) if url.is_empty() => {
            let next = "send the file's address";
            Err(wrong(&format!("parts/{index}/url"), "it is empty", next))
        }
        _ => Ok(part),
    }
}

#[cfg(test)]
mod tests;
