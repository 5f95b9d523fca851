//! Code that the protobuf messages of both generations share. The fields have the same names, but the
//! types are unrelated. A function that is the same for both is therefore a macro.

use prost_types::Struct;
use trackway_domain::{MessageRole, Object};

use super::protobuf_value::{self, NotJsonError};
use crate::{error::A2aError, wire::client_message::invalid_message_error};

/// Whether a client's message may have that role.
pub(super) fn check_client_role(role: Option<MessageRole>) -> Result<(), A2aError> {
    match role {
        Some(MessageRole::User) => Ok(()),
        Some(MessageRole::Agent) => {
            let next = "send ROLE_USER: what a client says has that role";
            Err(invalid_message_error("role", "a client cannot speak as the agent", next))
        }
        None => Err(invalid_message_error("role", "it is missing", "send ROLE_USER")),
    }
}

/// The metadata at a location in the message.
pub(super) fn parse_protobuf_metadata(sent: Option<Struct>, field: &str) -> Result<Object, A2aError> {
    let read = sent
        .map(protobuf_value::decode_protobuf_struct)
        .transpose()
        .map_err(|why| protobuf_not_json_error(field, why))?;
    Ok(read.unwrap_or_default())
}

pub(super) fn protobuf_not_json_error(field: &str, why: NotJsonError) -> A2aError {
    invalid_message_error(field, &why.to_string(), "send a value that JSON can express")
}

/// Tasks, updates and messages of one generation; `pb` is the generation's module at the place of use.
/// That module also needs `encode_message_with_ids` and `encode_part`, which differ. The arguments name
/// the variant of a payload that is a message, the message of a status, the state `canceled`, and the
/// marker of a last update if there is one.
macro_rules! task_encoding {
    (
        message: $message:ident,
        status: $status:ident,
        canceled: $canceled:ident $(,
        last: $last:ident)?
    ) => {
        use pb::{send_message_response as sent, stream_response::Payload};
        use trackway_domain::{Artifact, StateName, Timestamp};

        use crate::{
            operations::{AgentCallOutcome, HistoryLength, SendReply, TaskEvent, TaskEventContent, TaskSnapshot},
            wire::trackway_metadata::TrackwayMetadata,
        };

        /// The outcome of a send.
        pub(super) fn encode_send_response(outcome: &AgentCallOutcome) -> Option<pb::SendMessageResponse> {
            let AgentCallOutcome::Reply(reply, history) = outcome else { return None };
            let payload = match reply {
                SendReply::Task(snapshot) => {
                    sent::Payload::Task(encode_task(snapshot, &snapshot.task_ref(), *history))
                }
                SendReply::Message(answer) => sent::Payload::$message(encode_direct_message(answer)),
            };
            Some(pb::SendMessageResponse { payload: Some(payload) })
        }

        pub(super) fn encode_task_response(outcome: &AgentCallOutcome) -> Option<pb::Task> {
            let AgentCallOutcome::Task(snapshot, history) = outcome else { return None };
            Some(encode_task(snapshot, &snapshot.task_ref(), *history))
        }

        /// One item of a stream. Its metadata contains the position after which to continue: gRPC has
        /// no other field for it.
        pub(super) fn encode_stream_item(item: &TaskEvent, task_ref: &TaskRef, history: HistoryLength) -> pb::StreamResponse {
            let position = |metadata| protobuf_value::with_stream_position(metadata, item.pos);
            let payload = match &item.content {
                TaskEventContent::Snapshot(snapshot) => {
                    let mut task = encode_task(snapshot, task_ref, history);
                    task.metadata = position(task.metadata);
                    Payload::Task(task)
                }
                TaskEventContent::Status(update, at) => {
                    let metadata = TrackwayMetadata::for_status(update, &item.omitted);
                    Payload::StatusUpdate(pb::TaskStatusUpdateEvent {
                        task_id: task_ref.run.to_string(),
                        context_id: task_ref.session.to_string(),
                        status: Some(encode_status(update.state, update.message.as_ref(), *at, task_ref)),
                        $($last: update.last,)?
                        metadata: position(protobuf_value::encode_trackway_metadata(&metadata)),
                    })
                }
                TaskEventContent::Artifact(chunk) => Payload::ArtifactUpdate(pb::TaskArtifactUpdateEvent {
                    task_id: task_ref.run.to_string(),
                    context_id: task_ref.session.to_string(),
                    artifact: Some(encode_artifact(&chunk.artifact)),
                    append: chunk.append,
                    last_chunk: chunk.last,
                    metadata: position(protobuf_value::encode_trackway_metadata(&TrackwayMetadata::for_artifact(&item.omitted))),
                }),
            };
            pb::StreamResponse { payload: Some(payload) }
        }

        /// The stream of an answer without a task.
        pub(super) fn encode_direct_reply(answer: &DirectReply) -> pb::StreamResponse {
            pb::StreamResponse { payload: Some(Payload::$message(encode_direct_message(answer))) }
        }

        fn encode_task(snapshot: &TaskSnapshot, task_ref: &TaskRef, history: HistoryLength) -> pb::Task {
            let view = &snapshot.view;
            let said = view.status_message().map(|said| &**said);
            let older = view.message_history().count().saturating_sub(history);
            let newest = view.message_history().skip(older);
            pb::Task {
                id: task_ref.run.to_string(),
                context_id: task_ref.session.to_string(),
                status: Some(encode_status(view.state, said, view.status_at, task_ref)),
                artifacts: view.artifacts.iter().map(|known| encode_artifact(known)).collect(),
                history: newest.map(|said| encode_message(said, task_ref)).collect(),
                metadata: protobuf_value::encode_trackway_metadata(&TrackwayMetadata::for_snapshot(snapshot)),
            }
        }

        fn encode_status(
            state: StateName,
            said: Option<&Message>,
            at: Timestamp,
            task_ref: &TaskRef,
        ) -> pb::TaskStatus {
            pb::TaskStatus {
                state: encode_state(state).into(),
                $status: said.map(|said| encode_message(said, task_ref)),
                timestamp: Some(protobuf_value::encode_timestamp(at)),
            }
        }

        /// A task here is never `unknown`; protobuf calls this state unspecified.
        const fn encode_state(state: StateName) -> pb::TaskState {
            match state {
                StateName::Submitted => pb::TaskState::Submitted,
                StateName::Working => pb::TaskState::Working,
                StateName::InputRequired => pb::TaskState::InputRequired,
                StateName::AuthRequired => pb::TaskState::AuthRequired,
                StateName::Completed => pb::TaskState::Completed,
                StateName::Failed => pb::TaskState::Failed,
                StateName::Canceled => pb::TaskState::$canceled,
                StateName::Rejected => pb::TaskState::Rejected,
                StateName::Unknown => pb::TaskState::Unspecified,
            }
        }

        const fn encode_role(role: MessageRole) -> pb::Role {
            match role {
                MessageRole::User => pb::Role::User,
                MessageRole::Agent => pb::Role::Agent,
            }
        }

        /// The role, if one was sent.
        pub(super) fn decode_role(message: &pb::Message) -> Option<MessageRole> {
            [MessageRole::User, MessageRole::Agent].into_iter().find(|known| encode_role(*known) == message.role())
        }

        pub(super) fn encode_message(message: &Message, task: &TaskRef) -> pb::Message {
            encode_message_with_ids(message, task.session.as_str(), Some(task.run))
        }

        /// An answer that belongs to no task.
        fn encode_direct_message(reply: &DirectReply) -> pb::Message {
            encode_message_with_ids(&reply.message, reply.session.as_str(), None)
        }

        fn encode_artifact(artifact: &Artifact) -> pb::Artifact {
            pb::Artifact {
                artifact_id: artifact.id.to_string(),
                name: artifact.name.clone().unwrap_or_default(),
                description: artifact.description.clone().unwrap_or_default(),
                parts: artifact.parts.iter().map(encode_part).collect(),
                metadata: protobuf_value::encode_metadata(&artifact.metadata),
            }
        }
    };
}

