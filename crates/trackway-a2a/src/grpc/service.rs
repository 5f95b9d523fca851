//! The methods of one gRPC service, as routes. A method has two functions: one parses its request into
//! a call and one renders the outcome. Everything between them is the same for all methods.

use std::sync::Arc;

use axum::{Router, body::Body, http, routing::any};
use prost::Message;
use tonic::{Response, Status, server::Grpc};
use tonic_prost::ProstCodec;
use tower::service_fn;

use super::perform::{AgentRequest, Parse, Performed, perform};
use crate::{
    card::Card,
    door::Door,
    ops::{History, Item, Outcome, Place, Said},
    version::Generation,
};

pub(super) struct Service {
    door: Arc<Door>,
    generation: Generation,
    /// With its package, as clients write it in the path.
    name: &'static str,
    router: Router,
}

impl Service {
    pub(super) fn new(door: Arc<Door>, generation: Generation, name: &'static str) -> Self {
        Self { door, generation, name, router: Router::new() }
    }

    pub(super) fn into_router(self) -> Router {
        self.router
    }

    /// A method with one response. `render` handles only the outcomes of its operation.
    pub(super) fn unary<M: AgentRequest, T: Message + 'static>(
        self,
        method: &str,
        parse: Parse<M>,
        render: fn(&Outcome) -> Option<T>,
    ) -> Self {
        self.add_unary(method, parse, move |performed| performed.answer(render))
    }

    /// The method that returns the card for authenticated callers.
    pub(super) fn card<M: AgentRequest, T: Message + 'static>(
        self,
        method: &str,
        parse: Parse<M>,
        render: fn(&Card<'_>, &Door) -> T,
    ) -> Self {
        self.add_unary(method, parse, move |performed| performed.card(render))
    }

    /// A method with a stream of responses. `item` renders the events of a task, `said` an answer
    /// without a task.
    pub(super) fn streaming<M: AgentRequest, T: Message + 'static>(
        self,
        method: &str,
        parse: Parse<M>,
        item: fn(&Item, &Place, History) -> T,
        said: fn(&Said) -> T,
    ) -> Self {
        let (door, generation) = (self.door.clone(), self.generation);
        let handler = move |request: http::Request<Body>| async move {
            let mut grpc = grpc(&door);
            let service = service_fn(move |request| {
                let door = door.clone();
                async move { perform(&door, generation, request, parse).await?.stream(item, said) }
            });
            grpc.server_streaming(service, request).await
        };
        let path = self.path(method);
        Self { router: self.router.route(&path, any(handler)), ..self }
    }

    fn add_unary<M: AgentRequest, T: Message + 'static>(
        self,
        method: &str,
        parse: Parse<M>,
        respond: impl Fn(Performed<'_>) -> Result<Response<T>, Status> + Copy + Send + Sync + 'static,
    ) -> Self {
        let (door, generation) = (self.door.clone(), self.generation);
        let handler = move |request: http::Request<Body>| async move {
            let mut grpc = grpc(&door);
            let service = service_fn(move |request| {
                let door = door.clone();
                async move { respond(perform(&door, generation, request, parse).await?) }
            });
            grpc.unary(service, request).await
        };
        let path = self.path(method);
        Self { router: self.router.route(&path, any(handler)), ..self }
    }

    fn path(&self, method: &str) -> String {
        format!("/{}/{method}", self.name)
    }
}

fn grpc<M: AgentRequest, T: Message + 'static>(door: &Door) -> Grpc<ProstCodec<T, M>> {
    Grpc::new(ProstCodec::default()).max_decoding_message_size(door.options.body_bytes_max)
}
