//! The registry of peers: one list, one task that keeps it up to date, notifications for everybody else.
//!
//! `registry_state` is the list itself, without input and output. `card_refresh` asks peers for their cards.
//! `peer_changes` adds and removes peers.

mod card_refresh;
mod peer_changes;
mod peer_entry;
mod registry_state;

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use tokio::{
    sync::{Notify, watch},
    task::AbortHandle,
};
use trackway_a2a_client::{AgentCard, Client};
use trackway_ports::{Clock, IdSource, KeyStore};

use crate::{
    AddedPeers, ConfiguredPeer, MeshOptions, Peer, PeerCredentials, PeerError, PeerName, PeerSnapshot,
    card_classification::classify_card,
};

pub(crate) use card_refresh::describe_client_error;
pub use peer_changes::normalize_peer_url;
pub use registry_state::PEERS_MAX;

use card_refresh::OperatorClients;
use registry_state::{PeerId, RegistryState};

/// The registry of peers. Cheap to clone; the clones are one registry.
#[derive(Clone)]
pub struct PeerRegistry {
    shared: Arc<SharedRegistry>,
}

/// What a registry needs.
#[derive(Debug)]
pub struct PeerRegistryOptions {
    pub configuration: MeshConfiguration,
    /// Where the added peers are stored.
    pub keys: Arc<dyn KeyStore>,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn IdSource>,
}

/// What the operator configured. It can be replaced while the registry runs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MeshConfiguration {
    pub options: MeshOptions,
    pub peers: Vec<ConfiguredPeer>,
}

/// A peer to add.
#[derive(Debug, Clone)]
pub struct NewPeer {
    pub url: String,
    /// The name from its card, if absent.
    pub name: Option<PeerName>,
    pub credentials: PeerCredentials,
}

/// What adding a peer has changed.
#[derive(Debug, Clone, PartialEq)]
pub enum AddedOutcome {
    Created(Arc<Peer>),
    /// The tenant had it already. New credentials replace the earlier ones.
    Existing(Arc<Peer>),
}

/// A peer that was found by other means than its address.
#[derive(Debug, Clone)]
pub struct DiscoveredPeer {
    /// What identifies it within its source, such as its name in a namespace.
    pub key: String,
    /// Shown to people; it need not be an address of HTTP.
    pub url: String,
    pub card: AgentCard,
    /// Calls it, over whatever transport it was found.
    pub client: Client,
}

/// What the clones share.
struct SharedRegistry {
    /// A `std` lock: held for moments, and never while a peer or the store is asked.
    state: Mutex<RegistryState>,
    /// The generation of the newest snapshot.
    generation: watch::Sender<u64>,
    /// How many results of asking a peer have been taken in.
    answers: watch::Sender<u64>,
    /// Wakes the task that asks peers.
    wake: Arc<Notify>,
    added: AddedPeers,
    /// Held while added peers are loaded or changed, so that earlier ones do not replace later ones.
    changing: tokio::sync::Mutex<()>,
    clients: OperatorClients,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdSource>,
    task: OnceLock<AbortHandle>,
}

impl PeerRegistry {
    /// Loads the added peers and starts the task that reads cards. It ends with the last clone.
    pub async fn start(options: PeerRegistryOptions) -> Result<Self, PeerError> {
        let PeerRegistryOptions { configuration, keys, clock, ids } = options;
        let shared = Arc::new(SharedRegistry {
            state: Mutex::default(),
            generation: watch::Sender::new(0),
            answers: watch::Sender::new(0),
            wake: Arc::default(),
            added: AddedPeers::in_store(keys),
            changing: tokio::sync::Mutex::default(),
            clients: OperatorClients::default(),
            clock,
            ids,
            task: OnceLock::new(),
        });
        let registry = Self { shared };
        registry.configure(configuration);
        registry.shared.load_added_peers().await?;
        let task = tokio::spawn(card_refresh::keep_cards_current(Arc::downgrade(&registry.shared)));
        // It is set once, here.
        let _ = registry.shared.task.set(task.abort_handle());
        Ok(registry)
    }

    /// All peers as they are known now.
    pub fn snapshot(&self) -> Arc<PeerSnapshot> {
        self.shared.lock_state().snapshot().clone()
    }

    /// The generation of the newest snapshot; it changes when a peer arrives, changes or leaves.
    pub fn subscribe(&self) -> watch::Receiver<u64> {
        self.shared.generation.subscribe()
    }

