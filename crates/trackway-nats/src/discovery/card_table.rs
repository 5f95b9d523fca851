//! The cards of all nodes, and what they mean together. Pure: the caller brings the time.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use serde_json::Value;
use tokio::time::Instant;

use super::announcement::CardAnnouncement;

/// Cards that are kept at most. A namespace is a group of nodes and not a directory of the world.
/// Limit (Mesh): cards in one namespace of NATS that a node keeps.
const CARDS_MAX: usize = 10_000;

/// The cards of all nodes of a namespace. Nodes that offer the same name are one agent.
#[derive(Debug)]
pub(super) struct CardTable {
    /// What only this node offers is not another's.
    own_node: String,
    /// By agent, then by node.
    cards: BTreeMap<String, BTreeMap<String, KnownCard>>,
    /// What was reported last.
    reported: BTreeMap<String, Arc<Value>>,
    count: usize,
}

#[derive(Debug)]
struct KnownCard {
    card: Arc<Value>,
    started_millis: i64,
    seen: Instant,
}

/// News for whoever keeps a list of agents.
#[derive(Debug, PartialEq)]
pub(super) enum CardChange {
    /// It is new, or its card is.
    Arrived {
        agent: String,
        card: Arc<Value>,
    },
    Left {
        agent: String,
    },
}

impl CardTable {
    pub(super) fn new(own_node: &str) -> Self {
        let (cards, reported) = (BTreeMap::new(), BTreeMap::new());
        Self { own_node: own_node.to_owned(), cards, reported, count: 0 }
    }

    pub(super) fn record(
        &mut self,
        agent: &str,
        node: &str,
        announcement: CardAnnouncement,
        now: Instant,
    ) -> Vec<CardChange> {
        let is_known = self.cards.get(agent).is_some_and(|nodes| nodes.contains_key(node));
        if !is_known && self.count >= CARDS_MAX {
            tracing::warn!(agent, node, limit = CARDS_MAX, "a card is left out: there are too many");
            return Vec::new();
        }
        let CardAnnouncement { card, started_millis, .. } = announcement;
        let known = KnownCard { card: Arc::new(card), started_millis, seen: now };
        self.cards.entry(agent.to_owned()).or_default().insert(node.to_owned(), known);
        self.count += usize::from(!is_known);
        self.changes_of([agent.to_owned()])
    }

    pub(super) fn remove(&mut self, agent: &str, node: &str) -> Vec<CardChange> {
        if let Some(nodes) = self.cards.get_mut(agent)
            && nodes.remove(node).is_some()
        {
            self.count -= 1;
        }
        self.changes_of([agent.to_owned()])
    }

    /// Forgets the cards that were not renewed in time.
    pub(super) fn expire(&mut self, now: Instant, expiry: Duration) -> Vec<CardChange> {
        let mut touched = BTreeSet::new();
        for (agent, nodes) in &mut self.cards {
            let before = nodes.len();
            nodes.retain(|_, known| now < known.seen + expiry);
            if nodes.len() < before {
                self.count -= before - nodes.len();
                touched.insert(agent.clone());
            }
        }
        self.changes_of(touched)
    }

    /// When the next card expires.
    pub(super) fn next_expiry(&self, expiry: Duration) -> Option<Instant> {
        let seen = self.cards.values().flat_map(BTreeMap::values).map(|known| known.seen);
        seen.min().map(|seen| seen + expiry)
    }

    fn changes_of(&mut self, agents: impl IntoIterator<Item = String>) -> Vec<CardChange> {
        let mut changes = Vec::new();
        for agent in agents {
            if self.cards.get(&agent).is_some_and(BTreeMap::is_empty) {
                self.cards.remove(&agent);
            }
            match self.newest_card(&agent) {
                Some(card) if self.reported.get(&agent) == Some(&card) => {}
                Some(card) => {
                    self.reported.insert(agent.clone(), Arc::clone(&card));
                    changes.push(CardChange::Arrived { agent, card });
                }
                None => {
                    if self.reported.remove(&agent).is_some() {
                        changes.push(CardChange::Left { agent });
                    }
                }
            }
        }
        changes
    }

    /// The card of the node that started last, so that two versions of an agent do not take turns. `None`:
    /// no other node offers the agent.
    fn newest_card(&self, agent: &str) -> Option<Arc<Value>> {
        let nodes = self.cards.get(agent)?;
        if nodes.keys().all(|node| *node == self.own_node) {
            return None;
        }
        let newest = nodes.iter().max_by_key(|(node, known)| (known.started_millis, *node));
        newest.map(|(_, known)| Arc::clone(&known.card))
    }
}

#[cfg(test)]
mod tests;
