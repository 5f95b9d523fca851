//! Takes requests for this node from NATS and hands each to the executor.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use async_nats::{
    Message,
    jetstream::{
        self,
        consumer::{AckPolicy, pull},
    },
};
use bytes::Bytes;
use futures_util::StreamExt;
use tokio::{
    sync::Semaphore,
    task::{AbortHandle, JoinSet},
};

use crate::{
    NatsError,
    envelope::RequestEnvelope,
    mesh_subjects::MeshSubjects,
    nats_connection::NatsConnection,
    nats_error::describe_error,
    request_execution::{ArrivedRequest, QueuedDelivery, RequestExecutor},
};

/// Requests of one kind that a node executes at once, streams included; further ones wait in NATS.
/// Limit (Mesh): requests over NATS that one node executes at once, of queued work and of calls each.
const REQUESTS_MAX: usize = 1_024;

/// How often a message is delivered that each time ends its node.
/// Limit (Mesh): deliveries of one request over NATS.
const DELIVERIES_MAX: i64 = 100;

/// How long one pull waits at the server, and how often the server shows that it is still there.
const PULL_EXPIRES: Duration = Duration::from_secs(30);
const PULL_HEARTBEAT: Duration = Duration::from_secs(5);

/// The group in which the receivers of calls take turns.
const CALL_QUEUE: &str = "nodes";

/// Pause before a consumer that failed is made again.
const RESTART_PAUSE: Duration = Duration::from_secs(1);

/// The sources of requests of one node. Dropping it ends them; requests under way end with it too.
#[derive(Debug)]
pub(crate) struct WorkIntake {
    executor: RequestExecutor,
    node_sources: Vec<AbortHandle>,
    agent_sources: BTreeMap<String, [AbortHandle; 2]>,
    queued: Arc<Semaphore>,
    calls: Arc<Semaphore>,
    tasks: JoinSet<()>,
}

impl WorkIntake {
    pub(crate) fn new(executor: RequestExecutor) -> Self {
        let mut intake = Self {
            executor,
            node_sources: Vec::new(),
            agent_sources: BTreeMap::new(),
            queued: Arc::new(Semaphore::new(REQUESTS_MAX)),
            calls: Arc::new(Semaphore::new(REQUESTS_MAX)),
            tasks: JoinSet::new(),
        };
        let subjects = &intake.executor.connection.subjects;
        let node = intake.executor.node.to_string();
        let work = QueueSource {
            consumer: MeshSubjects::node_consumer(&node),
            subject: subjects.all_work_for_node(&node),
            is_shared: false,
        };
        let calls = CallSource { subject: subjects.all_calls_to_node(&node) };
        intake.node_sources = intake.start_sources(work, calls).into();
        intake
    }

    /// Takes requests for exactly these agents from now on.
    pub(crate) fn serve_agents(&mut self, agents: &[String]) {
        self.agent_sources.retain(|agent, sources| {
            let is_offered = agents.contains(agent);
            if !is_offered {
                sources.iter().for_each(AbortHandle::abort);
            }
            is_offered
        });
        for agent in agents {
            if !self.agent_sources.contains_key(agent) {
                let subjects = &self.executor.connection.subjects;
                let work = QueueSource {
                    consumer: MeshSubjects::agent_consumer(agent),
                    subject: subjects.work_for_agent(agent),
                    is_shared: true,
                };
                let calls = CallSource { subject: subjects.call_to_agent(agent) };
                let sources = self.start_sources(work, calls);
                self.agent_sources.insert(agent.clone(), sources);
            }
        }
        // What has ended is not kept.
        while self.tasks.try_join_next().is_some() {}
    }

    /// Takes nothing more; requests under way go on.
    pub(crate) fn stop_taking(&mut self) {
        let sources = self.agent_sources.values().flatten().chain(&self.node_sources);
        sources.for_each(AbortHandle::abort);
    }

    fn start_sources(&mut self, work: QueueSource, calls: CallSource) -> [AbortHandle; 2] {
        let (executor, permits) = (self.executor.clone(), Arc::clone(&self.queued));
        let work = self.tasks.spawn(async move { work.take_until_dropped(executor, permits).await });
        let (executor, permits) = (self.executor.clone(), Arc::clone(&self.calls));
        let calls = self.tasks.spawn(async move { calls.take_until_dropped(executor, permits).await });
        [work, calls]
    }
}

/// A durable consumer of the work queue.
struct QueueSource {
    consumer: String,
    subject: String,
    /// Several nodes take from it.
    is_shared: bool,
}

impl QueueSource {
    async fn take_until_dropped(self, executor: RequestExecutor, permits: Arc<Semaphore>) {
        let mut running = JoinSet::new();
        loop {
            executor.connection.wait_until_connected().await;
            if let Err(error) = self.take_messages(&executor, &permits, &mut running).await {
                let error = describe_error(&error);
                tracing::debug!(consumer = self.consumer, error, "a consumer of NATS is made again");
            }
            tokio::time::sleep(RESTART_PAUSE).await;
        }
    }

