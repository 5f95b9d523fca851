//! Executes a request at this node's own doors, and publishes the answer.
//!
//! The request passes the same checks as over HTTP: its credentials are in its headers. Its message is
//! acknowledged once the first part of the answer is stored, and so after everything that it shows was
//! committed. A node that dies before is given the message again; the door recognises its id.

use std::{pin::pin, sync::Arc, time::Duration};

use async_nats::{
    RequestErrorKind,
    jetstream::{AckKind, message::Acker},
};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use serde_json::{Value, json};
use tokio::time::MissedTickBehavior;
use trackway_a2a_client::{
    RequestPurpose, RequestTransport, TransportError, TransportRequest, TransportResponse, Url,
};
use trackway_outgoing::sse::{SseEvent, SseParser};

use crate::{
    NatsError,
    envelope::{AnswerEnd, AnswerHead, AnswerPart, RequestEnvelope},
    message_keys,
    nats_connection::NatsConnection,
    nats_error::describe_error,
    nats_transport::is_transient_status,
    task_locations::{self, MessageClaim},
};

/// Largest part of an answer: with its headers it fits into a message.
/// Limit (Mesh): one part of an answer over NATS.
const PART_BYTES_MAX: usize = 512 * 1024;

/// Largest answer that is carried; the client reads no larger one.
/// Limit (Mesh): an answer over NATS, and one event of it.
const ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;

/// How often a part is published again while NATS is away: about ten minutes.
/// Limit (Mesh): attempts to publish one part of an answer.
const PUBLISH_ATTEMPTS_MAX: u32 = 120;
const PUBLISH_PAUSE: Duration = Duration::from_secs(5);

/// How often in a row the reader of a stream may be missing before the node stops to publish: a caller that
/// lost its connection comes back.
/// Limit (Mesh): heartbeats of a stream over NATS that nobody answered.
const UNHEARD_MAX: u32 = 3;

/// How often a message is offered to the door that answers "later".
/// Limit (Mesh): deliveries of a message to a busy node before the caller is told.
const BUSY_DELIVERIES_MAX: i64 = 5;
const BUSY_PAUSE: Duration = Duration::from_secs(1);

/// Under this name requests reach the doors: it is this machine.
const LOCAL_BASE: &str = "http://localhost/a2a/agents";

/// Executes requests of one node. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct RequestExecutor {
    pub(crate) connection: NatsConnection,
    pub(crate) node: Arc<str>,
    /// The node's own doors.
    pub(crate) local: Arc<dyn RequestTransport>,
    /// How long NATS waits before it gives a message to another node.
    pub(crate) ack_wait: Duration,
}

/// A request that arrived.
#[derive(Debug)]
pub(crate) struct ArrivedRequest {
    pub(crate) agent: String,
    pub(crate) envelope: RequestEnvelope,
    pub(crate) body: Bytes,
    /// Of a request that waited in a queue.
    pub(crate) delivery: Option<QueuedDelivery>,
}

/// What is owed to the queue.
pub(crate) struct QueuedDelivery {
    pub(crate) acker: Acker,
    /// How often it was delivered, this time included.
    pub(crate) deliveries: i64,
    /// Any node may have been given it.
    pub(crate) is_shared: bool,
}

/// The parts of one answer, numbered.
struct AnswerPublisher<'a> {
    executor: &'a RequestExecutor,
    key: &'a str,
    execution: String,
    next_index: u64,
    head: Option<Box<AnswerHead>>,
    delivery: Option<QueuedDelivery>,
}

impl RequestExecutor {
    /// Executes a request to its end. What fails is logged; NATS delivers the message again.
    pub(crate) async fn execute(&self, request: ArrivedRequest) {
        let agent = request.agent.clone();
        if let Err(error) = self.execute_and_publish(request).await {
            tracing::warn!(agent, error = describe_error(&error), "a request over NATS was not answered");
        }
    }

    async fn execute_and_publish(&self, request: ArrivedRequest) -> Result<(), NatsError> {
        let ArrivedRequest { agent, envelope, body, delivery } = request;
        if let (Some(claim), Some(QueuedDelivery { is_shared: true, .. })) = (&envelope.claim, &delivery)
            && let MessageClaim::OfNode(owner) =
                task_locations::claim_message(&self.connection, claim, &self.node).await?
        {
            return self.forward_to_owner(&owner, &agent, &envelope, body, delivery).await;
        }
        let starts_task = envelope.claim.is_some();
        let sent = self.local.send_request(local_request(&agent, &envelope, body)?);
        let response = match self.keep_delivery_alive(sent, delivery.as_ref()).await {
            Ok(response) => response,
            Err(error) => answer_of_failed_door(&error),
        };
        if let Some(delivery) = &delivery
            && is_transient_status(response.status)
            && delivery.deliveries < BUSY_DELIVERIES_MAX
        {
            return acknowledge(&delivery.acker, AckKind::Nak(Some(BUSY_PAUSE))).await;
        }
        let TransportResponse { status, headers, body } = response;
        let is_stream = is_event_stream(&headers);
        let mut publisher = AnswerPublisher {
            executor: self,
            key: &envelope.answer_key,
            execution: self.connection.unique_word(),
            next_index: 0,
            head: Some(Box::new(AnswerHead { node: self.node.to_string(), status, headers })),
            delivery,
        };
        let task_of = starts_task.then_some(agent.as_str());
        if is_stream {
            publisher.publish_events(body, task_of).await
        } else if envelope.method == Method::GET {
            let card = read_whole(body).await;
            let card = card.map(|card| rewrite_card(&card, &self.connection.subjects.agent_url(&agent)));
            publisher.publish_whole(card, None).await
        } else {
            let answer = self.keep_delivery_alive(read_whole(body), publisher.delivery.as_ref()).await;
            publisher.publish_whole(answer, task_of).await
        }
    }

