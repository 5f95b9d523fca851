//! The methods of one gRPC service, as routes. A method has two functions: one parses its request into
//! a call and one renders the outcome. Everything between them is the same for all methods.

use std::sync::Arc;

use axum::{Router, body::Body, http, routing::any};
use prost::Message;
use tonic::{Response, Status, server::Grpc};
use tonic_prost::ProstCodec;
use tower::service_fn;

use super::grpc_call::{AgentRequest, ParseCall, PerformedGrpcCall, perform_grpc_request};
use crate::{
    agent_card::AgentCard,
    operations::{AgentCallOutcome, DirectReply, HistoryLength, TaskEvent, TaskRef},
    protocol_version::ProtocolVersion,
    server::A2aServer,
};

pub(super) struct GrpcService {
    door: Arc<A2aServer>,
    generation: ProtocolVersion,
    /// With its package, as clients write it in the path.
    name: &'static str,
    router: Router,
}

impl GrpcService {
    pub(super) fn new(door: Arc<A2aServer>, generation: ProtocolVersion, name: &'static str) -> Self {
        Self { door, generation, name, router: Router::new() }
    }

    pub(super) fn into_router(self) -> Router {
        self.router
    }

    /// A method with one response. `render` handles only the outcomes of its operation.
    pub(super) fn add_unary_method<M: AgentRequest, T: Message + 'static>(
        self,
        method: &str,
        parse: ParseCall<M>,
        render: fn(&AgentCallOutcome) -> Option<T>,
    ) -> Self {
        self.add_unary_route(method, parse, move |performed| performed.respond_with_message(render))
    }

    /// The method that returns the card for authenticated callers.
    pub(super) fn add_card_method<M: AgentRequest, T: Message + 'static>(
        self,
        method: &str,
        parse: ParseCall<M>,
        render: fn(&AgentCard<'_>, &A2aServer) -> T,
    ) -> Self {
        self.add_unary_route(method, parse, move |performed| performed.respond_with_card(render))
    }

    /// A method with a stream of responses. `item` renders the events of a task, `direct_reply` an answer
    /// without a task.
    pub(super) fn add_streaming_method<M: AgentRequest, T: Message + 'static>(
        self,
        method: &str,
        parse: ParseCall<M>,
        item: fn(&TaskEvent, &TaskRef, HistoryLength) -> T,
        direct_reply: fn(&DirectReply) -> T,
    ) -> Self {
        let (door, generation) = (self.door.clone(), self.generation);
        let handler = move |request: http::Request<Body>| async move {
            let mut grpc = grpc_message_codec(&door);
            let service = service_fn(move |request| {
                let door = door.clone();
                async move {
                    perform_grpc_request(&door, generation, request, parse)
                        .await?
                        .respond_with_stream(item, direct_reply)
                }
            });
            grpc.server_streaming(service, request).await
        };
        let path = self.grpc_method_path(method);
        Self { router: self.router.route(&path, any(handler)), ..self }
    }

    fn add_unary_route<M: AgentRequest, T: Message + 'static>(
        self,
        method: &str,
        parse: ParseCall<M>,
        respond: impl Fn(PerformedGrpcCall<'_>) -> Result<Response<T>, Status> + Copy + Send + Sync + 'static,
    ) -> Self {
        let (door, generation) = (self.door.clone(), self.generation);
        let handler = move |request: http::Request<Body>| async move {
            let mut grpc = grpc_message_codec(&door);
            let service = service_fn(move |request| {
                let door = door.clone();
                async move { respond(perform_grpc_request(&door, generation, request, parse).await?) }
            });
            grpc.unary(service, request).await
        };
        let path = self.grpc_method_path(method);
        Self { router: self.router.route(&path, any(handler)), ..self }
    }

    fn grpc_method_path(&self, method: &str) -> String {
        format!("/{}/{method}", self.name)
    }
}

fn grpc_message_codec<M: AgentRequest, T: Message + 'static>(door: &A2aServer) -> Grpc<ProstCodec<T, M>> {
    Grpc::new(ProstCodec::default()).max_decoding_message_size(door.options.body_bytes_max)
}
