//! Code that the protobuf messages of both generations share. The fields have the same names, but the
//! types are unrelated. A function that is the same for both is therefore a macro.

use prost_types::Struct;
use trackway_domain::{Object, Role};

use super::value::{self, NotJson};
use crate::{fault::Fault, wire::sent::wrong};

/// Whether a client's message may have that role.
pub(super) fn check_role(role: Option<Role>) -> Result<(), Fault> {
    match role {
        Some(Role::User) => Ok(()),
        Some(Role::Agent) => {
            let next = "send ROLE_USER: what a client says has that role";
            Err(wrong("role", "a client cannot speak as the agent", next))
        }
        None => Err(wrong("role", "it is missing", "send ROLE_USER")),
    }
}

/// The metadata at a location in the message.
pub(super) fn parse_metadata(sent: Option<Struct>, place: &str) -> Result<Object, Fault> {
    let read = sent.map(value::object).transpose().map_err(|why| not_json_error(place, why))?;
    Ok(read.unwrap_or_default())
}

pub(super) fn not_json_error(place: &str, why: NotJson) -> Fault {
    wrong(place, &why.to_string(), "send a value that JSON can express")
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
            ops::{History, Item, Outcome, Reply, Seen, Snapshot},
            wire::metadata::Metadata,
        };

        /// The outcome of a send.
        pub(super) fn encode_send_response(outcome: &Outcome) -> Option<pb::SendMessageResponse> {
            let Outcome::Reply(reply, history) = outcome else { return None };
            let payload = match reply {
                Reply::Task(snapshot) => {
                    sent::Payload::Task(encode_task(snapshot, &snapshot.place(), *history))
                }
                Reply::Message(answer) => sent::Payload::$message(encode_direct_message(answer)),
            };
            Some(pb::SendMessageResponse { payload: Some(payload) })
        }

        pub(super) fn encode_task_response(outcome: &Outcome) -> Option<pb::Task> {
            let Outcome::Task(snapshot, history) = outcome else { return None };
            Some(encode_task(snapshot, &snapshot.place(), *history))
        }

        /// One item of a stream. Its metadata contains the position after which to continue: gRPC has
        /// no other field for it.
        pub(super) fn encode_stream_item(item: &Item, place: &Place, history: History) -> pb::StreamResponse {
            let position = |metadata| value::positioned(metadata, item.pos);
            let payload = match &item.seen {
                Seen::Snapshot(snapshot) => {
                    let mut task = encode_task(snapshot, place, history);
                    task.metadata = position(task.metadata);
                    Payload::Task(task)
                }
                Seen::Status(update, at) => {
                    let metadata = Metadata::of_status(update, &item.omitted);
                    Payload::StatusUpdate(pb::TaskStatusUpdateEvent {
                        task_id: place.run.to_string(),
                        context_id: place.session.to_string(),
                        status: Some(encode_status(update.state, update.message.as_ref(), *at, place)),
                        $($last: update.last,)?
                        metadata: position(value::of_metadata(&metadata)),
                    })
                }
                Seen::Artifact(chunk) => Payload::ArtifactUpdate(pb::TaskArtifactUpdateEvent {
                    task_id: place.run.to_string(),
                    context_id: place.session.to_string(),
                    artifact: Some(encode_artifact(&chunk.artifact)),
                    append: chunk.append,
                    last_chunk: chunk.last,
                    metadata: position(value::of_metadata(&Metadata::of_artifact(&item.omitted))),
                }),
            };
            pb::StreamResponse { payload: Some(payload) }
        }

        /// The stream of an answer without a task.
        pub(super) fn encode_direct_reply(answer: &Said) -> pb::StreamResponse {
            pb::StreamResponse { payload: Some(Payload::$message(encode_direct_message(answer))) }
        }

        fn encode_task(snapshot: &Snapshot, place: &Place, history: History) -> pb::Task {
            let view = &snapshot.view;
            let said = view.status_message().map(|said| &**said);
            let older = view.history().count().saturating_sub(history);
            let newest = view.history().skip(older);
            pb::Task {
                id: place.run.to_string(),
                context_id: place.session.to_string(),
                status: Some(encode_status(view.state, said, view.status_at, place)),
                artifacts: view.artifacts.iter().map(|known| encode_artifact(known)).collect(),
                history: newest.map(|said| encode_message(said, place)).collect(),
                metadata: value::of_metadata(&Metadata::of(snapshot)),
            }
        }

        fn encode_status(
            state: StateName,
            said: Option<&Message>,
            at: Timestamp,
            place: &Place,
        ) -> pb::TaskStatus {
            pb::TaskStatus {
                state: encode_state(state).into(),
                $status: said.map(|said| encode_message(said, place)),
                timestamp: Some(value::moment(at)),
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

        const fn encode_role(role: Role) -> pb::Role {
            match role {
                Role::User => pb::Role::User,
                Role::Agent => pb::Role::Agent,
            }
        }

        /// The role, if one was sent.
        pub(super) fn decode_role(message: &pb::Message) -> Option<Role> {
            [Role::User, Role::Agent].into_iter().find(|known| encode_role(*known) == message.role())
        }

        pub(super) fn encode_message(message: &Message, place: &Place) -> pb::Message {
            encode_message_with_ids(message, place.session.as_str(), Some(place.run))
        }

        /// An answer that belongs to no task.
        fn encode_direct_message(said: &Said) -> pb::Message {
            encode_message_with_ids(&said.message, said.session.as_str(), None)
        }

        fn encode_artifact(artifact: &Artifact) -> pb::Artifact {
            pb::Artifact {
                artifact_id: artifact.id.to_string(),
                name: artifact.name.clone().unwrap_or_default(),
                description: artifact.description.clone().unwrap_or_default(),
                parts: artifact.parts.iter().map(encode_part).collect(),
                metadata: value::metadata(&artifact.metadata),
            }
        }
    };
}

/// The parts of a card that are the same in both generations; `pb` is the generation's module.
macro_rules! card_encoding {
    () => {
        fn encode_skills(card: &Card<'_>) -> Vec<pb::AgentSkill> {
            let skill = |known: crate::card::Skill<'_>| pb::AgentSkill {
                id: known.id.to_owned(),
                name: known.id.to_owned(),
                description: known.description.to_owned(),
                tags: known.tags.into_iter().map(str::to_owned).collect(),
                examples: known.examples.to_vec(),
                input_modes: card.info.input_modes.clone(),
                output_modes: card.info.output_modes.clone(),
            };
            card.skills().into_iter().map(skill).collect()
        }

        fn encode_extensions(card: &Card<'_>) -> Vec<pb::AgentExtension> {
            let extension = |known: &crate::card::Declared<'_>| pb::AgentExtension {
                uri: known.uri.to_owned(),
                description: known.description.to_owned(),
                required: known.required,
                params: known.params.as_object().map(value::structure),
            };
            card.extensions.iter().map(extension).collect()
        }

        /// How callers authenticate.
        fn encode_bearer_scheme() -> pb::SecurityScheme {
            let scheme = pb::HttpAuthSecurityScheme {
                description: SCHEME_DESCRIPTION.to_owned(),
                scheme: "Bearer".to_owned(),
            };
            let scheme = pb::security_scheme::Scheme::HttpAuthSecurityScheme(scheme);
            pb::SecurityScheme { scheme: Some(scheme) }
        }
    };
}

pub(super) use {card_encoding, task_encoding};
