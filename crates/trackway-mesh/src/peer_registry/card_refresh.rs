//! Asks peers for their cards: one task per registry, at most a few questions at once.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use futures_util::{StreamExt as _, stream::FuturesUnordered};
use reqwest::Url;
use serde_json::Value;
use trackway_a2a_client::{AgentCard, Client, ClientError, Options, TransportError};
use trackway_domain::Timestamp;
use trackway_outgoing::{build_operator_client, describe_request_error};

use crate::{PeerCredentials, PeerHealth, card_classification::classify_card};

use super::{
    SharedRegistry,
    peer_entry::{Contact, KnownCard, PeerEntry},
    registry_state::PeerId,
};

/// Peers that are asked at the same time.
/// Limit (Mesh): peers that are asked for their cards at the same time.
const ASKED_AT_ONCE: usize = 16;
/// How long a card may take. Whoever needs longer for a small document is not up.
/// Limit (Mesh): time to read a peer's card.
const CARD_TIMEOUT: Duration = Duration::from_secs(10);
/// A call that cannot connect is repeated once: the model is to learn of it at once.
/// Limit (Mesh): repetitions of a request to a peer that could not be sent.
const CALL_RETRIES: u32 = 1;
/// The task of which a peer is asked to learn whether it answers; none has this id.
const PROBE_TASK: &str = "trackway-ping";
/// The base of a card that was not read from any address.
const NO_BASE: &str = "http://card.invalid/";

/// HTTP clients for addresses of the operator. All peers share them: reading the root certificates takes
/// milliseconds and megabytes.
#[derive(Debug, Default)]
pub(super) struct OperatorClients(Mutex<HashMap<String, reqwest::Client>>);

impl OperatorClients {
    fn client_for(&self, url: &Url) -> Result<reqwest::Client, reqwest::Error> {
        // Only the scheme makes a difference.
        let mut clients = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(url.scheme()) {
            return Ok(client.clone());
        }
        let client = build_operator_client(url)?;
        clients.insert(url.scheme().to_owned(), client.clone());
        Ok(client)
    }
}

/// Why a peer is asked, and so what a failure means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AskReason {
    /// A failure brings the peer nearer to being down.
    Refresh,
    /// Somebody wants to know, or needs the peer now.
    Demand,
}

/// Asks each peer when it is due, and looks for peers that another process added. Ends when the registry is
/// dropped.
pub(super) async fn keep_cards_current(registry: Weak<SharedRegistry>) {
    let mut asked = FuturesUnordered::new();
    // The start has just loaded the stored peers.
    let mut next_look: Option<Timestamp> = None;
    loop {
        let Some(shared) = registry.upgrade() else { return };
        let (clock, wake) = (shared.clock.clone(), shared.wake.clone());
        let now = clock.now();
        let look = *next_look.get_or_insert_with(|| now + shared.mesh_refresh());
        if look <= now {
            if let Err(error) = shared.load_added_peers().await {
                tracing::warn!(%error, "changes of the added peers go unnoticed");
            }
            next_look = Some(now + shared.mesh_refresh());
        }
        let due = shared.lock_state().take_due(now, ASKED_AT_ONCE - asked.len());
        // Some may have been excluded without being asked.
        shared.answers.send_modify(|answers| *answers += 1);
        for id in due {
            let shared = shared.clone();
            asked.push(async move { shared.refresh(id).await });
        }
        // With as many questions as there may be, a peer that is due waits for an answer to one of them.
        let next_due = shared.lock_state().next_due().filter(|_| asked.len() < ASKED_AT_ONCE);
        let until = next_due.into_iter().chain(next_look).min().unwrap_or(now);
        drop(shared);
        tokio::select! {
            _ = asked.next(), if !asked.is_empty() => {}
            () = clock.sleep_until(until) => {}
            () = wake.notified() => {}
        }
    }
}

impl SharedRegistry {
    fn mesh_refresh(&self) -> Duration {
        self.lock_state().options().refresh
    }

    /// Asks a peer because it is due.
    async fn refresh(&self, id: PeerId) {
        // Its result is in the state.
        let _ = self.ask(id, AskReason::Refresh).await;
    }

    /// Asks a peer whose card is needed now, unless it has been asked while the caller waited for its turn.
    pub(super) async fn ask_unless_known(&self, id: PeerId) {
        let attempts = |entry: &PeerEntry| (entry.attempts, entry.demand.clone());
        let Some((before, demand)) = self.lock_state().entry(id).map(attempts) else { return };
        let _one_at_a_time = demand.lock().await;
        let is_same = self.lock_state().entry(id).is_some_and(|entry| entry.attempts == before);
        if is_same {
            // Its result is in the state.
            let _ = self.ask(id, AskReason::Demand).await;
        }
    }

    /// Asks a peer whether it answers.
    pub(super) async fn ping(&self, id: PeerId) -> Result<(), String> {
        self.ask(id, AskReason::Demand).await
    }

