//! One peer as the registry keeps it: its address and keys, and what is known of it.

use std::{sync::Arc, time::Duration};

use trackway_a2a_client::{AgentCard, Client};
use trackway_domain::Timestamp;

use crate::{Peer, PeerCredentials, PeerHealth, PeerKind, PeerName, PeerSource};

use super::registry_state::PeerId;

/// Failed refreshes in a row after which a peer is down.
/// Limit (Mesh): failed refreshes after which a peer is down.
const FAILURES_MAX: u32 = 3;
/// The first pause before a peer is asked again that never answered: nodes that start together need not
/// wait for a whole refresh.
const FIRST_RETRY: Duration = Duration::from_secs(1);
/// A peer that is down is asked less often, up to this multiple of the refresh time.
/// Limit (Mesh): refresh times between two questions to a peer that is down.
const BACKOFF_FACTOR_MAX: u32 = 8;
/// Longest pause between two questions to a peer that is down, unless the refresh time itself is longer.
/// Limit (Mesh): time between two questions to a peer that is down.
const BACKOFF_MAX: Duration = Duration::from_secs(300);
/// Up to this part of a pause is left out at random, so that many nodes do not ask at the same moment.
const JITTER_PART: u32 = 8;
/// Limit (Mesh): text of a peer's error.
const ERROR_CHARS_MAX: usize = 300;

/// One peer.
#[derive(Debug)]
pub(super) struct PeerEntry {
    pub(super) id: PeerId,
    pub(super) source: PeerSource,
    pub(super) tenant: Option<String>,
    /// The name that a person gave it.
    pub(super) given_name: Option<PeerName>,
    pub(super) url: String,
    pub(super) contact: Contact,
    pub(super) known: Option<KnownCard>,
    pub(super) health: PeerHealth,
    pub(super) last_seen: Option<Timestamp>,
    pub(super) error: Option<String>,
    failures: u32,
    /// When it is asked next, unless it is being asked.
    pub(super) due: Option<Timestamp>,
    pub(super) is_being_asked: bool,
    /// How often it was asked, with whatever result. A peer that is never asked counts as asked once.
    pub(super) attempts: u64,
    /// Held while a card is read that callers wait for: it is read once for all of them.
    pub(super) demand: Arc<tokio::sync::Mutex<()>>,
}

/// How the registry reaches a peer.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Contact {
    /// Its card is below its URL.
    Http(PeerCredentials),
    /// Its card was given with the configuration and stays.
    Static,
    /// A discovery brings its card; it has this key there.
    Discovery(String),
}

/// A card, and what follows from it.
#[derive(Debug, Clone)]
pub(super) struct KnownCard {
    pub(super) card: Arc<AgentCard>,
    pub(super) kind: PeerKind,
    pub(super) client: Client,
}

impl PeerEntry {
    /// A peer that nobody has asked yet. It is asked at once.
    pub(super) fn new(
        id: PeerId,
        source: PeerSource,
        tenant: Option<String>,
        given_name: Option<PeerName>,
        url: String,
        credentials: PeerCredentials,
        now: Timestamp,
    ) -> Self {
        Self {
            id,
            source,
            tenant,
            given_name,
            url,
            contact: Contact::Http(credentials),
            known: None,
            health: PeerHealth::Unknown,
            last_seen: None,
            error: None,
            failures: 0,
            due: Some(now),
            is_being_asked: false,
            attempts: 0,
            demand: Arc::default(),
        }
    }

    /// A peer whose card comes from elsewhere, or does not come at all: it is never asked.
    pub(super) fn never_asked(self, contact: Contact) -> Self {
        Self { contact, due: None, attempts: 1, ..self }
    }

    /// The name that it gets unless another peer has it.
    pub(super) fn wanted_name(&self) -> PeerName {
        match (&self.given_name, &self.known) {
            (Some(name), _) => name.clone(),
            (None, Some(known)) => PeerName::slug_of(&known.card.name),
            // Without the scheme, which says nothing.
            (None, None) => {
                PeerName::slug_of(self.url.split_once("://").map_or(&*self.url, |(_, rest)| rest))
            }
        }
    }

    /// Who gets a name that several want: the lower rank, then who came first. Nobody can take a name from a
    /// peer that a person named.
    pub(super) fn naming_rank(&self) -> (u8, PeerId) {
        let rank = match (&self.source, &self.given_name) {
            (PeerSource::Configured, Some(_)) => 0,
            (PeerSource::Added, _) => 1,
            (PeerSource::Configured, None) => 2,
            (PeerSource::Discovered(_), _) => 3,
        };
        (rank, self.id)
    }

    /// It answered: with a newer card, or without one because the known card is still current.
    pub(super) fn record_answer(&mut self, newer: Option<KnownCard>, now: Timestamp) {
        match (&self.known, newer) {
            // The same document again, from a server that knows no tags: nobody needs to hear of it.
            (Some(known), Some(newer)) if known.card.document == newer.card.document => {}
            (_, Some(newer)) => self.known = Some(newer),
            (_, None) => {}
        }
        self.health = PeerHealth::Up;
        self.last_seen = Some(now);
        self.error = None;
        self.failures = 0;
        self.attempts += 1;
    }

    /// A refresh failed.
    pub(super) fn record_failure(&mut self, reason: &str) {
        self.record_error(reason);
        self.failures = self.failures.saturating_add(1);
        if self.failures >= FAILURES_MAX {
            self.health = PeerHealth::Down;
        }
    }

    /// It did not answer, which counts as no failed refresh.
    pub(super) fn record_error(&mut self, reason: &str) {
        self.error = Some(reason.chars().take(ERROR_CHARS_MAX).collect());
        self.attempts += 1;
    }

    /// How long to wait before it is asked again.
    pub(super) fn next_pause(&self, refresh: Duration, random: u64) -> Duration {
        let doubled = |pause: Duration, times: u32| pause.saturating_mul(1 << times.min(16));
        let longest = refresh.saturating_mul(BACKOFF_FACTOR_MAX).min(BACKOFF_MAX).max(refresh);
        let full = match self.failures {
            0 => refresh,
            failures if self.known.is_none() => doubled(FIRST_RETRY, failures - 1).min(longest),
            failures if failures < FAILURES_MAX => refresh,
            failures => doubled(refresh, failures + 1 - FAILURES_MAX).min(longest),
        };
        let part = (random % 1_024) as f64 / 1_024.0 / f64::from(JITTER_PART);
        full.mul_f64(1.0 - part)
    }

    /// As callers see it.
    pub(super) fn to_peer(&self, name: PeerName, renamed_from: Option<PeerName>) -> Peer {
        let kind = match &self.known {
            Some(known) => known.kind.clone(),
            None => PeerKind::Agent { input_schema: None },
        };
        Peer {
            name,
            kind,
            url: self.url.clone(),
            card: self.known.as_ref().map(|known| known.card.clone()),
            health: self.health,
            last_seen: self.last_seen,
            error: self.error.clone(),
            source: self.source.clone(),
            renamed_from,
            tenant: self.tenant.clone(),
        }
    }
}
