//! From a gRPC request to the executed call, and from its outcome to the response.

use std::{pin::Pin, sync::Arc};

use axum::http::{HeaderMap, Uri, header};
use futures_util::{Stream, stream};
use prost::Message;
use tonic::{Request, Response, Status, metadata::MetadataMap};
use trackway_domain::Code;
use trackway_runtime::Program;

use super::{
    room::{OnItsWay, Room},
    status::status,
};
use crate::{
    card::Card,
    door::{Address, Admitted, Door},
    extensions::Activated,
    fault::{Fault, Kind},
    ops::{Call, Follow, History, Item, Outcome, PageOf, Place, Said, Streamed},
    version::{self, Generation},
};

/// A stream of answers. The reader pulls it, so a reader that stops also stops everything behind it.
pub(super) type Items<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

/// The message of a request, which may name its agent.
pub(super) trait AgentRequest: Message + Default + 'static {
    /// Empty for the default agent.
    fn tenant(&self) -> &str {
        ""
    }
}

/// Parses the message of a request, and its headers if needed, into a call.
pub(super) type Parse<M> = fn(M, &HeaderMap) -> Result<Call, Fault>;

/// A request that was admitted and executed.
pub(super) struct Performed<'a> {
    door: &'a Door,
    generation: Generation,
    program: Arc<dyn Program>,
    activated: Activated,
    outcome: Outcome,
}

pub(super) async fn perform<M: AgentRequest>(
    door: &Door,
    generation: Generation,
    request: Request<M>,
    parse: Parse<M>,
) -> Result<Performed<'_>, Status> {
    let (metadata, _, message) = request.into_parts();
    let tenant = message.tenant().to_owned();
    let mut headers = metadata.into_headers();
    // Cards contain the HTTP addresses, which this request did not use.
    headers.remove(header::HOST);
    let call = parse(message, &headers);
    let performed = admit_and_perform(door, generation, &tenant, &headers, call).await;
    performed.map_err(|fault| status(&fault))
}

async fn admit_and_perform<'a>(
    door: &'a Door,
    generation: Generation,
    tenant: &str,
    headers: &HeaderMap,
    call: Result<Call, Fault>,
) -> Result<Performed<'a>, Fault> {
    check_version(generation, headers)?;
    // Unknown callers learn nothing about errors in their requests.
    let visitor = door.recognise(headers).await?;
    let Admitted { agent, activated } =
        door.admit(&Address::Default, Some(tenant), headers, visitor)?;
    let outcome = agent.perform(call?).await?;
    Ok(Performed { door, generation, program: agent.program, activated, outcome })
}

/// The page that a request names. Zero means that no size was sent.
pub(super) fn page_of(size: i32, token: String) -> PageOf {
    PageOf { size: (size != 0).then_some(size.into()), token }
}

/// The empty response of an operation that returns nothing.
pub(super) fn encode_empty(outcome: &Outcome) -> Option<()> {
    matches!(outcome, Outcome::Done).then_some(())
}

/// The service's name defines its generation; a header must agree.
fn check_version(generation: Generation, headers: &HeaderMap) -> Result<(), Fault> {
    match version::asked(headers, &Uri::default())? {
        Some(asked) if asked != generation => {
            let message = format!("this service speaks protocol {}", generation.version());
            let next = "for 1.0 call lf.a2a.v1.A2AService, for 0.3 a2a.v1.A2AService";
            Err(Fault::new(Kind::VersionNotSupported, Code::InvalidRequest, message, next))
        }
        _ => Ok(()),
    }
}

impl Performed<'_> {
    /// The response; `write` handles only the outcomes of its operation.
    pub(super) fn answer<T>(
        self,
        write: impl FnOnce(&Outcome) -> Option<T>,
    ) -> Result<Response<T>, Status> {
        let written = write(&self.outcome).ok_or_else(other)?;
        Ok(self.respond(written))
    }

    /// The card for authenticated callers.
    pub(super) fn card<T>(
        self,
        write: impl FnOnce(&Card<'_>, &Door) -> T,
    ) -> Result<Response<T>, Status> {
        let Outcome::ExtendedCard = self.outcome else {
            return Err(other());
        };
        let card = self.door.extended_card(&*self.program, &Address::Default, &HeaderMap::new());
        let written = write(&card, self.door);
        Ok(self.respond(written))
    }

    /// The stream. `item` writes the events of a task, `said` an answer without a task.
    pub(super) fn stream<T: Send + 'static>(
        mut self,
        item: fn(&Item, &Place, History) -> T,
        said: fn(&Said) -> T,
    ) -> Result<Response<Items<T>>, Status> {
        let Outcome::Stream(streamed, history) =
            std::mem::replace(&mut self.outcome, Outcome::Done)
        else {
            return Err(other());
        };
        let items: Items<T> = match streamed {
            Streamed::Task(follow) => {
                Box::pin(items(follow, self.door.room.clone(), history, item))
            }
            Streamed::Message(message) => {
                let written = said(&message);
                Box::pin(stream::once(async { Ok(written) }))
            }
        };
        Ok(self.respond(items))
    }

    fn respond<T>(&self, body: T) -> Response<T> {
        let mut response = Response::new(body);
        let metadata: &mut MetadataMap = response.metadata_mut();
        self.activated.tell(self.generation, metadata.as_mut());
        response
    }
}

fn items<T>(
    follow: Box<Follow>,
    room: Room,
    history: History,
    write: fn(&Item, &Place, History) -> T,
) -> impl Stream<Item = Result<T, Status>> {
    stream::unfold(Some((follow, None)), move |state: Option<(_, Option<OnItsWay>)>| {
        let room = room.clone();
        async move {
            let (mut follow, before) = state?;
            // The reader asks for more, so the previous item has been sent.
            drop(before);
            match follow.next().await {
                Ok(Some(item)) => match room.take(item.bytes) {
                    Ok(taken) => {
                        let written = write(&item, &follow.place, history);
                        Some((Ok(written), Some((follow, Some(taken)))))
                    }
                    Err(full) => Some((Err(full), None)),
                },
                Ok(None) => None,
                Err(fault) => Some((Err(status(&fault)), None)),
            }
        }
    })
}

/// An operation returned an outcome that its request does not allow.
fn other() -> Status {
    let message = "something went wrong inside";
    let next = "ask the operator; the server's log has the details";
    tracing::error!("a gRPC operation returned an unexpected outcome");
    status(&Fault::new(Kind::Internal, Code::Internal, message, next))
}