    async fn ask(&self, id: PeerId, reason: AskReason) -> Result<(), String> {
        let Some((contact, url, client)) = self.contact_of(id) else {
            return Err("it was removed".to_owned());
        };
        let answer = match (contact, client) {
            (Contact::Http(_), Some(client)) => reread_card(&client).await,
            (Contact::Http(credentials), None) => self.read_first_card(&url, &credentials).await.map(Some),
            (Contact::Static | Contact::Discovery(_), Some(client)) => probe(&client).await.map(|()| None),
            (Contact::Static | Contact::Discovery(_), None) => Err("it has no usable card".to_owned()),
        };
        let (now, random) = (self.clock.now(), self.ids.random_u64());
        let result = answer.as_ref().map(drop).map_err(Clone::clone);
        self.change_state(|state| {
            let refresh = state.options().refresh;
            let Some(entry) = state.entry_mut(id) else { return };
            match answer {
                Ok(newer) => entry.record_answer(newer, now),
                Err(why) if reason == AskReason::Refresh => entry.record_failure(&why),
                Err(why) => entry.record_error(&why),
            }
            let is_due_again = reason == AskReason::Refresh || entry.health == PeerHealth::Up;
            if matches!(entry.contact, Contact::Http(_)) && is_due_again {
                entry.due = Some(now + entry.next_pause(refresh, random));
            }
            entry.is_being_asked &= reason == AskReason::Demand;
        });
        self.answers.send_modify(|answers| *answers += 1);
        result
    }

    fn contact_of(&self, id: PeerId) -> Option<(Contact, String, Option<Client>)> {
        let state = self.lock_state();
        let entry = state.entry(id)?;
        let client = entry.known.as_ref().map(|known| known.client.clone());
        Some((entry.contact.clone(), entry.url.clone(), client))
    }

    /// Reads the card of a peer for the first time.
    pub(super) async fn read_first_card(
        &self,
        url: &str,
        credentials: &PeerCredentials,
    ) -> Result<KnownCard, String> {
        let parsed = Url::parse(url).map_err(|error| error.to_string())?;
        let http = self.clients.client_for(&parsed).map_err(|error| describe_request_error(&error))?;
        let client = Client::discover(url, card_options(http, credentials)?).await;
        let client = client.map_err(|error| describe_client_error(&error))?;
        known_from_client(client)
    }
}

/// `None` if the card has not changed.
async fn reread_card(client: &Client) -> Result<Option<KnownCard>, String> {
    let newer = client.rediscover_if_card_changed().await.map_err(|error| describe_client_error(&error))?;
    newer.map(known_from_client).transpose()
}

/// Whether an agent answers whose card does not come from an address: any answer of the protocol will do.
async fn probe(client: &Client) -> Result<(), String> {
    match client.get_task(PROBE_TASK, Some(0)).await {
        Ok(_) | Err(ClientError::Refused(_)) => Ok(()),
        Err(error) => Err(describe_client_error(&error)),
    }
}

fn known_from_client(client: Client) -> Result<KnownCard, String> {
    let Some(card) = client.agent_card() else { return Err("it has no card".to_owned()) };
    let kind = classify_card(card).map_err(|refusal| refusal.to_string())?;
    Ok(KnownCard { card: Arc::new(card.clone()), kind, client })
}

/// What follows from a card that the operator wrote down.
pub(super) fn known_from_static_card(
    document: Value,
    credentials: &PeerCredentials,
) -> Result<KnownCard, String> {
    let describe = |error: ClientError| describe_client_error(&error);
    let card = AgentCard::from_document(document, None).map_err(describe)?;
    // The operator wrote the addresses down, so credentials may go there: the first address is the base.
    let base = card.interfaces.iter().find(|interface| Url::parse(&interface.url).is_ok());
    let base = base.map_or_else(|| NO_BASE.to_owned(), |interface| interface.url.clone());
    let parsed = Url::parse(&base).map_err(|error| error.to_string())?;
    let http = build_operator_client(&parsed).map_err(|error| describe_request_error(&error))?;
    let client = Client::for_card(&base, card, card_options(http, credentials)?).map_err(describe)?;
    known_from_client(client)
}

fn card_options(http: reqwest::Client, credentials: &PeerCredentials) -> Result<Options, String> {
    let mut options = Options::new(http);
    options.token = credentials.key.clone();
    options.headers = credentials.header_map().map_err(|error| error.to_string())?;
    // The registry itself asks again.
    (options.retries, options.timeout) = (0, CARD_TIMEOUT);
    Ok(options)
}

/// The client for calls: it waits as long as a client does, and not only as long as a card may take.
pub(super) fn with_call_options(client: &Client) -> Client {
    let defaults = Options::new(client.options().http.clone());
    let mut options = client.options().clone();
    (options.retries, options.timeout) = (CALL_RETRIES, defaults.timeout);
    client.with_options(options)
}

/// The reason of a failure, without addresses and their queries.
pub(crate) fn describe_client_error(error: &ClientError) -> String {
    let ClientError::Transport { source, .. } = error else { return error.to_string() };
    match source {
        TransportError::NotSent(cause) | TransportError::Broken(cause) => {
            cause.downcast_ref().map_or_else(|| cause.to_string(), describe_request_error)
        }
        other => other.to_string(),
    }
}