    async fn take_messages(
        &self,
        executor: &RequestExecutor,
        permits: &Arc<Semaphore>,
        running: &mut JoinSet<()>,
    ) -> Result<(), NatsError> {
        let doing = "taking work";
        let consumer = self.open_consumer(&executor.connection, executor.ack_wait).await?;
        // One at a time: what waits here could be done by another node.
        let pull =
            consumer.stream().max_messages_per_batch(1).expires(PULL_EXPIRES).heartbeat(PULL_HEARTBEAT);
        let mut messages = pull.messages().await.map_err(NatsError::request(doing))?;
        loop {
            let Ok(permit) = Arc::clone(permits).acquire_owned().await else { return Ok(()) };
            let Some(message) = messages.next().await else { return Ok(()) };
            let message = message.map_err(NatsError::request(doing))?;
            let Some(request) = self.read_message(executor, message).await else { continue };
            let executor = executor.clone();
            running.spawn(async move {
                executor.execute(request).await;
                drop(permit);
            });
            while running.try_join_next().is_some() {}
        }
    }

    async fn open_consumer(
        &self,
        connection: &NatsConnection,
        ack_wait: Duration,
    ) -> Result<jetstream::consumer::Consumer<pull::Config>, NatsError> {
        let config = pull::Config {
            durable_name: Some(self.consumer.clone()),
            filter_subject: self.subject.clone(),
            ack_policy: AckPolicy::Explicit,
            ack_wait,
            max_deliver: DELIVERIES_MAX,
            max_ack_pending: i64::try_from(REQUESTS_MAX).unwrap_or(i64::MAX),
            ..pull::Config::default()
        };
        let stream = connection.subjects.work_stream();
        let created = connection.jetstream.create_consumer_on_stream(config, stream).await;
        created.map_err(NatsError::request("creating a consumer"))
    }

    /// The request in a message. One that cannot be read is removed: no node could.
    async fn read_message(
        &self,
        executor: &RequestExecutor,
        message: jetstream::Message,
    ) -> Option<ArrivedRequest> {
        let deliveries = message.info().map(|info| info.delivered).unwrap_or(1);
        let (message, acker) = message.split();
        match read_request(&executor.connection, message) {
            Ok(request) => {
                let delivery = QueuedDelivery { acker, deliveries, is_shared: self.is_shared };
                Some(ArrivedRequest { delivery: Some(delivery), ..request })
            }
            Err(error) => {
                tracing::warn!(%error, "a message in the work queue is no request");
                let _ = acker.ack_with(jetstream::AckKind::Term).await;
                None
            }
        }
    }
}

/// A subscription for requests that do not wait.
struct CallSource {
    subject: String,
}

impl CallSource {
    async fn take_until_dropped(self, executor: RequestExecutor, permits: Arc<Semaphore>) {
        let mut running = JoinSet::new();
        loop {
            if let Err(error) = self.take_calls(&executor, &permits, &mut running).await {
                tracing::debug!(error = describe_error(&error), "a subscription of NATS is made again");
            }
            tokio::time::sleep(RESTART_PAUSE).await;
        }
    }

    async fn take_calls(
        &self,
        executor: &RequestExecutor,
        permits: &Arc<Semaphore>,
        running: &mut JoinSet<()>,
    ) -> Result<(), NatsError> {
        let client = &executor.connection.client;
        // One of the processes gets each call: nodes of one agent, or processes of one store.
        let subscribed = client.queue_subscribe(self.subject.clone(), CALL_QUEUE.to_owned()).await;
        let mut calls = subscribed.map_err(NatsError::request("subscribing"))?;
        loop {
            let Ok(permit) = Arc::clone(permits).acquire_owned().await else { return Ok(()) };
            let Some(call) = calls.next().await else { return Ok(()) };
            let reply = call.reply.clone();
            let request = match read_request(&executor.connection, call) {
                Ok(request) => request,
                Err(error) => {
                    tracing::debug!(%error, "a call over NATS is no request");
                    continue;
                }
            };
            if let Some(reply) = reply {
                client.publish(reply, Bytes::new()).await.map_err(NatsError::request("accepting a call"))?;
            }
            let executor = executor.clone();
            running.spawn(async move {
                executor.execute(request).await;
                drop(permit);
            });
            while running.try_join_next().is_some() {}
        }
    }
}

fn read_request(connection: &NatsConnection, message: Message) -> Result<ArrivedRequest, NatsError> {
    let agent = connection.subjects.agent_of_subject(&message.subject);
    let agent = agent.ok_or_else(|| NatsError::malformed("its subject names no agent"))?;
    let envelope = RequestEnvelope::decode(&message.headers.unwrap_or_default())?;
    Ok(ArrivedRequest { agent, envelope, body: message.payload, delivery: None })
}