    /// Leads a message to the node that took it at an earlier delivery.
    async fn forward_to_owner(
        &self,
        owner: &str,
        agent: &str,
        envelope: &RequestEnvelope,
        body: Bytes,
        delivery: Option<QueuedDelivery>,
    ) -> Result<(), NatsError> {
        let subject = self.connection.subjects.work_for_node(owner, agent);
        let id = format!("{}@{owner}", envelope.answer_key);
        self.connection.publish_stored(subject, envelope.encode(), &id, body).await?;
        match delivery {
            Some(delivery) => acknowledge(&delivery.acker, AckKind::Ack).await,
            None => Ok(()),
        }
    }

    /// Tells NATS that the message is being worked on, so that no other node is given it.
    async fn keep_delivery_alive<T>(
        &self,
        work: impl Future<Output = T>,
        delivery: Option<&QueuedDelivery>,
    ) -> T {
        let mut work = pin!(work);
        let Some(delivery) = delivery else {
            return work.await;
        };
        let mut ticks = tokio::time::interval(self.ack_wait / 3);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                done = &mut work => return done,
                _ = ticks.tick() => {
                    let _ = acknowledge(&delivery.acker, AckKind::Progress).await;
                }
            }
        }
    }
}

impl AnswerPublisher<'_> {
    async fn publish_whole(
        &mut self,
        body: Result<Bytes, TransportError>,
        task_of: Option<&str>,
    ) -> Result<(), NatsError> {
        let Ok(body) = body else {
            return self.publish_part(Bytes::new(), None, Some(AnswerEnd::Broken)).await;
        };
        self.note_task_location(task_of, &body).await?;
        self.publish_in_parts(body, None, Some(AnswerEnd::Complete)).await
    }

    /// Publishes each event as it arrives, until the stream ends or nobody has read it for a while.
    async fn publish_events(
        &mut self,
        mut body: trackway_a2a_client::TransportBody,
        task_of: Option<&str>,
    ) -> Result<(), NatsError> {
        let mut parser = SseParser::new(ANSWER_BYTES_MAX);
        let (mut unheard, mut task_of) = (0, task_of);
        loop {
            let executor = self.executor;
            let chunk = executor.keep_delivery_alive(body.next(), self.delivery.as_ref()).await;
            let mut received = match chunk {
                Some(Ok(received)) => received,
                Some(Err(_)) => return self.publish_part(Bytes::new(), None, Some(AnswerEnd::Broken)).await,
                None => return self.publish_part(Bytes::new(), None, Some(AnswerEnd::Complete)).await,
            };
            let mut had_event = false;
            while let Some(event) = parser.next_event(&mut received).map_err(NatsError::malformed)? {
                had_event = true;
                // Only the first event of a message can be about a task that nobody knows yet.
                self.note_task_location(task_of.take(), event.data.as_bytes()).await?;
                let id = event.id.clone();
                self.publish_in_parts(encode_event(&event), id, None).await?;
            }
            if !had_event && self.head.is_none() {
                unheard = if self.is_heard().await { 0 } else { unheard + 1 };
                if unheard >= UNHEARD_MAX {
                    return Ok(());
                }
            }
        }
    }

    /// Before the answer, so that whoever learns of the task finds its node.
    async fn note_task_location(&self, task_of: Option<&str>, body: &[u8]) -> Result<(), NatsError> {
        let Some((agent, task)) = task_of.zip(message_keys::task_in_response(body)) else {
            return Ok(());
        };
        let executor = self.executor;
        task_locations::store_task_location(&executor.connection, agent, &task, &executor.node).await
    }

    async fn publish_in_parts(
        &mut self,
        mut payload: Bytes,
        mut event_id: Option<String>,
        end: Option<AnswerEnd>,
    ) -> Result<(), NatsError> {
        while payload.len() > PART_BYTES_MAX {
            let part = payload.split_to(PART_BYTES_MAX);
            self.publish_part(part, event_id.take(), None).await?;
        }
        self.publish_part(payload, event_id, end).await
    }

    /// Publishes the next part, and acknowledges the message after the first one.
    async fn publish_part(
        &mut self,
        payload: Bytes,
        event_id: Option<String>,
        end: Option<AnswerEnd>,
    ) -> Result<(), NatsError> {
        let connection = &self.executor.connection;
        let (execution, index) = (self.execution.clone(), self.next_index);
        let part = AnswerPart { execution, index, head: self.head.take(), event_id, payload, end };
        let id = format!("{}.{index}", self.execution);
        let mut attempts = 0;
        loop {
            let subject = connection.subjects.answers(self.key);
            let sent = connection.publish_stored(subject, part.encode(), &id, part.payload.clone()).await;
            let Err(error) = sent else { break };
            attempts += 1;
            if attempts >= PUBLISH_ATTEMPTS_MAX {
                return Err(error);
            }
            tracing::debug!(error = describe_error(&error), "an answer waits for NATS");
            let back = async {
                connection.wait_until_disconnected().await;
                connection.wait_until_connected().await;
            };
            let _ = tokio::time::timeout(PUBLISH_PAUSE, back).await;
            let _ = connection.ensure_streams().await;
        }
        self.next_index += 1;
        match self.delivery.take() {
            Some(delivery) => acknowledge(&delivery.acker, AckKind::Ack).await,
            None => Ok(()),
        }
    }

    /// Whether anybody reads the stream.
    async fn is_heard(&self) -> bool {
        let connection = &self.executor.connection;
        let asked = connection.client.request(connection.subjects.heartbeats(self.key), Bytes::new()).await;
        // A reader that is slow, or that cannot be asked, is not a missing one.
        !asked.is_err_and(|error| error.kind() == RequestErrorKind::NoResponders)
    }
}

