//! Artifacts that a message is invoked with: where their content is, and how it becomes the input of a
//! workflow or files of an agent's turn.
//!
//! Everything is read before the message is accepted, and recorded with it. A run therefore never reads an
//! artifact again, also not after a crash.

use base64::{
    Engine as _,
    alphabet::STANDARD,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use bytes::Bytes;
use serde_json::Value;
use trackway_artifacts::{ArtifactError, ArtifactLookup, content_as_value, media_type_from_content};
use trackway_domain::{
    ArtifactFilename, ArtifactReference, ErrorCode, File, FileSource, MessagePartContent, Part, Permission,
};
use trackway_engine::input_from_parts;
use trackway_ports::RefusedAction;
use trackway_runtime::{Error, ProgramKind};

use super::{AddressedAgent, IncomingMessage};
use crate::{
    error::{A2aError, A2aErrorKind},
    file_fetcher::FileFetchError,
    media_type,
};

/// Contents that are parsed on a serving thread. A larger one would delay other requests.
/// Limit (A2A): artifact that is parsed on a serving thread.
const PARSED_INLINE_BYTES_MAX: usize = 32 * 1024;

/// What a type says that says nothing: the name of the file decides then.
const UNKNOWN_TYPES: [&str; 2] = ["application/octet-stream", "binary/octet-stream"];

/// How a message starts a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct InvocationOptions {
    /// They hold the input; none if it is in the message itself.
    pub(crate) artifacts: Vec<ArtifactReference>,
    pub(crate) session: SessionBehavior,
}

/// In which session a run starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum SessionBehavior {
    /// In the session that the message names.
    #[default]
    Persistent,
    /// In a session of its own, which is linked to the one that the message names.
    RunBased,
}

impl InvocationOptions {
    /// Whether the message can only start a run, and answers none.
    pub(crate) fn starts_run(&self) -> bool {
        !self.artifacts.is_empty() || self.session == SessionBehavior::RunBased
    }
}

/// What a run gets from its message.
#[derive(Debug, Default)]
pub(super) struct ResolvedInput {
    pub(super) input: Value,
    /// Contents of the artifacts, for an agent.
    pub(super) files: Vec<File>,
}

/// An artifact in memory.
#[derive(Debug)]
struct LoadedArtifact {
    filename: ArtifactFilename,
    media_type: String,
    bytes: Bytes,
}

