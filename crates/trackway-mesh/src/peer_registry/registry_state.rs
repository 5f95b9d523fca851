//! The list of peers: who is in it, under which names, and what each tenant sees. No input or output.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use trackway_a2a_client::Client;
use trackway_domain::Timestamp;
use trackway_ports::KeyRevision;

use crate::{
    AddedPeer, ConfiguredPeer, MeshOptions, Peer, PeerAddress, PeerError, PeerHealth, PeerName, PeerSnapshot,
    PeerSource,
};

use super::{
    MeshConfiguration, card_refresh,
    peer_changes::normalize_peer_url,
    peer_entry::{Contact, KnownCard, PeerEntry},
};

/// All peers of a registry, from every source.
/// Limit (Mesh): peers of one server.
pub const PEERS_MAX: usize = 1_000;

/// Identifies a peer for the lifetime of the process. Later ones are larger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct PeerId(u64);

#[derive(Debug, Default)]
pub(super) struct RegistryState {
    options: Arc<MeshOptions>,
    entries: Vec<PeerEntry>,
    next_id: u64,
    snapshot: Arc<PeerSnapshot>,
    /// The entries behind the peers of the snapshot, in the same order.
    shown: ShownPeers,
    /// The revision of the added peers that were loaded last.
    pub(super) added_revision: Option<Option<KeyRevision>>,
}

/// Which entry each peer of a snapshot is.
#[derive(Debug, Default)]
struct ShownPeers {
    shared: Vec<PeerId>,
    by_tenant: BTreeMap<String, Vec<PeerId>>,
}

impl ShownPeers {
    fn of_tenant(&self, tenant: &str) -> &[PeerId] {
        self.by_tenant.get(tenant).unwrap_or(&self.shared)
    }
}

impl RegistryState {
    pub(super) fn snapshot(&self) -> &Arc<PeerSnapshot> {
        &self.snapshot
    }

    pub(super) fn options(&self) -> &Arc<MeshOptions> {
        &self.options
    }

    #[cfg(test)]
    pub(super) fn entries(&self) -> &[PeerEntry] {
        &self.entries
    }

    pub(super) fn entry(&self, id: PeerId) -> Option<&PeerEntry> {
        self.entries.iter().find(|entry| entry.id == id)
    }

    pub(super) fn entry_mut(&mut self, id: PeerId) -> Option<&mut PeerEntry> {
        self.entries.iter_mut().find(|entry| entry.id == id)
    }

    pub(super) fn client_of(&self, id: PeerId) -> Option<Client> {
        let entry = self.entry(id)?;
        let client = &entry.known.as_ref()?.client;
        Some(match entry.contact {
            Contact::Http(_) | Contact::Static => card_refresh::with_call_options(client),
            Contact::Discovery(_) => client.clone(),
        })
    }

    pub(super) fn find_id(&self, tenant: &str, name: &str) -> Option<PeerId> {
        let at = self.snapshot.position_of(tenant, name)?;
        self.shown.of_tenant(tenant).get(at).copied()
    }

    /// The peer as the tenant sees it now.
    pub(super) fn peer_of_tenant(&self, tenant: &str, id: PeerId) -> Option<Arc<Peer>> {
        let at = self.shown.of_tenant(tenant).iter().position(|shown| *shown == id)?;
        self.snapshot.peers_of_tenant(tenant).get(at).cloned()
    }

    /// The peer at an address, as the tenant sees it.
    pub(super) fn peer_at_url(&self, tenant: &str, url: &str) -> Option<Arc<Peer>> {
        let mut peers = self.snapshot.peers_of_tenant(tenant).iter();
        peers.find(|peer| peer.url == url && !matches!(peer.source, PeerSource::Discovered(_))).cloned()
    }

    /// Why a peer without a client cannot be called.
    pub(super) fn unavailable(&self, tenant: &str, name: &str) -> PeerError {
        match self.snapshot.find_peer(tenant, name) {
            None => PeerError::unknown(name),
            Some(peer) => {
                let reason = peer.error.clone().unwrap_or_else(|| "it has not answered yet".to_owned());
                PeerError::Unavailable { name: peer.name.clone(), reason }
            }
        }
    }

    pub(super) fn is_everybody_asked(&self) -> bool {
        self.entries.iter().all(|entry| entry.attempts > 0)
    }

    /// Refuses one more peer if there are too many.
    pub(super) fn check_capacity(&self) -> Result<(), PeerError> {
        if self.entries.len() >= PEERS_MAX { Err(PeerError::TooMany { limit: PEERS_MAX }) } else { Ok(()) }
    }

    /// Whether a peer may be asked: its name and address are not excluded, as far as they are known.
    fn may_ask(options: &MeshOptions, entry: &PeerEntry) -> bool {
        match &entry.given_name {
            Some(name) => options.allows_peer(name.as_str(), &entry.url),
            None => !options.denies_url(&entry.url),
        }
    }

