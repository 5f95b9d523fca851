//! From a gRPC request to the executed call, and from its outcome to the response.

use std::{pin::Pin, sync::Arc};

use axum::http::{HeaderMap, Uri, header};
use futures_util::{Stream, stream};
use prost::Message;
use tonic::{Request, Response, Status, metadata::MetadataMap};
use trackway_domain::ErrorCode;
use trackway_runtime::Program;

use super::{
    grpc_status::to_grpc_status,
    in_flight_limit::{InFlightBytesLimit, InFlightEventPermit},
};
use crate::{
    agent_card::AgentCard,
    error::{A2aError, A2aErrorKind},
    extensions::ActivatedExtensions,
    operations::{
        AgentCall, AgentCallOutcome, DirectReply, HistoryLength, PageRequest, StreamReply, TaskEvent,
        TaskRef, TaskStream,
    },
    protocol_version::{self, ProtocolVersion},
    server::{A2aServer, AdmittedCall, AgentAddress},
};

/// A stream of answers. The reader pulls it, so a reader that stops also stops everything behind it.
pub(super) type ResponseStream<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

/// The message of a request, which may name its agent.
pub(super) trait AgentRequest: Message + Default + 'static {
    /// Empty for the default agent.
    fn tenant(&self) -> &str {
        ""
    }
}

/// Parses the message of a request, and its headers if needed, into a call.
pub(super) type ParseCall<M> = fn(M, &HeaderMap) -> Result<AgentCall, A2aError>;

/// A request that was admitted and executed.
pub(super) struct PerformedGrpcCall<'a> {
    door: &'a A2aServer,
    generation: ProtocolVersion,
    program: Arc<dyn Program>,
    activated: ActivatedExtensions,
    outcome: AgentCallOutcome,
}

pub(super) async fn perform_grpc_request<M: AgentRequest>(
    door: &A2aServer,
    generation: ProtocolVersion,
    request: Request<M>,
    parse: ParseCall<M>,
) -> Result<PerformedGrpcCall<'_>, Status> {
    let (metadata, _, message) = request.into_parts();
    let tenant = message.tenant().to_owned();
    let mut headers = metadata.into_headers();
    // Cards contain the HTTP addresses, which this request did not use.
    headers.remove(header::HOST);
    let call = parse(message, &headers);
    let performed = admit_and_perform_call(door, generation, &tenant, &headers, call).await;
    performed.map_err(|fault| to_grpc_status(&fault))
}

async fn admit_and_perform_call<'a>(
    door: &'a A2aServer,
    generation: ProtocolVersion,
    tenant: &str,
    headers: &HeaderMap,
    call: Result<AgentCall, A2aError>,
) -> Result<PerformedGrpcCall<'a>, A2aError> {
    check_requested_version(generation, headers)?;
    // Unknown callers learn nothing about errors in their requests.
    let visitor = door.authenticate_headers(headers).await?;
    let AdmittedCall { agent, activated } =
        door.admit_call(&AgentAddress::DefaultAgent, Some(tenant), headers, visitor)?;
    let outcome = agent.perform_agent_call(call?).await?;
    Ok(PerformedGrpcCall { door, generation, program: agent.program, activated, outcome })
}

/// The page that a request names. Zero means that no size was sent.
pub(super) fn page_request(size: i32, token: String) -> PageRequest {
    PageRequest { size: (size != 0).then_some(size.into()), token }
}

/// The empty response of an operation that returns nothing.
pub(super) fn encode_empty_response(outcome: &AgentCallOutcome) -> Option<()> {
    matches!(outcome, AgentCallOutcome::Done).then_some(())
}

