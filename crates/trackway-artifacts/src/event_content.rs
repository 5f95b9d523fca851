//! The bytes of artifacts whose content is in the events of a run.

use std::ops::RangeInclusive;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bytes::Bytes;
use trackway_domain::{Artifact, ArtifactId, Event, File, FileSource, MessagePartContent, Part, RunId, Seq};
use trackway_engine::{attached_files, extend_artifact};
use trackway_ports::{Journal, StoredEvent};

use crate::ArtifactError;

/// Events that are read at a time.
/// Limit (Artifacts): events that are read at a time to collect the content of an artifact.
const EVENTS_READ_MAX: usize = 500;

/// What a run yielded under that id in a range of its log; `None` if the log no longer has it.
pub(crate) async fn load_yielded_content(
    journal: &dyn Journal,
    run: RunId,
    id: &ArtifactId,
    range: RangeInclusive<Seq>,
) -> Result<Option<Bytes>, ArtifactError> {
    let mut artifact: Option<Artifact> = None;
    let mut after = range.start().saturating_sub(1);
    while after < *range.end() {
        let page = journal.list_events(run, after, EVENTS_READ_MAX).await?;
        let Some(newest) = page.last() else { break };
        after = newest.seq;
        for StoredEvent { event, .. } in page.into_iter().take_while(|stored| stored.seq <= *range.end()) {
            let Event::Artifact { chunk, .. } = event else { continue };
            match &mut artifact {
                _ if chunk.artifact.id != *id => {}
                Some(artifact) if chunk.append => extend_artifact(artifact, chunk),
                artifact => *artifact = Some(chunk.artifact),
            }
        }
    }
    Ok(artifact.map(|artifact| artifact_bytes(&artifact.parts).into()))
}

/// The file that came with a message; `None` if the log no longer has it.
pub(crate) async fn load_attached_content(
    journal: &dyn Journal,
    run: RunId,
    seq: Seq,
    part: u32,
) -> Result<Option<Bytes>, ArtifactError> {
    let page = journal.list_events(run, seq.saturating_sub(1), 1).await?;
    let Some(stored) = page.first().filter(|stored| stored.seq == seq) else { return Ok(None) };
    let mut files = attached_files(&stored.event);
    let file = files.find(|(number, _)| *number == part).map(|(_, file)| file);
    Ok(file.and_then(file_bytes).map(Bytes::from))
}

/// The parts of an artifact as the bytes of a file: texts as they are, files as their bytes, and data as JSON, on a
/// line of its own if something precedes it.
fn artifact_bytes(parts: &[Part]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        match &part.content {
            MessagePartContent::Text(text) => bytes.extend_from_slice(text.as_bytes()),
            MessagePartContent::Data(value) => {
                bytes.extend_from_slice(if index > 0 { b"\n" } else { b"" });
                bytes.extend_from_slice(value.to_string().as_bytes());
            }
            MessagePartContent::File(file) => bytes.extend(file_bytes(file).unwrap_or_default()),
        }
    }
    bytes
}

/// `None` if only the file's address is known, or its bytes are not base64.
fn file_bytes(file: &File) -> Option<Vec<u8>> {
    match &file.source {
        FileSource::Base64(text) => BASE64_STANDARD.decode(text).ok(),
        FileSource::Uri(_) => None,
    }
}
