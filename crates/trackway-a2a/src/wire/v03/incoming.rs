//! From what was sent to what the domain knows: messages, parts, files.

use trackway_domain::{
    Content, File, FileSource, Message, MessageId, Object, Part, QuestionId, Role, SessionId,
};

use super::params;
use crate::{fault::Fault, ops::Incoming, wire::v03::message::DATA_PART_COMPAT};

/// Most parts of one message. A part costs more in memory than on the wire; a thousand is far beyond
/// what a message of a conversation holds.
const PARTS_MAX: usize = 1_000;

/// The message of a send, checked. Paths in faults point into the request.
pub(crate) fn incoming(sent: params::Message) -> Result<Incoming, Fault> {
    if let Some(kind) = sent.kind.filter(|kind| kind != "message") {
        return Err(wrong("kind", &format!("{kind:?} is not \"message\""), "send \"message\""));
    }
    match sent.role.as_str() {
        "user" => {}
        "agent" => {
            let next = "send \"user\": what a client says has that role";
            return Err(wrong("role", "a client cannot speak as the agent", next));
        }
        role => {
            return Err(wrong("role", &format!("{role:?} is not a role"), "send \"user\""));
        }
    }
    let id = MessageId::new(&sent.message_id).map_err(|bad| {
        wrong("messageId", &bad.to_string(), "send a fresh UUID for each message")
    })?;
    let session = sent.context_id.as_deref().map(SessionId::new).transpose().map_err(|bad| {
        wrong("contextId", &bad.to_string(), "send the contextId of an earlier task, or none")
    })?;
    let metadata = sent.metadata.unwrap_or_default();
    let question = question(&metadata)?;
    let message = Message {
        id,
        role: Role::User,
        parts: parts(sent.parts)?,
        metadata,
        references: sent.reference_task_ids.unwrap_or_default(),
        extensions: sent.extensions.unwrap_or_default(),
    };
    Ok(Incoming { message, run: sent.task_id, session, question })
}

fn question(metadata: &Object) -> Result<Option<QuestionId>, Fault> {
    let Some(value) = metadata.get("questionId").filter(|value| !value.is_null()) else {
        return Ok(None);
    };
    let parsed = match value.as_str() {
        Some(text) => text.parse().map_err(|bad: trackway_domain::BadId| bad.to_string()),
        None => Err("a question id is a string".to_owned()),
    };
    parsed.map(Some).map_err(|why| {
        let next = "repeat the questionId from the metadata of the question's message";
        wrong("metadata/questionId", &why, next)
    })
}

fn parts(sent: Vec<crate::wire::object::Object<params::Part>>) -> Result<Vec<Part>, Fault> {
    if sent.is_empty() {
        return Err(wrong("parts", "a message has at least one part", "send a text or data part"));
    }
    if sent.len() > PARTS_MAX {
        let why = format!("{} parts; at most {PARTS_MAX} are taken", sent.len());
        return Err(wrong("parts", &why, "join parts, or send several messages"));
    }
    sent.into_iter().enumerate().map(|(index, sent)| part(index, sent.0)).collect()
}

fn part(index: usize, sent: params::Part) -> Result<Part, Fault> {
    let lacks = |field: &str| {
        let place = format!("parts/{index}");
        let why = format!("a part of this kind needs the field `{field}`");
        wrong(&place, &why, "add the field, or send the kind that fits the fields")
    };
    let mut metadata = sent.metadata.unwrap_or_default();
    let content = match sent.kind.as_deref() {
        Some("text") => Content::Text(sent.text.ok_or_else(|| lacks("text"))?),
        Some("data") => {
            let data = sent.data.ok_or_else(|| lacks("data"))?;
            Content::Data(unwrapped(data, &mut metadata))
        }
        Some("file") => Content::File(file(index, sent.file.ok_or_else(|| lacks("file"))?.0)?),
        Some(kind) => {
            let place = format!("parts/{index}/kind");
            let why = format!("{kind:?} is not a kind of part");
            return Err(wrong(&place, &why, "send \"text\", \"data\" or \"file\""));
        }
        None => {
            let place = format!("parts/{index}");
            let next = "add `kind`: \"text\", \"data\" or \"file\"";
            return Err(wrong(&place, "a part needs the field `kind`", next));
        }
    };
    Ok(Part { content, metadata })
}

/// Data of 0.3 is an object; the SDKs carry any other value as `{"value": …}` with a mark.
fn unwrapped(data: serde_json::Value, metadata: &mut Object) -> serde_json::Value {
    let marked = metadata.get(DATA_PART_COMPAT).is_some_and(|mark| mark == true);
    match data {
        serde_json::Value::Object(mut fields) if marked && fields.contains_key("value") => {
            metadata.remove(DATA_PART_COMPAT);
            fields.remove("value").unwrap_or_default()
        }
        data => data,
    }
}

fn file(index: usize, sent: params::File) -> Result<File, Fault> {
    let place = |field: &str| format!("parts/{index}/file{field}");
    let source = match (sent.bytes, sent.uri) {
        (Some(bytes), None) if is_base64(&bytes) => FileSource::Base64(bytes),
        (Some(_), None) => {
            let next = "encode the file's bytes with the standard base64 alphabet";
            return Err(wrong(&place("/bytes"), "this is not base64", next));
        }
        (None, Some(uri)) if !uri.is_empty() => FileSource::Uri(uri),
        (None, Some(_)) => {
            return Err(wrong(&place("/uri"), "it is empty", "send the file's address"));
        }
        (Some(_), Some(_)) | (None, None) => {
            let why = "a file has either `bytes` or `uri`";
            return Err(wrong(&place(""), why, "send exactly one of the two"));
        }
    };
    Ok(File { name: sent.name, mime_type: sent.mime_type, source })
}

/// Whether the text is made of the standard alphabet, with its padding or without.
fn is_base64(text: &str) -> bool {
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

fn wrong(place: &str, why: &str, next: &'static str) -> Fault {
    Fault::param(format!("/params/message/{place}"), format!("message/{place}: {why}"), next)
}

#[cfg(test)]
mod tests;
