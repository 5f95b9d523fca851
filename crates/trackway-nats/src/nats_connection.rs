//! The connection to NATS, and the streams and buckets of a namespace.

use std::{sync::Arc, time::Duration};

use async_nats::{
    ConnectOptions, Event, ServerAddr,
    jetstream::{
        self, Context,
        kv::Store,
        stream::{Config, DiscardPolicy, RetentionPolicy, StorageType},
    },
};
use bytes::Bytes;
use tokio::sync::{OnceCell, watch};

use crate::{NatsError, NatsOptions, mesh_subjects::MeshSubjects};

/// Longest wait for an answer of the NATS server itself.
/// Limit (Mesh): wait for the NATS server to answer a request of ours.
const SERVER_TIMEOUT: Duration = Duration::from_secs(5);

/// How long work waits for a node that is away.
/// Limit (Mesh): age of a request that waits in NATS for its agent.
const WORK_AGE_MAX: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Limit (Mesh): bytes of requests that wait in NATS for their agents; further ones are refused.
const WORK_BYTES_MAX: i64 = 256 * 1024 * 1024;

/// A request that is sent again within this time is the same request for NATS. After it the message id
/// still makes it harmless.
/// Limit (Mesh): time in which NATS recognises a repeated request.
const REPEAT_WINDOW: Duration = Duration::from_secs(10 * 60);

/// How long an answer can be read again, for a caller that was away itself.
/// Limit (Mesh): age of an answer that can be read again in NATS.
const ANSWER_AGE_MAX: Duration = Duration::from_secs(60 * 60);

/// Limit (Mesh): bytes of answers that can be read again in NATS; the oldest go first.
const ANSWER_BYTES_MAX: i64 = 256 * 1024 * 1024;

/// How long it is known which node has a task.
/// Limit (Mesh): age of the note which node has a task, since its first answer.
const LOCATION_AGE_MAX: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Limit (Mesh): bytes of the notes which node has a task; the oldest go first.
const LOCATION_BYTES_MAX: i64 = 128 * 1024 * 1024;

/// Limit (Mesh): bytes of all cards of a namespace in NATS; further ones are refused.
const CARDS_BYTES_MAX: i64 = 64 * 1024 * 1024;

/// Largest message that is sent. It is the default of the server, which may allow less.
/// Limit (Mesh): a request over NATS with its headers; larger content goes as an artifact.
pub(crate) const MESSAGE_BYTES_MAX: usize = 1024 * 1024;

/// A connection that comes back by itself. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct NatsConnection {
    pub(crate) client: async_nats::Client,
    pub(crate) jetstream: Context,
    pub(crate) subjects: MeshSubjects,
    connected: watch::Receiver<bool>,
    buckets: Arc<OnceCell<MeshBuckets>>,
    card_expiry: Duration,
}

/// The key-value buckets of a namespace.
#[derive(Debug, Clone)]
pub(crate) struct MeshBuckets {
    /// The cards of each node; they expire unless the node renews them.
    pub(crate) cards: Store,
    /// Which node took which message and has which task.
    pub(crate) tasks: Store,
}

impl NatsConnection {
    /// Returns at once; the connection is made in the background, and again whenever it is lost.
    pub(crate) async fn open(options: &NatsOptions) -> Result<Self, NatsError> {
        trackway_outgoing::install_tls_provider();
        let subjects = MeshSubjects::new(&options.namespace)?;
        let (says_connected, connected) = watch::channel(false);
        let connect = ConnectOptions::new()
            .name(format!("trackway {}", options.node))
            .retry_on_initial_connect()
            .max_reconnects(None)
            .request_timeout(Some(SERVER_TIMEOUT))
            .event_callback(move |event| {
                match event {
                    Event::Connected => drop(says_connected.send_replace(true)),
                    Event::Disconnected | Event::Closed => drop(says_connected.send_replace(false)),
                    other => tracing::debug!(event = %other, "NATS"),
                }
                async {}
            });
        let client = connect.connect(parse_server_url(&options.url)?).await;
        let client = client.map_err(|error| NatsError::InvalidUrl { reason: error.kind().to_string() })?;
        let mut jetstream = jetstream::new(client.clone());
        jetstream.set_timeout(SERVER_TIMEOUT);
        let buckets = Arc::default();
        Ok(Self { client, jetstream, subjects, connected, buckets, card_expiry: options.card_expiry })
    }

    pub(crate) fn is_connected(&self) -> bool {
        *self.connected.borrow()
    }

    pub(crate) async fn wait_until_connected(&self) {
        let _ = self.connected.clone().wait_for(|connected| *connected).await;
    }

    pub(crate) async fn wait_until_disconnected(&self) {
        let _ = self.connected.clone().wait_for(|connected| !*connected).await;
    }