impl AddressedAgent<'_> {
    /// The input of the run that a message starts.
    pub(super) async fn resolve_input(&self, incoming: &IncomingMessage) -> Result<ResolvedInput, A2aError> {
        let schema = &self.program_info().input_schema;
        let from_parts = || {
            input_from_parts(schema, &incoming.message.parts)
                .map_err(|problem| A2aError::invalid_input(vec![*problem], schema.clone()))
        };
        let references = &incoming.invocation.artifacts;
        match (self.program_info().kind, references.as_slice()) {
            (_, []) => Ok(ResolvedInput { input: from_parts()?, files: Vec::new() }),
            (ProgramKind::Workflow, [reference]) => {
                let artifact = self.load_artifact(0, reference, incoming).await?;
                Ok(ResolvedInput { input: artifact.into_input(schema).await?, files: Vec::new() })
            }
            (ProgramKind::Workflow, _) => Err(A2aError::invalid_param_error(
                reference_path(1),
                "a workflow has one input, and the message names several artifacts",
                "send one artifact; join the files first if all of them are needed",
            )),
            (ProgramKind::Agent, references) => {
                let mut files = Vec::with_capacity(references.len());
                let mut bytes = 0;
                for (index, reference) in references.iter().enumerate() {
                    let artifact = self.load_artifact(index, reference, incoming).await?;
                    bytes += artifact.bytes.len();
                    self.check_artifact_size(index, &artifact.filename, bytes)?;
                    files.push(artifact.into_file());
                }
                Ok(ResolvedInput { input: from_parts()?, files })
            }
        }
    }

    /// The content of one artifact: from the message's own file of that name, otherwise from the artifacts
    /// that the caller may read.
    async fn load_artifact(
        &self,
        index: usize,
        reference: &ArtifactReference,
        incoming: &IncomingMessage,
    ) -> Result<LoadedArtifact, A2aError> {
        match find_file_part(&incoming.message.parts, &reference.filename)? {
            Some((part, file)) => self.load_file_part(index, part, &reference.filename, file).await,
            None => self.load_own_artifact(index, reference, incoming).await,
        }
    }

    async fn load_file_part(
        &self,
        index: usize,
        part: usize,
        filename: &ArtifactFilename,
        file: &File,
    ) -> Result<LoadedArtifact, A2aError> {
        let mut media_type = file.mime_type.clone();
        let bytes = match &file.source {
            FileSource::Base64(text) => decode_base64(text)
                .ok_or_else(|| file_part_error(part, filename, "its content is not base64"))?,
            FileSource::Uri(url) => {
                let Some(fetcher) = &self.options.files else {
                    return Err(file_part_error(part, filename, "this server reads no addresses"));
                };
                let fetched = fetcher.fetch_file(url, self.options.body_bytes_max).await;
                let fetched = fetched.map_err(|error| fetch_error(index, part, filename, &error))?;
                // Servers send tables and YAML as plain text too; the name of the file says more then.
                let served = fetched.media_type;
                let served = served.filter(|named| media_type::media_type_essence(named) != "text/plain");
                media_type = media_type.filter(|named| is_telling_type(named)).or(served);
                fetched.bytes
            }
        };
        self.check_artifact_size(index, filename, bytes.len())?;
        Ok(LoadedArtifact::new(filename.clone(), media_type, bytes))
    }

    /// What the caller may not read is missing for it, in the same words.
    async fn load_own_artifact(
        &self,
        index: usize,
        reference: &ArtifactReference,
        incoming: &IncomingMessage,
    ) -> Result<LoadedArtifact, A2aError> {
        let ArtifactReference { filename, version } = reference;
        let unknown = || ArtifactError::Unknown { filename: filename.clone(), version: *version };
        let permission = Permission::ReadArtifacts;
        if !self.identity.scopes.allows_action(&permission) {
            let reason = format!("needs the scope {}", permission.needed_scope());
            let refused =
                RefusedAction { action: permission.action(), object: filename.as_str(), reason: &reason };
            self.identity.record_refusal(refused);
            return Err(artifact_error(index, unknown()));
        }
        let Some(artifacts) = &self.options.artifacts else {
            return Err(artifact_error(index, unknown()));
        };
        let lookup = ArtifactLookup {
            session: incoming.session.clone(),
            version: *version,
            ..ArtifactLookup::new(filename.clone())
        };
        let found =
            artifacts.find(&self.access, &lookup).await.map_err(|error| artifact_error(index, error))?;
        let size = usize::try_from(found.size_bytes).unwrap_or(usize::MAX);
        self.check_artifact_size(index, filename, size)?;
        let bytes = artifacts.read(&found).await.map_err(|error| artifact_error(index, error))?;
        Ok(LoadedArtifact::new(filename.clone(), Some(found.media_type), bytes))
    }

    /// An artifact becomes part of the run's log, just as the body of a request does, so it has the same
    /// limit.
    fn check_artifact_size(
        &self,
        index: usize,
        filename: &ArtifactFilename,
        bytes: usize,
    ) -> Result<(), A2aError> {
        let bytes_max = self.options.body_bytes_max;
        if bytes <= bytes_max { Ok(()) } else { Err(too_large_error(index, filename, bytes_max)) }
    }
}

impl LoadedArtifact {
    fn new(filename: ArtifactFilename, media_type: Option<String>, bytes: Bytes) -> Self {
        let media_type = media_type
            .filter(|named| is_telling_type(named))
            .unwrap_or_else(|| media_type_from_content(&filename, &bytes).to_owned());
        Self { filename, media_type, bytes }
    }

    /// The content by its type, read as a message with this content would be.
    async fn into_input(self, schema: &Value) -> Result<Value, A2aError> {
        let Self { filename, media_type, bytes } = self;
        let parse = {
            let (filename, media_type, bytes) = (filename.clone(), media_type.clone(), bytes.clone());
            move || content_as_value(&media_type, filename.as_str(), &bytes)
        };
        let parsed = if bytes.len() <= PARSED_INLINE_BYTES_MAX {
            parse()
        } else {
            let parsed = tokio::task::spawn_blocking(parse).await;
            parsed
                .map_err(|error| Error::Internal { reason: format!("an artifact was not parsed: {error}") })?
        };
        let value = parsed.map_err(|error| {
            let message = format!("the artifact {:?} cannot be used: {error}", filename.as_str());
            let next = "correct the file, or give it the type and the name that it has";
            A2aError::new(A2aErrorKind::InvalidParams, ErrorCode::InvalidInput, message, next)
                .with_request_path(reference_path(0))
        })?;
        let is_table = media_type::media_type_essence(&media_type) == "text/csv"
            || filename.extension().is_some_and(|extension| extension == "csv");
        if is_table && let Some(input) = text_input_from_table(schema, &bytes) {
            return Ok(input);
        }
        let part = match value {
            Value::String(text) => Part::text(text),
            value => Part::data(value),
        };
        input_from_parts(schema, &[part]).map_err(|problem| {
            A2aError::invalid_input(vec![*problem], schema.clone()).about_artifact(&filename)
        })
    }

    fn into_file(self) -> File {
        let source = FileSource::Base64(BASE64.encode(&self.bytes));
        File { name: Some(self.filename.as_str().to_owned()), mime_type: Some(self.media_type), source }
    }
}

