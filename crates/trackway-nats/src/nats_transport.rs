//! Carries the requests of a client to an agent over NATS.
//!
//! A message that starts a task goes into the work queue of its agent, one that continues a task into that
//! of the node that has it; both wait there if nobody is connected. Everything else is worth nothing later
//! and goes straight to a node. Answers come back on the replayable stream, under a key that a caller which
//! was itself restarted finds again.

use std::sync::Arc;

use async_nats::{
    RequestErrorKind, Subscriber,
    client::Request,
    jetstream::consumer::{DeliverPolicy, pull::Ordered, pull::OrderedConfig},
};
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http::{Method, StatusCode, header::ACCEPT};
use trackway_a2a_client::{
    RequestPurpose, RequestTransport, TransportError, TransportFuture, TransportRequest, TransportResponse,
};

use crate::{
    NatsError,
    answer_reader::{AnswerReader, PartMeaning},
    envelope::{AnswerEnd, AnswerPart, RequestEnvelope},
    message_keys,
    nats_connection::NatsConnection,
    task_locations,
};

/// How often a message is asked for again after a node refused it for the time being: the answers to the
/// earlier attempts stay readable, so each attempt has its own key.
/// Limit (Mesh): attempts of one message that a busy node refused.
const GENERATIONS_MAX: u32 = 64;

/// Room for headers in the largest message.
/// Limit (Mesh): headers of a request over NATS.
const HEADERS_BYTES_MAX: usize = 32 * 1024;

/// A comment of a stream of events: the connection is alive.
const ALIVE: &[u8] = b":\n\n";

/// The way to one agent.
#[derive(Debug, Clone)]
pub(crate) struct NatsTransport {
    connection: NatsConnection,
    agent: Arc<str>,
}

/// An answer that arrives part by part.
struct ArrivingAnswer {
    connection: NatsConnection,
    parts: Ordered,
    /// Questions whether this reader is still there; only for streams of events.
    heartbeats: Option<Subscriber>,
    reader: AnswerReader,
    /// No event is half received, so that a comment may follow.
    is_between_events: bool,
    is_over: bool,
}

impl NatsTransport {
    pub(crate) fn new(connection: NatsConnection, agent: &str) -> Self {
        Self { connection, agent: agent.into() }
    }

    async fn carry_request(&self, request: TransportRequest) -> Result<TransportResponse, TransportError> {
        self.check_size(&request)?;
        if !self.connection.is_connected() {
            // Otherwise it would be sent at some time after the caller has given up.
            return Err(not_sent(NatsError::Disconnected));
        }
        match request.purpose.clone() {
            RequestPurpose::Message { message, task } => self.deliver_message(request, &message, task).await,
            RequestPurpose::Task { task } => {
                let node = self.find_node(&task).await?;
                let subject = match node {
                    Some(node) => self.connection.subjects.call_to_node(&node, &self.agent),
                    None => self.connection.subjects.call_to_agent(&self.agent),
                };
                self.call_now(request, subject).await
            }
            RequestPurpose::Agent => {
                let subject = self.connection.subjects.call_to_agent(&self.agent);
                self.call_now(request, subject).await
            }
        }
    }

    /// Puts a message into a work queue and reads its answer.
    async fn deliver_message(
        &self,
        request: TransportRequest,
        message: &str,
        task: Option<String>,
    ) -> Result<TransportResponse, TransportError> {
        let node = match &task {
            Some(task) => self.find_node(task).await?,
            None => None,
        };
        let subject = match &node {
            Some(node) => self.connection.subjects.work_for_node(node, &self.agent),
            None => self.connection.subjects.work_for_agent(&self.agent),
        };
        let body = request.body.clone().unwrap_or_default();
        let claim = message_keys::message_key(&self.agent, &request.headers, message);
        let method = message_keys::rpc_method(&body);
        for generation in 0..GENERATIONS_MAX {
            let answer_key = message_keys::answer_key(&claim, &method, generation);
            let envelope = RequestEnvelope {
                answer_key: answer_key.clone(),
                claim: Some(claim.clone()),
                method: Method::POST,
                headers: request.headers.clone(),
            };
            let published = self.publish_work(&subject, &envelope, body.clone()).await?;
            let response = self.read_answer(&answer_key, wants_events(&request)).await?;
            // A token that travels with a message may have expired while it waited.
            let may_differ =
                is_transient_status(response.status) || response.status == StatusCode::UNAUTHORIZED;
            if !(published.is_repetition && may_differ) {
                return Ok(response);
            }
            // The refusal of an earlier attempt: this attempt has had none yet.
        }
        Err(not_sent(NatsError::NobodyThere))
    }