    /// The peers that are to be asked at this moment, at most so many, the longest due first.
    pub(super) fn take_due(&mut self, now: Timestamp, most: usize) -> Vec<PeerId> {
        let options = self.options.clone();
        let mut due: Vec<&mut PeerEntry> = self
            .entries
            .iter_mut()
            .filter(|entry| !entry.is_being_asked && entry.due.is_some_and(|due| due <= now))
            .collect();
        due.sort_by_key(|entry| entry.due);
        let mut taken = Vec::new();
        for entry in due {
            if !Self::may_ask(&options, entry) {
                // Until the configuration changes.
                (entry.due, entry.attempts) = (None, entry.attempts.max(1));
            } else if taken.len() < most {
                entry.is_being_asked = true;
                taken.push(entry.id);
            }
        }
        taken
    }

    /// When the next peer is due.
    pub(super) fn next_due(&self) -> Option<Timestamp> {
        let waiting = self.entries.iter().filter(|entry| !entry.is_being_asked);
        waiting.filter_map(|entry| entry.due).min()
    }

    pub(super) fn replace_configuration(&mut self, configuration: MeshConfiguration, now: Timestamp) {
        let MeshConfiguration { options, peers } = configuration;
        let mut earlier: Vec<PeerEntry> = Vec::new();
        let (configured, others) = std::mem::take(&mut self.entries)
            .into_iter()
            .partition::<Vec<_>, _>(|entry| entry.source == PeerSource::Configured);
        earlier.extend(configured);
        self.entries = others;
        for peer in peers {
            let fresh = self.configured_entry(peer, now);
            let is_same = |entry: &PeerEntry| {
                (&entry.given_name, &entry.url, &entry.contact)
                    == (&fresh.given_name, &fresh.url, &fresh.contact)
                    && (fresh.contact != Contact::Static || same_document(entry, &fresh))
            };
            match earlier.iter().position(is_same) {
                Some(at) => {
                    let kept = earlier.swap_remove(at);
                    self.entries.push(kept);
                }
                None => self.entries.push(fresh),
            }
        }
        if *self.options != options {
            // Patterns may have changed, and so may the time of the next refresh.
            for entry in &mut self.entries {
                if matches!(entry.contact, Contact::Http(_)) {
                    entry.due = Some(now);
                }
            }
            self.options = Arc::new(options);
        }
    }

    fn configured_entry(&mut self, peer: ConfiguredPeer, now: Timestamp) -> PeerEntry {
        let ConfiguredPeer { name, address, credentials } = peer;
        let id = self.new_id();
        match address {
            PeerAddress::Base(url) => {
                let url = normalize_peer_url(&url).unwrap_or(url);
                PeerEntry::new(id, PeerSource::Configured, None, name, url, credentials, now)
            }
            PeerAddress::StaticCard(document) => {
                let known = card_refresh::known_from_static_card(document, &credentials);
                let url = known
                    .as_ref()
                    .map_or_else(|_| String::new(), |known| known.client.agent_url().to_owned());
                let entry = PeerEntry::new(id, PeerSource::Configured, None, name, url, credentials, now);
                let mut entry = entry.never_asked(Contact::Static);
                match known {
                    Ok(known) => entry.known = Some(known),
                    Err(reason) => {
                        entry.record_error(&reason);
                        entry.health = PeerHealth::Down;
                    }
                }
                entry
            }
        }
    }