    /// Creates what the namespace needs and does not have yet. A server that lost its data is given it again.
    pub(crate) async fn ensure_streams(&self) -> Result<(), NatsError> {
        let subjects = &self.subjects;
        let work = Config {
            name: subjects.work_stream(),
            subjects: vec![subjects.all_work()],
            retention: RetentionPolicy::WorkQueue,
            storage: StorageType::File,
            // A full queue refuses new work; it does not lose what was accepted.
            discard: DiscardPolicy::New,
            max_age: WORK_AGE_MAX,
            max_bytes: WORK_BYTES_MAX,
            duplicate_window: REPEAT_WINDOW,
            ..Config::default()
        };
        let answers = Config {
            name: subjects.answer_stream(),
            subjects: vec![subjects.all_answers()],
            storage: StorageType::File,
            discard: DiscardPolicy::Old,
            max_age: ANSWER_AGE_MAX,
            max_bytes: ANSWER_BYTES_MAX,
            duplicate_window: REPEAT_WINDOW,
            ..Config::default()
        };
        let cards = Config {
            max_bytes: CARDS_BYTES_MAX,
            ..bucket_config(&subjects.cards_bucket(), self.card_expiry)
        };
        let tasks = Config {
            max_bytes: LOCATION_BYTES_MAX,
            discard: DiscardPolicy::Old,
            ..bucket_config(&subjects.tasks_bucket(), LOCATION_AGE_MAX)
        };
        for config in [work, answers, cards, tasks] {
            let created = self.jetstream.get_or_create_stream(config).await;
            created.map_err(NatsError::request("creating a stream"))?;
        }
        Ok(())
    }

    pub(crate) async fn buckets(&self) -> Result<&MeshBuckets, NatsError> {
        let open = || async {
            let cards = self.jetstream.get_key_value(self.subjects.cards_bucket()).await;
            let tasks = self.jetstream.get_key_value(self.subjects.tasks_bucket()).await;
            let failed = NatsError::request("opening a bucket");
            match (cards, tasks) {
                (Ok(cards), Ok(tasks)) => Ok(MeshBuckets { cards, tasks }),
                (Err(error), _) | (_, Err(error)) => Err(failed(error)),
            }
        };
        self.buckets.get_or_try_init(open).await
    }

    /// Publishes to a stream and waits until the server has stored it. `true`: a message with this id was
    /// stored before, and this one is dropped.
    pub(crate) async fn publish_stored(
        &self,
        subject: String,
        mut headers: async_nats::HeaderMap,
        id: &str,
        payload: Bytes,
    ) -> Result<bool, NatsError> {
        headers.insert(async_nats::header::NATS_MESSAGE_ID, id);
        let doing = "publishing";
        let sent = self.jetstream.publish_with_headers(subject, headers, payload).await;
        let stored = sent.map_err(NatsError::request(doing))?.await;
        Ok(stored.map_err(NatsError::request(doing))?.duplicate)
    }

    /// A word that nobody else has.
    pub(crate) fn unique_word(&self) -> String {
        let inbox = self.client.new_inbox();
        inbox.rsplit('.').next().unwrap_or_default().to_owned()
    }

    /// The largest message that the server takes.
    pub(crate) fn message_bytes_max(&self) -> usize {
        match self.client.max_payload() {
            0 => MESSAGE_BYTES_MAX,
            allowed => allowed.min(MESSAGE_BYTES_MAX),
        }
    }
}

/// The address of a NATS server. The text is not repeated in the error: it may contain a password.
pub(crate) fn parse_server_url(url: &str) -> Result<ServerAddr, NatsError> {
    let invalid = |reason: &str| NatsError::InvalidUrl { reason: reason.to_owned() };
    if !["nats://", "tls://"].iter().any(|scheme| url.starts_with(scheme)) {
        return Err(invalid("it begins with nats:// or tls://"));
    }
    let address: ServerAddr = url.parse().map_err(|_| invalid("it is not a URL"))?;
    if address.host().is_empty() {
        return Err(invalid("it names no host"));
    }
    Ok(address)
}

/// The stream of a bucket, as NATS clients make it. It is created as a stream because older servers refuse
/// the request of newer clients for a bucket.
fn bucket_config(bucket: &str, expiry: Duration) -> Config {
    Config {
        name: format!("KV_{bucket}"),
        subjects: vec![format!("$KV.{bucket}.>")],
        max_messages_per_subject: 1,
        max_age: expiry,
        // The server refuses a window that is longer than its messages live.
        duplicate_window: expiry.min(Duration::from_secs(120)),
        storage: StorageType::File,
        discard: DiscardPolicy::New,
        allow_rollup: true,
        deny_delete: true,
        allow_direct: true,
        ..Config::default()
    }
}