impl A2aError {
    /// Says in the message which artifact has the input that does not fit.
    pub(super) fn about_artifact(mut self, filename: &ArtifactFilename) -> Self {
        self.message = format!("the artifact {:?} is not a valid input: {}", filename.as_str(), self.message);
        self
    }
}

/// A table as text, for a workflow that takes a text and knows no rows.
fn text_input_from_table(schema: &Value, bytes: &[u8]) -> Option<Value> {
    let takes_rows = schema.get("properties").is_some_and(|known| known.get("rows").is_some());
    let is_text = schema.get("type").is_some_and(|kind| kind == "string");
    let text = str::from_utf8(bytes).ok().filter(|_| !takes_rows)?;
    let input = input_from_parts(schema, &[Part::text(text)]).ok()?;
    // Any other property is not meant to hold a whole file.
    (is_text || input.get("text").is_some()).then_some(input)
}

/// The file of that name in the message, and the number of its part.
fn find_file_part<'a>(
    parts: &'a [Part],
    filename: &ArtifactFilename,
) -> Result<Option<(usize, &'a File)>, A2aError> {
    let mut found = parts.iter().enumerate().filter_map(|(index, part)| match &part.content {
        MessagePartContent::File(file) if is_named(file, filename) => Some((index, file)),
        MessagePartContent::File(_) | MessagePartContent::Text(_) | MessagePartContent::Data(_) => None,
    });
    let first = found.next();
    match found.next() {
        None => Ok(first),
        Some((part, _)) => Err(file_part_error(part, filename, "another part has the same name")),
    }
}

/// Whether a file is the artifact of that name.
pub(super) fn is_named(file: &File, filename: &ArtifactFilename) -> bool {
    file.name.as_deref().is_some_and(|name| name.trim() == filename.as_str())
}

/// The type says more than that these are bytes.
fn is_telling_type(media_type: &str) -> bool {
    let essence = media_type::media_type_essence(media_type);
    !essence.is_empty() && !UNKNOWN_TYPES.contains(&essence.as_str())
}

/// Parts of messages may have padding or not.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

fn decode_base64(text: &str) -> Option<Bytes> {
    BASE64.decode(text).ok().map(Bytes::from)
}

fn reference_path(index: usize) -> String {
    format!("/params/message/metadata/invoked_with_artifacts/{index}")
}

fn file_part_error(part: usize, filename: &ArtifactFilename, why: &str) -> A2aError {
    A2aError::invalid_param_error(
        format!("/params/message/parts/{part}"),
        format!("the artifact {:?} cannot be read: {why}", filename.as_str()),
        "send the content in the part, or an address that this server may read",
    )
}

fn fetch_error(index: usize, part: usize, filename: &ArtifactFilename, error: &FileFetchError) -> A2aError {
    match error {
        FileFetchError::TooLarge { bytes_max } => too_large_error(index, filename, *bytes_max),
        FileFetchError::Refused { reason } => file_part_error(part, filename, reason),
        FileFetchError::Unavailable { reason } => A2aError::new(
            A2aErrorKind::Unavailable,
            ErrorCode::PeerUnavailable,
            format!("the artifact {:?} cannot be read: {reason}", filename.as_str()),
            "send the same message, with the same messageId, again in a moment",
        )
        .with_request_path(format!("/params/message/parts/{part}")),
    }
}

fn too_large_error(index: usize, filename: &ArtifactFilename, bytes_max: usize) -> A2aError {
    A2aError::new(
        A2aErrorKind::InvalidParams,
        ErrorCode::TooLarge,
        format!("the artifact {:?} is larger than {bytes_max} bytes", filename.as_str()),
        "send a smaller file; the operator can raise `[server] body_max_bytes`",
    )
    .with_request_path(reference_path(index))
}

fn artifact_error(index: usize, error: ArtifactError) -> A2aError {
    let (kind, code, message) = (A2aErrorKind::InvalidParams, error.code(), error.to_string());
    match error {
        ArtifactError::Unavailable { reason } => Error::Unavailable { reason }.into(),
        ArtifactError::Store { reason } => Error::Store { reason }.into(),
        ArtifactError::Stopping => Error::Stopping.into(),
        ArtifactError::Damaged { .. } => {
            let next = "save the artifact again, or send it as a file part of the same name";
            A2aError::new(A2aErrorKind::Internal, code, message, next)
        }
        ArtifactError::Unknown { .. }
        | ArtifactError::UnknownRun { .. }
        | ArtifactError::Exists
        | ArtifactError::TooLarge { .. }
        | ArtifactError::FieldTooLarge { .. }
        | ArtifactError::QuotaExceeded { .. } => {
            let next = "save the artifact first, or send it as a file part of the same name";
            A2aError::new(kind, code, message, next).with_request_path(reference_path(index))
        }
    }
}