/// The service's name defines its generation; a header must agree.
fn check_requested_version(generation: ProtocolVersion, headers: &HeaderMap) -> Result<(), A2aError> {
    match protocol_version::requested_version(headers, &Uri::default())? {
        Some(asked) if asked != generation => {
            let message = format!("this service speaks protocol {}", generation.as_str());
            let next = "for 1.0 call lf.a2a.v1.A2AService, for 0.3 a2a.v1.A2AService";
            Err(A2aError::new(A2aErrorKind::VersionNotSupported, ErrorCode::InvalidRequest, message, next))
        }
        _ => Ok(()),
    }
}

impl PerformedGrpcCall<'_> {
    /// The response; `write` handles only the outcomes of its operation.
    pub(super) fn respond_with_message<T>(
        self,
        write: impl FnOnce(&AgentCallOutcome) -> Option<T>,
    ) -> Result<Response<T>, Status> {
        let written = write(&self.outcome).ok_or_else(unexpected_outcome_error)?;
        Ok(self.build_grpc_response(written))
    }

    /// The card for authenticated callers.
    pub(super) fn respond_with_card<T>(
        self,
        write: impl FnOnce(&AgentCard<'_>, &A2aServer) -> T,
    ) -> Result<Response<T>, Status> {
        let AgentCallOutcome::ExtendedCard = self.outcome else {
            return Err(unexpected_outcome_error());
        };
        let card =
            self.door.build_extended_card(&*self.program, &AgentAddress::DefaultAgent, &HeaderMap::new());
        let written = write(&card, self.door);
        Ok(self.build_grpc_response(written))
    }

    /// The stream. `item` writes the events of a task, `direct_reply` an answer without a task.
    pub(super) fn respond_with_stream<T: Send + 'static>(
        mut self,
        item: fn(&TaskEvent, &TaskRef, HistoryLength) -> T,
        direct_reply: fn(&DirectReply) -> T,
    ) -> Result<Response<ResponseStream<T>>, Status> {
        let AgentCallOutcome::Stream(streamed, history) =
            std::mem::replace(&mut self.outcome, AgentCallOutcome::Done)
        else {
            return Err(unexpected_outcome_error());
        };
        let items: ResponseStream<T> = match streamed {
            StreamReply::Task(follow) => {
                Box::pin(task_event_response_stream(follow, self.door.grpc_in_flight.clone(), history, item))
            }
            StreamReply::Message(message) => {
                let written = direct_reply(&message);
                Box::pin(stream::once(async { Ok(written) }))
            }
        };
        Ok(self.build_grpc_response(items))
    }

    fn build_grpc_response<T>(&self, body: T) -> Response<T> {
        let mut response = Response::new(body);
        let metadata: &mut MetadataMap = response.metadata_mut();
        self.activated.write_extensions_header(self.generation, metadata.as_mut());
        response
    }
}

fn task_event_response_stream<T>(
    follow: Box<TaskStream>,
    room: InFlightBytesLimit,
    history: HistoryLength,
    write: fn(&TaskEvent, &TaskRef, HistoryLength) -> T,
) -> impl Stream<Item = Result<T, Status>> {
    stream::unfold(Some((follow, None)), move |state: Option<(_, Option<InFlightEventPermit>)>| {
        let room = room.clone();
        async move {
            let (mut follow, before) = state?;
            // The reader asks for more, so the previous item has been sent.
            drop(before);
            match follow.next_event().await {
                Ok(Some(item)) => match room.reserve_event_bytes(item.bytes) {
                    Ok(taken) => {
                        let written = write(&item, &follow.place, history);
                        Some((Ok(written), Some((follow, Some(taken)))))
                    }
                    Err(full) => Some((Err(full), None)),
                },
                Ok(None) => None,
                Err(fault) => Some((Err(to_grpc_status(&fault)), None)),
            }
        }
    })
}

/// An operation returned an outcome that its request does not allow.
fn unexpected_outcome_error() -> Status {
    let message = "something went wrong inside";
    let next = "ask the operator; the server's log has the details";
    tracing::error!("a gRPC operation returned an unexpected outcome");
    to_grpc_status(&A2aError::new(A2aErrorKind::Internal, ErrorCode::Internal, message, next))
}
