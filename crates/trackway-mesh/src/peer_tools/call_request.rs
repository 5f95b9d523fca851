//! The message of a call: what was given, as artifacts and parts.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Value, json};
use trackway_a2a_client::{AddressedMessage, File, FileSource, Message, MessageId, MessageRole, Part};
use trackway_artifacts::{ArtifactError, ArtifactLookup, NewArtifact, StoredArtifact};
use trackway_domain::{Access, ArtifactFilename, ArtifactScope, Object, ValidationError, normalize_integers};
use trackway_runtime::ToolCallContext;

use super::{
    PeerCallServices,
    agent_arguments::AgentInput,
    call_note::PeerCallNote,
    call_result::CallResult,
    derived_uuid,
    peer_tool::PeerArguments,
    workflow_arguments::{INPUT_ARTIFACT, WorkflowInput},
};
use crate::Peer;

/// Metadata that gives a call a session of its own (I7).
const SESSION_BEHAVIOR: &str = "sessionBehavior";
const RUN_BASED: &str = "RUN_BASED";
/// Metadata that names the artifacts of a call (I7).
const INVOKED_WITH_ARTIFACTS: &str = "invoked_with_artifacts";

/// Largest artifact that travels inside the message when this node has no address for references.
/// Limit (Mesh): artifact that travels inside a message, in bytes.
const INLINE_ARTIFACT_BYTES_MAX: u64 = 1024 * 1024;

/// A call that was checked and can be sent.
#[derive(Debug)]
pub(super) struct CallRequest {
    pub(super) message: AddressedMessage,
    /// Parameters beside an artifact.
    pub(super) ignored: Vec<String>,
}

impl CallRequest {
    /// The request of an earlier process, whose task is not known.
    pub(super) fn from_note(note: PeerCallNote) -> Option<Self> {
        Some(Self { message: AddressedMessage::new(note.message?), ignored: note.ignored })
    }

    /// Checks the arguments, finds or saves the artifacts, and writes the message.
    pub(super) async fn prepare(
        services: &PeerCallServices,
        peer: &Peer,
        arguments: &PeerArguments,
        mut given: Value,
        call: &ToolCallContext,
    ) -> Result<Self, CallResult> {
        normalize_integers(&mut given);
        let writer = MessageWriter { services, peer: peer.name.as_str(), call };
        match arguments {
            PeerArguments::Workflow(arguments) => {
                let input = arguments.parse(&services.schemas, given).map_err(CallResult::invalid_input)?;
                writer.write_workflow_call(input).await
            }
            PeerArguments::Agent(arguments) => {
                let input = arguments.parse(&services.schemas, given).map_err(CallResult::invalid_input)?;
                writer.write_agent_call(input).await
            }
        }
    }
}

struct MessageWriter<'a> {
    services: &'a PeerCallServices,
    peer: &'a str,
    call: &'a ToolCallContext,
}