/// The parts of a card that are the same in both generations; `pb` is the generation's module.
macro_rules! card_encoding {
    () => {
        fn encode_skills(card: &AgentCard<'_>) -> Vec<pb::AgentSkill> {
            let skill = |known: crate::agent_card::AgentSkill<'_>| pb::AgentSkill {
                id: known.id.to_owned(),
                name: known.id.to_owned(),
                description: known.description.to_owned(),
                tags: known.tags.into_iter().map(str::to_owned).collect(),
                examples: known.examples.to_vec(),
                input_modes: card.program_info.input_modes.clone(),
                output_modes: card.program_info.output_modes.clone(),
            };
            card.agent_skills().into_iter().map(skill).collect()
        }

        fn encode_extensions(card: &AgentCard<'_>) -> Vec<pb::AgentExtension> {
            let extension = |known: &crate::agent_card::DeclaredExtension<'_>| pb::AgentExtension {
                uri: known.uri.to_owned(),
                description: known.description.to_owned(),
                required: known.required,
                params: known.params.as_object().map(protobuf_value::encode_protobuf_struct),
            };
            card.extensions.iter().map(extension).collect()
        }

        /// How callers authenticate.
        fn encode_bearer_scheme() -> pb::SecurityScheme {
            let scheme = pb::HttpAuthSecurityScheme {
                description: BEARER_SCHEME_DESCRIPTION.to_owned(),
                scheme: "Bearer".to_owned(),
            };
            let scheme = pb::security_scheme::Scheme::HttpAuthSecurityScheme(scheme);
            pb::SecurityScheme { scheme: Some(scheme) }
        }
    };
}

pub(super) use {card_encoding, task_encoding};