    async fn publish_work(
        &self,
        subject: &str,
        envelope: &RequestEnvelope,
        body: Bytes,
    ) -> Result<PublishedWork, TransportError> {
        let connection = &self.connection;
        let publish = || {
            let (headers, id) = (envelope.encode(), envelope.answer_key.as_str());
            connection.publish_stored(subject.to_owned(), headers, id, body.clone())
        };
        let is_repetition = match publish().await {
            Ok(is_repetition) => is_repetition,
            // The server may have lost its streams. To publish twice is harmless.
            Err(_) if connection.is_connected() => {
                connection.ensure_streams().await.map_err(not_sent)?;
                publish().await.map_err(broken)?
            }
            Err(error) => return Err(broken(error)),
        };
        Ok(PublishedWork { is_repetition })
    }

    /// Hands a request to a node that is there now.
    async fn call_now(
        &self,
        request: TransportRequest,
        subject: String,
    ) -> Result<TransportResponse, TransportError> {
        let wants_events = wants_events(&request);
        let answer_key = self.connection.unique_word();
        let envelope = RequestEnvelope {
            answer_key: answer_key.clone(),
            claim: None,
            method: request.method,
            headers: request.headers,
        };
        let call = Request::new().headers(envelope.encode()).payload(request.body.unwrap_or_default());
        let accepted = self.connection.client.send_request(subject, call).await;
        accepted.map_err(|error| match error.kind() {
            RequestErrorKind::NoResponders => not_sent(NatsError::NobodyThere),
            _ => broken(NatsError::request("calling a node")(error)),
        })?;
        self.read_answer(&answer_key, wants_events).await
    }

    async fn read_answer(&self, key: &str, wants_events: bool) -> Result<TransportResponse, TransportError> {
        let mut answer = ArrivingAnswer::open(&self.connection, key, wants_events).await.map_err(broken)?;
        loop {
            let part = match answer.next_part().await? {
                Some(ArrivedItem::Part(part)) => *part,
                Some(ArrivedItem::Heartbeat) => continue,
                None => return Err(broken(NatsError::malformed("an answer ended before it began"))),
            };
            if let Some(head) = part.head {
                tracing::debug!(node = head.node, status = %head.status, "a node answers over NATS");
                let first = stream::once(async { Ok(part.payload) });
                let body = Box::pin(first.chain(answer.into_byte_stream()));
                return Ok(TransportResponse { status: head.status, headers: head.headers, body });
            }
        }
    }

    async fn find_node(&self, task: &str) -> Result<Option<String>, TransportError> {
        task_locations::find_task_location(&self.connection, &self.agent, task).await.map_err(not_sent)
    }

    fn check_size(&self, request: &TransportRequest) -> Result<(), TransportError> {
        let headers: usize =
            request.headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
        let bytes = request.body.as_ref().map_or(0, Bytes::len);
        let bytes_max = self.connection.message_bytes_max().saturating_sub(HEADERS_BYTES_MAX);
        if bytes > bytes_max || headers > HEADERS_BYTES_MAX / 2 {
            return Err(TransportError::TooLarge { bytes: bytes + headers, bytes_max });
        }
        Ok(())
    }
}

impl RequestTransport for NatsTransport {
    fn send_request(&self, request: TransportRequest) -> TransportFuture<'_> {
        Box::pin(self.carry_request(request))
    }
}

#[derive(Debug, Clone, Copy)]
struct PublishedWork {
    /// NATS had the same request already, and dropped this one.
    is_repetition: bool,
}