    /// `[mesh]` as it is now.
    pub fn mesh_options(&self) -> Arc<MeshOptions> {
        self.shared.lock_state().options().clone()
    }

    /// Replaces the configuration. Peers that stay the same keep what is known of them.
    pub fn configure(&self, configuration: MeshConfiguration) {
        let now = self.shared.clock.now();
        self.shared.change_state(|state| state.replace_configuration(configuration, now));
        self.shared.wake.notify_one();
    }

    /// A client of the peer that has this name for the tenant. A peer whose card is not known yet is asked
    /// for it now. A peer that is down but was up before gets a client too: whoever holds a remote task decides
    /// how long to try.
    pub async fn connect(&self, tenant: &str, name: &str) -> Result<Client, PeerError> {
        let mut found = self.shared.find_id(tenant, name);
        if found.is_err() {
            // After a start, a peer has the name of its card only when it has been asked.
            self.wait_until_asked().await;
            found = self.shared.find_id(tenant, name);
        }
        let id = found?;
        if let Some(client) = self.shared.lock_state().client_of(id) {
            return Ok(client);
        }
        self.shared.ask_unless_known(id).await;
        let state = self.shared.lock_state();
        state.client_of(id).ok_or_else(|| state.unavailable(tenant, name))
    }

    /// Reads the card of a peer now. A peer that was down and answers is back at once. A failure does not
    /// count as a failed refresh.
    pub async fn ping(&self, tenant: &str, name: &str) -> Result<Arc<Peer>, PeerError> {
        let id = self.shared.find_id(tenant, name)?;
        let outcome = self.shared.ping(id).await;
        let state = self.shared.lock_state();
        // The answer may have given it another name.
        let peer = state.peer_of_tenant(tenant, id).ok_or_else(|| PeerError::unknown(name))?;
        match outcome {
            Ok(()) => Ok(peer),
            Err(reason) => Err(PeerError::Unavailable { name: peer.name.clone(), reason }),
        }
    }

    /// Takes a peer from a discovery, or its newer card. It is up until it is removed. A card that cannot be
    /// used is refused, and an earlier one stays.
    pub fn update_discovered(&self, source: &str, found: DiscoveredPeer) -> Result<(), PeerError> {
        let DiscoveredPeer { key, url, card, client } = found;
        let kind = match classify_card(&card) {
            Ok(kind) => kind,
            Err(refusal) => {
                let reason = refusal.to_string();
                self.shared.change_state(|state| state.record_discovery_error(source, &key, &reason));
                return Err(PeerError::Unusable { url, reason });
            }
        };
        let now = self.shared.clock.now();
        let card = peer_entry::KnownCard { card: Arc::new(card), kind, client };
        self.shared.change_state(|state| state.put_discovered(source, &key, &url, card, now))
    }

    /// Forgets a peer of a discovery. Unknown keys are ignored.
    pub fn remove_discovered(&self, source: &str, key: &str) {
        self.shared.change_state(|state| state.remove_discovered(source, key));
    }

    /// Returns when every peer has been asked at least once.
    pub async fn wait_until_asked(&self) {
        let mut answers = self.shared.answers.subscribe();
        while !self.shared.lock_state().is_everybody_asked() {
            // The sender lives as long as this registry.
            if answers.changed().await.is_err() {
                return;
            }
        }
    }
}

impl SharedRegistry {
    fn lock_state(&self) -> MutexGuard<'_, RegistryState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the peers, makes a new snapshot, and tells everybody if it differs.
    fn change_state<T>(&self, change: impl FnOnce(&mut RegistryState) -> T) -> T {
        let mut state = self.lock_state();
        let result = change(&mut state);
        let generation = state.rebuild_snapshot();
        drop(state);
        self.generation.send_if_modified(|newest| {
            let is_newer = generation > *newest;
            *newest = generation.max(*newest);
            is_newer
        });
        result
    }

    fn find_id(&self, tenant: &str, name: &str) -> Result<PeerId, PeerError> {
        self.lock_state().find_id(tenant, name).ok_or_else(|| PeerError::unknown(name))
    }
}

/// The task ends with the registry.
impl Drop for SharedRegistry {
    fn drop(&mut self) {
        if let Some(task) = self.task.get() {
            task.abort();
        }
    }
}

impl fmt::Debug for PeerRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let generation = *self.shared.generation.borrow();
        f.debug_struct("PeerRegistry").field("generation", &generation).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