    /// Makes the added peers those of the store. Peers that stay the same keep what is known of them.
    pub(super) fn replace_added(&mut self, added: Vec<AddedPeer>, now: Timestamp) {
        let is_added = |entry: &PeerEntry| entry.source == PeerSource::Added;
        let (mut earlier, others): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.entries).into_iter().partition(is_added);
        self.entries = others;
        for peer in added {
            let AddedPeer { name, url, tenant, credentials, .. } = peer;
            let (name, tenant, contact) = (Some(name), Some(tenant), Contact::Http(credentials.clone()));
            let is_same = |entry: &PeerEntry| {
                (&entry.given_name, &entry.tenant, &entry.url, &entry.contact)
                    == (&name, &tenant, &url, &contact)
            };
            match earlier.iter().position(is_same) {
                Some(at) => {
                    let kept = earlier.remove(at);
                    self.entries.push(kept);
                }
                None => {
                    let id = self.new_id();
                    let entry = PeerEntry::new(id, PeerSource::Added, tenant, name, url, credentials, now);
                    self.entries.push(entry);
                }
            }
        }
    }

    /// The added peer of a tenant at an address.
    pub(super) fn added_entry_mut(&mut self, tenant: &str, url: &str) -> Option<&mut PeerEntry> {
        self.entries.iter_mut().find(|entry| {
            entry.source == PeerSource::Added && entry.tenant.as_deref() == Some(tenant) && entry.url == url
        })
    }

    pub(super) fn put_discovered(
        &mut self,
        source: &str,
        key: &str,
        url: &str,
        known: KnownCard,
        now: Timestamp,
    ) -> Result<(), PeerError> {
        let at = self.discovered_position(source, key);
        let at = match at {
            Some(at) => at,
            None => {
                self.check_capacity()?;
                let source = PeerSource::Discovered(source.into());
                let id = self.new_id();
                let entry = PeerEntry::new(id, source, None, None, url.to_owned(), Default::default(), now);
                self.entries.push(entry.never_asked(Contact::Discovery(key.to_owned())));
                self.entries.len() - 1
            }
        };
        let entry = &mut self.entries[at];
        entry.url = url.to_owned();
        if let Some(earlier) = &mut entry.known {
            // The card may be the same and the way to it another.
            earlier.client = known.client.clone();
        }
        entry.record_answer(Some(known), now);
        Ok(())
    }

    pub(super) fn record_discovery_error(&mut self, source: &str, key: &str, reason: &str) {
        if let Some(at) = self.discovered_position(source, key) {
            self.entries[at].record_error(reason);
        }
    }

    pub(super) fn remove_discovered(&mut self, source: &str, key: &str) {
        if let Some(at) = self.discovered_position(source, key) {
            self.entries.remove(at);
        }
    }

    fn discovered_position(&self, source: &str, key: &str) -> Option<usize> {
        self.entries.iter().position(|entry| {
            matches!(&entry.source, PeerSource::Discovered(name) if **name == *source)
                && matches!(&entry.contact, Contact::Discovery(known) if known == key)
        })
    }

    fn new_id(&mut self) -> PeerId {
        self.next_id += 1;
        PeerId(self.next_id)
    }

    /// Makes a snapshot of the peers as they are now. Returns its generation, which is a new one if anything
    /// but times and error texts differs.
    pub(super) fn rebuild_snapshot(&mut self) -> u64 {
        let tenants: BTreeSet<&String> =
            self.entries.iter().filter_map(|entry| entry.tenant.as_ref()).collect();
        let (shared_ids, shared) = self.name_peers(None);
        let (mut ids_by_tenant, mut by_tenant) = (BTreeMap::new(), BTreeMap::new());
        for tenant in tenants {
            let (ids, peers) = self.name_peers(Some(tenant));
            ids_by_tenant.insert(tenant.clone(), ids);
            by_tenant.insert(tenant.clone(), peers);
        }
        let earlier = &self.snapshot;
        let offers_same = offer_same_peers(&earlier.shared, &shared)
            && earlier.by_tenant.len() == by_tenant.len()
            && by_tenant.iter().all(|(tenant, peers)| {
                earlier.by_tenant.get(tenant).is_some_and(|earlier| offer_same_peers(earlier, peers))
            });
        let generation = if offers_same { earlier.generation } else { earlier.generation + 1 };
        self.snapshot = Arc::new(PeerSnapshot { generation, shared, by_tenant });
        self.shown = ShownPeers { shared: shared_ids, by_tenant: ids_by_tenant };
        generation
    }

    /// The peers that a tenant sees, in the order of their names. Another tenant's peers have no influence on
    /// the names.
    fn name_peers(&self, tenant: Option<&String>) -> (Vec<PeerId>, Vec<Arc<Peer>>) {
        let sees = |entry: &&PeerEntry| entry.tenant.is_none() || entry.tenant.as_ref() == tenant;
        let allowed = |entry: &&PeerEntry| self.options.allows_peer(entry.wanted_name().as_str(), &entry.url);
        let mut seen: Vec<&PeerEntry> = self.entries.iter().filter(sees).filter(allowed).collect();
        seen.sort_by_key(|entry| entry.naming_rank());
        let mut named: BTreeMap<PeerName, (PeerId, Arc<Peer>)> = BTreeMap::new();
        for entry in seen {
            let wanted = entry.wanted_name();
            let (name, renamed_from) = match named.contains_key(&wanted) {
                false => (wanted, None),
                true => (free_name(&wanted, entry, &named), Some(wanted)),
            };
            named.insert(name.clone(), (entry.id, Arc::new(entry.to_peer(name, renamed_from))));
        }
        named.into_values().unzip()
    }
}

/// A name with a suffix, which depends on the address only as long as no two peers share one.
fn free_name(
    wanted: &PeerName,
    entry: &PeerEntry,
    taken: &BTreeMap<PeerName, (PeerId, Arc<Peer>)>,
) -> PeerName {
    let mut subject = entry.url.clone();
    loop {
        let name = wanted.with_suffix_of(&subject);
        if !taken.contains_key(&name) {
            return name;
        }
        subject.push('+');
    }
}

fn same_document(one: &PeerEntry, other: &PeerEntry) -> bool {
    let document = |entry: &PeerEntry| entry.known.as_ref().map(|known| known.card.document.clone());
    document(one) == document(other)
}

/// Whether nobody who reads the two lists would do anything differently.
fn offer_same_peers(earlier: &[Arc<Peer>], now: &[Arc<Peer>]) -> bool {
    let is_same = |(earlier, now): (&Arc<Peer>, &Arc<Peer>)| {
        let same_card = match (&earlier.card, &now.card) {
            (Some(earlier), Some(now)) => Arc::ptr_eq(earlier, now),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        same_card
            && (&earlier.name, &earlier.url, earlier.health, &earlier.source)
                == (&now.name, &now.url, now.health, &now.source)
    };
    earlier.len() == now.len() && earlier.iter().zip(now).all(is_same)
}