/// What arrives while an answer is read.
enum ArrivedItem {
    Part(Box<AnswerPart>),
    /// The node asked whether anybody reads.
    Heartbeat,
}

impl ArrivingAnswer {
    async fn open(connection: &NatsConnection, key: &str, wants_events: bool) -> Result<Self, NatsError> {
        let subjects = &connection.subjects;
        let heartbeats = match wants_events {
            true => {
                let subscribed = connection.client.subscribe(subjects.heartbeats(key)).await;
                Some(subscribed.map_err(NatsError::request("subscribing"))?)
            }
            false => None,
        };
        let config = OrderedConfig {
            filter_subject: subjects.answers(key),
            deliver_policy: DeliverPolicy::All,
            ..OrderedConfig::default()
        };
        let doing = "reading an answer";
        let consumer = connection.jetstream.create_consumer_on_stream(config, subjects.answer_stream()).await;
        let parts = consumer.map_err(NatsError::request(doing))?.messages().await;
        let parts = parts.map_err(NatsError::request(doing))?;
        let (connection, reader) = (connection.clone(), AnswerReader::default());
        Ok(Self { connection, parts, heartbeats, reader, is_between_events: true, is_over: false })
    }

    async fn next_part(&mut self) -> Result<Option<ArrivedItem>, TransportError> {
        while !self.is_over {
            let heartbeats = self.heartbeats.as_mut();
            let asked = async {
                match heartbeats {
                    Some(heartbeats) => heartbeats.next().await,
                    None => None,
                }
            };
            let message = tokio::select! {
                message = self.parts.next() => message,
                Some(asked) = asked => {
                    if let Some(reply) = asked.reply {
                        let _ = self.connection.client.publish(reply, Bytes::new()).await;
                    }
                    if self.is_between_events {
                        return Ok(Some(ArrivedItem::Heartbeat));
                    }
                    continue;
                }
            };
            let Some(message) = message else {
                self.is_over = true;
                return Err(broken(NatsError::malformed("its stream has ended")));
            };
            let message = message.map_err(|error| broken(NatsError::request("reading an answer")(error)))?;
            let headers = message.headers.clone().unwrap_or_default();
            let part = AnswerPart::decode(&headers, message.payload.clone()).map_err(broken)?;
            match self.reader.accept_part(part) {
                PartMeaning::Ignored => {}
                PartMeaning::Broken(reason) => {
                    self.is_over = true;
                    return Err(broken(NatsError::malformed(reason)));
                }
                PartMeaning::Next(part) => {
                    self.is_over = part.end.is_some();
                    self.is_between_events = part.payload.ends_with(b"\n\n");
                    if part.end == Some(AnswerEnd::Broken) {
                        return Err(broken(NatsError::malformed("the node lost the rest of the answer")));
                    }
                    return Ok(Some(ArrivedItem::Part(part)));
                }
            }
        }
        Ok(None)
    }

    fn into_byte_stream(self) -> impl futures_util::Stream<Item = Result<Bytes, TransportError>> + Send {
        stream::unfold(Some(self), |answer| async move {
            let mut answer = answer?;
            match answer.next_part().await {
                Ok(Some(ArrivedItem::Part(part))) => Some((Ok(part.payload), Some(answer))),
                Ok(Some(ArrivedItem::Heartbeat)) => Some((Ok(Bytes::from_static(ALIVE)), Some(answer))),
                Ok(None) => None,
                Err(error) => Some((Err(error), None)),
            }
        })
    }
}

fn wants_events(request: &TransportRequest) -> bool {
    request.headers.get(ACCEPT).is_some_and(|accept| accept == "text/event-stream")
}

/// The node may take the same request later.
pub(crate) fn is_transient_status(status: StatusCode) -> bool {
    matches!(status.as_u16(), 429 | 502 | 503 | 504)
}

fn not_sent(error: NatsError) -> TransportError {
    TransportError::NotSent(error.into())
}

fn broken(error: NatsError) -> TransportError {
    TransportError::Broken(error.into())
}