fn local_request(
    agent: &str,
    envelope: &RequestEnvelope,
    body: Bytes,
) -> Result<TransportRequest, NatsError> {
    let mut url = Url::parse(LOCAL_BASE).map_err(NatsError::malformed)?;
    if let Ok(mut path) = url.path_segments_mut() {
        path.push(agent);
        if envelope.method == Method::GET {
            path.extend([".well-known", "agent-card.json"]);
        }
    }
    let body = (envelope.method == Method::POST).then_some(body);
    let (method, headers) = (envelope.method.clone(), envelope.headers.clone());
    Ok(TransportRequest { method, url, headers, body, purpose: RequestPurpose::Agent })
}

/// The card with its address over NATS, and no other. It is the same from each node.
pub(crate) fn rewrite_card(card: &Bytes, agent_url: &str) -> Bytes {
    let Ok(Value::Object(mut card)) = serde_json::from_slice::<Value>(card) else {
        return card.clone();
    };
    for of_older_generation in
        ["url", "preferredTransport", "additionalInterfaces", "protocolVersion", "signatures"]
    {
        card.remove(of_older_generation);
    }
    let interface = json!({"url": agent_url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"});
    card.insert("supportedInterfaces".to_owned(), json!([interface]));
    Value::Object(card).to_string().into()
}

pub(crate) async fn read_whole(
    mut body: trackway_a2a_client::TransportBody,
) -> Result<Bytes, TransportError> {
    let mut whole = BytesMut::new();
    while let Some(chunk) = body.next().await {
        let chunk = chunk?;
        if whole.len() + chunk.len() > ANSWER_BYTES_MAX {
            return Err(TransportError::TooLarge {
                bytes: whole.len() + chunk.len(),
                bytes_max: ANSWER_BYTES_MAX,
            });
        }
        whole.extend_from_slice(&chunk);
    }
    Ok(whole.freeze())
}

/// The door did not answer at all.
fn answer_of_failed_door(error: &TransportError) -> TransportResponse {
    tracing::error!(%error, "a request over NATS did not reach the node's own door");
    let (status, headers) = (StatusCode::SERVICE_UNAVAILABLE, HeaderMap::new());
    TransportResponse { status, headers, body: Box::pin(futures_util::stream::empty()) }
}

fn is_event_stream(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
    kind.starts_with(b"text/event-stream")
}

/// An event as text, as it was received.
fn encode_event(event: &SseEvent) -> Bytes {
    let mut text = String::with_capacity(event.data.len() + 64);
    if let Some(id) = &event.id {
        text.push_str(&format!("id: {id}\n"));
    }
    if !event.kind.is_empty() {
        text.push_str(&format!("event: {}\n", event.kind));
    }
    for line in event.data.split('\n') {
        text.push_str(&format!("data: {line}\n"));
    }
    text.push('\n');
    text.into()
}

pub(crate) async fn acknowledge(acker: &Acker, kind: AckKind) -> Result<(), NatsError> {
    acker.ack_with(kind).await.map_err(NatsError::request("acknowledging a message"))
}

impl std::fmt::Debug for QueuedDelivery {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("QueuedDelivery").field("deliveries", &self.deliveries).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
