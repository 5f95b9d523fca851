//! All peers at one moment, for each tenant in the order of their names.

use std::{collections::BTreeMap, sync::Arc};

use crate::{Peer, PeerName};

/// All peers at one moment. Cheap to keep: it never changes.
#[derive(Debug, Default, PartialEq)]
pub struct PeerSnapshot {
    /// Different in every snapshot with different peers: names, cards, health. The time of the last answer
    /// alone makes no difference.
    pub generation: u64,
    /// For tenants that added no peers of their own.
    pub(crate) shared: Vec<Arc<Peer>>,
    /// For tenants that did: their own and the shared ones.
    pub(crate) by_tenant: BTreeMap<String, Vec<Arc<Peer>>>,
}

impl PeerSnapshot {
    /// The peers that a tenant sees, in the order of their names.
    pub fn peers_of_tenant(&self, tenant: &str) -> &[Arc<Peer>] {
        self.by_tenant.get(tenant).unwrap_or(&self.shared)
    }

    /// The peer that has this name for the tenant. Another tenant's peer does not exist.
    pub fn find_peer(&self, tenant: &str, name: &str) -> Option<&Arc<Peer>> {
        self.peers_of_tenant(tenant).get(self.position_of(tenant, name)?)
    }

    pub(crate) fn position_of(&self, tenant: &str, name: &str) -> Option<usize> {
        self.peers_of_tenant(tenant).binary_search_by(|peer| peer.name.as_str().cmp(name)).ok()
    }

    /// Every peer, whoever sees it, for operators. A peer that several tenants see is there several times.
    pub fn all_peers(&self) -> impl Iterator<Item = &Arc<Peer>> {
        self.shared.iter().chain(self.by_tenant.values().flatten())
    }

    /// The names that a tenant sees.
    pub fn names_of_tenant(&self, tenant: &str) -> impl Iterator<Item = &PeerName> {
        self.peers_of_tenant(tenant).iter().map(|peer| &peer.name)
    }
}