impl MessageWriter<'_> {
    async fn write_workflow_call(&self, input: WorkflowInput) -> Result<CallRequest, CallResult> {
        let (artifact, ignored) = match input {
            WorkflowInput::Artifact { filename, ignored } => {
                (self.find_artifact(&filename, &format!("/{INPUT_ARTIFACT}")).await?, ignored)
            }
            WorkflowInput::Parameters(input) => (self.save_parameters(&input).await?, Vec::new()),
        };
        let mut message = self.message(Vec::new());
        message.metadata.insert(SESSION_BEHAVIOR.to_owned(), RUN_BASED.into());
        self.attach(&mut message, &[artifact]).await?;
        Ok(CallRequest { message: AddressedMessage::new(message), ignored })
    }

    async fn write_agent_call(&self, input: AgentInput) -> Result<CallRequest, CallResult> {
        let message = match input {
            AgentInput::Data(data) => self.message(vec![Part::data(data)]),
            AgentInput::Message { text, artifacts } => {
                let mut found = Vec::with_capacity(artifacts.len());
                for (index, filename) in artifacts.iter().enumerate() {
                    found.push(self.find_artifact(filename, &format!("/artifacts/{index}")).await?);
                }
                let mut message = self.message(vec![Part::text(text)]);
                self.attach(&mut message, &found).await?;
                message
            }
        };
        Ok(CallRequest { message: AddressedMessage::new(message), ignored: Vec::new() })
    }

    fn message(&self, parts: Vec<Part>) -> Message {
        let id = derived_uuid(&self.call.attempt.idempotency_key, "message");
        // A UUID is always an id.
        let id = MessageId::new(&id).unwrap_or_else(|_| unreachable!("a UUID is a message id"));
        Message::new(id, MessageRole::User, parts)
    }

    /// An artifact that the caller may read, at its newest version, which is thereby pinned.
    async fn find_artifact(&self, name: &str, path: &str) -> Result<StoredArtifact, CallResult> {
        let invalid = |message: String| {
            CallResult::invalid_input(vec![ValidationError {
                path: path.to_owned(),
                code: "unknown-artifact".to_owned(),
                message,
                expected: json!("the filename of an existing artifact"),
                got: Some(trackway_domain::shorten_value(&json!(name))),
                hint: Some("use the filename of an attachment or of an earlier result".to_owned()),
            }])
        };
        let filename = ArtifactFilename::new(name).map_err(|error| invalid(error.to_string()))?;
        let lookup = ArtifactLookup {
            run: self.call.run_id(),
            session: Some(self.call.session.clone()),
            ..ArtifactLookup::new(filename)
        };
        match self.services.artifacts.find(&self.access(), &lookup).await {
            Ok(artifact) => Ok(artifact),
            Err(error @ ArtifactError::Unknown { .. }) => Err(invalid(error.to_string())),
            Err(error) => Err(CallResult::error(format!("{name} cannot be read: {error}"))),
        }
    }

    /// The parameters as an artifact of the session (I6). A repetition is the same version.
    async fn save_parameters(&self, input: &Value) -> Result<StoredArtifact, CallResult> {
        let uuid = derived_uuid(&self.call.attempt.idempotency_key, "input");
        let filename = ArtifactFilename::from_text_lossy(&format!("workflow_input_{uuid}.json"));
        let scope = ArtifactScope::Session(self.call.session.clone());
        let new = NewArtifact {
            media_type: Some("application/json".to_owned()),
            metadata: Object::from_iter([("peer".to_owned(), self.peer.into())]),
            run: self.call.run_id(),
            request_id: Some(uuid),
            ..NewArtifact::new(filename, scope, input.to_string())
        };
        let saved = self.services.artifacts.save(&self.access(), new).await;
        saved.map_err(|error| {
            CallResult::error(format!("The input cannot be saved: {error}. Nothing was called."))
        })
    }

    /// Adds the references to the metadata (I7), and one file part for each artifact.
    async fn attach(&self, message: &mut Message, artifacts: &[StoredArtifact]) -> Result<(), CallResult> {
        let mut references = Vec::with_capacity(artifacts.len());
        for artifact in artifacts {
            references.push(json!({ "filename": artifact.filename, "version": artifact.version }));
            message.parts.push(Part::file(File {
                name: Some(artifact.filename.as_str().to_owned()),
                mime_type: Some(artifact.media_type.clone()),
                source: self.file_source(artifact).await?,
            }));
        }
        if !references.is_empty() {
            message.metadata.insert(INVOKED_WITH_ARTIFACTS.to_owned(), Value::Array(references));
        }
        Ok(())
    }

    /// A signed address on this node; the content itself if this node has no address and it is small.
    async fn file_source(&self, artifact: &StoredArtifact) -> Result<FileSource, CallResult> {
        if let Some(url) = self.services.references.sign_artifact_url(artifact).await {
            return Ok(FileSource::Uri(url));
        }
        let name = &artifact.filename;
        if artifact.size_bytes > INLINE_ARTIFACT_BYTES_MAX {
            return Err(CallResult::error(format!(
                "{name} is too large to be sent inside a message, and this server has no address from which \
                 the peer could read it: its operator can set `[server] public_url`. Nothing was called."
            )));
        }
        let content = self.services.artifacts.read(artifact).await;
        let content =
            content.map_err(|error| CallResult::error(format!("{name} cannot be read: {error}")))?;
        Ok(FileSource::Base64(BASE64_STANDARD.encode(content)))
    }

    fn access(&self) -> Access {
        Access::own_only(self.call.caller.clone())
    }
}
