//! The projection from events to the index of artifacts: what a run yields and what a user attaches to a message
//! become versions of artifacts in the session.

mod artifact_content;
mod media_type;

use trackway_domain::{
    Artifact, ArtifactChunk, ArtifactEntrySource, ArtifactFilename, ArtifactId, ArtifactIndexEntry, Caller,
    Event, File, FileSource, Message, MessagePartContent, MessageRole, Part, Seq, SessionId,
};

pub use self::media_type::{media_type_from_content, media_type_from_filename};

use self::{
    artifact_content::{content_size_bytes, file_size_bytes},
    media_type::media_type_of_parts,
};

/// Artifacts with these ids, or with ids that begin so, are the conversation itself: the model's text and its
/// calls.
const CONVERSATION_IDS: [&str; 2] = ["text-response", "reasoning"];
const CONVERSATION_PREFIXES: [&str; 2] = ["tool-call-", "tool-result-"];

/// Whether an artifact is a part of the conversation rather than a result of it.
pub fn is_conversation_artifact_id(id: &str) -> bool {
    CONVERSATION_IDS.contains(&id) || CONVERSATION_PREFIXES.iter().any(|prefix| id.starts_with(prefix))
}

/// What the events after `expected` of a run's log add to the index.
pub fn artifact_index_entries(
    owner: &Caller,
    session: &SessionId,
    expected: Seq,
    events: &[Event],
) -> Vec<ArtifactIndexEntry> {
    let mut entries = Vec::new();
    for (event, seq) in events.iter().zip(expected + 1..) {
        let entry = |filename, media_type, size_bytes, source| ArtifactIndexEntry {
            owner: owner.clone(),
            session: session.clone(),
            seq,
            filename,
            media_type,
            size_bytes,
            source,
        };
        if let Event::Artifact { chunk, .. } = event
            && !is_conversation_artifact_id(chunk.artifact.id.as_str())
        {
            let ArtifactChunk { artifact: Artifact { id, name, parts, .. }, append, .. } = chunk;
            let filename = yielded_filename(id, name.as_deref());
            let media_type = media_type_of_parts(&filename, parts);
            let source = ArtifactEntrySource::Yielded { artifact: id.clone(), grows: *append };
            entries.push(entry(filename, media_type, content_size_bytes(parts, *append), source));
        }
        for (part, file) in attached_files(event) {
            let filename = attachment_filename(part, file);
            let media_type = media_type_of_file(&filename, file);
            let source = ArtifactEntrySource::Attachment { part };
            entries.push(entry(filename, media_type, file_size_bytes(file), source));
        }
    }
    entries
}

/// The files that a user's message in this event has with their content, each with the number of its part. A file
/// that is only named by an address is not ours to keep.
pub fn attached_files(event: &Event) -> impl Iterator<Item = (u32, &File)> {
    let message = message_in_event(event).filter(|message| message.role == MessageRole::User);
    let parts = message.map(|message| &*message.parts).unwrap_or_default();
    (0..).zip(parts).filter_map(|(number, Part { content, .. })| match content {
        MessagePartContent::File(file) if matches!(file.source, FileSource::Base64(_)) => {
            Some((number, file))
        }
        MessagePartContent::File(_) | MessagePartContent::Text(_) | MessagePartContent::Data(_) => None,
    })
}

/// The name under which a yielded artifact is found: its own name, or its id. Where only the id is that of a file,
/// as in `risk.json` with the name "Risk analysis", the name is a title.
fn yielded_filename(id: &ArtifactId, name: Option<&str>) -> ArtifactFilename {
    let by_id = ArtifactFilename::from_text_lossy(id.as_str());
    let Some(by_name) = name.map(ArtifactFilename::from_text_lossy) else { return by_id };
    if by_name.extension().is_none() && by_id.extension().is_some() { by_id } else { by_name }
}

/// The name under which a file of a message is found. A file without a name is `attachment-1.png`, say; the number
/// counts the parts of the message from 1.
pub fn attachment_filename(part: u32, file: &File) -> ArtifactFilename {
    match file.name.as_deref().map(str::trim).filter(|name| !name.is_empty()) {
        Some(name) => ArtifactFilename::from_text_lossy(name),
        None => {
            let extension = file.mime_type.as_deref().map_or("bin", media_type::extension_of_media_type);
            ArtifactFilename::from_text_lossy(&format!("attachment-{}.{extension}", part + 1))
        }
    }
}

fn media_type_of_file(filename: &ArtifactFilename, file: &File) -> String {
    let known = || media_type_from_filename(filename).unwrap_or(media_type::BINARY);
    file.mime_type.clone().filter(|it| !it.trim().is_empty()).unwrap_or_else(|| known().to_owned())
}

/// The message of a caller that an event records.
fn message_in_event(event: &Event) -> Option<&Message> {
    match event {
        Event::Submitted(submission) => submission.message.as_ref(),
        Event::Refused { request, .. } | Event::Resumed { request, .. } => Some(&request.message),
        Event::LateAnswer(late) => Some(&late.request.message),
        Event::Noted { message } => Some(message),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
