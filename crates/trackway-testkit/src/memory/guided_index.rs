//! Guided runs in memory: the index of nodes and attempts, pinned definitions, sessions, and removal.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, HashMap},
};

use trackway_domain::{Access, AttemptOutcome, CrossRunErrand, Event, NodeId, RunId, Seq, SessionId};
use trackway_ports::{
    AppendError, AttemptKey, LineageLimits, NodeLineage, PinnedDefinition, ReadError, RunLogHead, RunRemoval,
    RunRow, SessionRow, StoredEvent, StoredNode, attempt_in_event, node_in_event,
};

use super::contents::MemoryContents;

/// Where nodes and attempts are recorded, and the definitions that runs are pinned to.
#[derive(Debug, Default)]
pub(super) struct GuidedIndex {
    nodes: HashMap<(RunId, NodeId), NodeEntry>,
    attempts: HashMap<AttemptKey, Seq>,
    definitions: HashMap<String, String>,
    /// Which run is pinned to which definition.
    pins: BTreeSet<(RunId, String)>,
}

#[derive(Debug, Default)]
struct NodeEntry {
    seq: Seq,
    branches: u32,
    blocked: u32,
}

impl GuidedIndex {
    /// Adds the index entries of this event.
    pub(super) fn index_event(&mut self, run: RunId, seq: Seq, event: &Event) {
        if let Some(node) = node_in_event(event) {
            self.nodes.entry((run, node.id)).or_default().seq = seq;
            self.pins.insert((run, node.definition.clone()));
        }
        if let Some(attempt) = attempt_in_event(event) {
            let (node, ack, digest) = (attempt.node, attempt.ack, attempt.digest.clone());
            self.attempts.entry(AttemptKey { run, node, ack, digest }).or_insert(seq);
            if let Some(parent) = self.nodes.get_mut(&(run, node)) {
                match attempt.outcome {
                    AttemptOutcome::Advanced(_) => parent.branches += 1,
                    AttemptOutcome::Blocked(_) => parent.blocked += 1,
                }
            }
        }
    }

    pub(super) fn pin_definition(&mut self, run: RunId, pin: PinnedDefinition) {
        self.pins.insert((run, pin.hash.clone()));
        self.definitions.entry(pin.hash).or_insert(pin.body);
    }

    pub(super) fn find_definition(&self, hash: &str) -> Option<String> {
        self.definitions.get(hash).cloned()
    }

    fn forget_run(&mut self, run: RunId) {
        self.nodes.retain(|(of, _), _| *of != run);
        self.attempts.retain(|key, _| key.run != run);
    }
}

impl MemoryContents {
    pub(super) fn find_node(&self, run: RunId, node: NodeId) -> Result<Option<StoredNode>, ReadError> {
        let (Some(place), Some(row)) = (self.index.nodes.get(&(run, node)), self.find_run(run)) else {
            return Ok(None);
        };
        let made = self.find_event(run, place.seq)?;
        let head = self.logs.get(&run).map_or(0, Vec::len) as Seq;
        let last = self.find_event(run, head).ok().flatten();
        let is_unadopted = last.is_some_and(|last| last.event == Event::Imported);
        let NodeEntry { branches, blocked, .. } = *place;
        Ok(made.map(|made| StoredNode {
            defining_event: made,
            head,
            is_unadopted,
            row,
            branch_count: branches,
            blocked_count: blocked,
        }))
    }

    pub(super) fn list_newest_events(&self, run: RunId, limit: usize) -> Vec<StoredEvent> {
        let last = self.logs.get(&run).map_or(0, Vec::len) as Seq;
        let newest = (1..=last).rev().take(limit);
        newest.filter_map(|seq| self.find_event(run, seq).ok().flatten()).collect()
    }

    pub(super) fn load_lineage(&self, run: RunId, node: NodeId, limits: LineageLimits) -> NodeLineage {
        let last = self.logs.get(&run).map_or(0, Vec::len) as Seq;
        let events: Vec<StoredEvent> =
            (1..=last).filter_map(|seq| self.find_event(run, seq).ok().flatten()).collect();
        NodeLineage::lineage_from_events(&events, node, limits)
    }

    pub(super) fn find_attempt(&self, key: &AttemptKey) -> Result<Option<StoredEvent>, ReadError> {
        match self.index.attempts.get(key) {
            Some(seq) => self.find_event(key.run, *seq),
            None => Ok(None),
        }
    }

    fn find_event(&self, run: RunId, seq: Seq) -> Result<Option<StoredEvent>, ReadError> {
        Ok(self.list_events(run, seq.saturating_sub(1), 1)?.pop())
    }

    pub(super) fn list_sessions(&self, access: &Access, limit: usize) -> Vec<SessionRow> {
        let mut found = BTreeMap::<&SessionId, SessionRow>::new();
        for row in self.rows.values().filter(|row| access.covers_owner(&row.caller)) {
            let newest = self.logs.get(&row.id).and_then(|log| log.last());
            let updated_at = newest.map_or(row.status_at, |record| record.at);
            let session = found.entry(&row.session).or_insert_with(|| SessionRow {
                id: row.session.clone(),
                workflows: Vec::new(),
                created_at: row.created_at,
                updated_at,
            });
            session.workflows.push(row.workflow.clone());
            session.created_at = session.created_at.min(row.created_at);
            session.updated_at = session.updated_at.max(updated_at);
        }
        let mut found: Vec<SessionRow> = found.into_values().collect();
        found.sort_by_key(|session| Reverse(session.updated_at));
        found.truncate(limit);
        found
    }

    pub(super) fn list_session_runs(&self, access: &Access, session: &SessionId) -> Vec<RunRow> {
        let newest_first = self.rows.values().rev();
        let of_session = |row: &&RunRow| access.covers_owner(&row.caller) && row.session == *session;
        newest_first.filter(of_session).cloned().collect()
    }

    pub(super) fn remove_runs(&mut self, removal: &RunRemoval) -> Result<(), AppendError> {
        let has_moved = |it: &&RunLogHead| ![0, it.head].contains(&self.newest_seq(it.run));
        let is_new = |row: &&RunRow| !removal.runs.iter().any(|it| it.run == row.id);
        let new = removal.session.as_ref().and_then(|(caller, session)| {
            let of_session = |row: &&RunRow| row.caller == *caller && row.session == *session;
            let row = self.rows.values().filter(of_session).find(is_new)?;
            Some(RunLogHead { run: row.id, head: 0 })
        });
        if let Some(RunLogHead { run, head }) = removal.runs.iter().find(has_moved).copied().or(new) {
            return Err(AppendError::Conflict { run, expected: head });
        }
        let runs: Vec<RunId> = removal.runs.iter().map(|it| it.run).collect();
        self.delete_runs(&runs);
        self.artifacts.remove_with_runs(removal);
        Ok(())
    }

    fn delete_runs(&mut self, runs: &[RunId]) {
        for run in runs {
            self.logs.remove(run);
            self.rows.remove(run);
            self.index.forget_run(*run);
        }
        self.timers.retain(|(run, _), _| !runs.contains(run));
        self.claims.retain(|_, claim| !runs.contains(&claim.run));
        self.outbox.retain(|_, item| match item {
            CrossRunErrand::NotifyWaiting { to, run, .. } => !runs.contains(to) && !runs.contains(run),
            CrossRunErrand::CancelChild { child } => !runs.contains(child),
            CrossRunErrand::RunExit { of, .. } => !runs.contains(of),
            // What a run began elsewhere is released even after the run is removed.
            CrossRunErrand::ReleaseStepNote { .. } => true,
            CrossRunErrand::DeliverFirstAnswer { to, from, .. } => !runs.contains(to) && !runs.contains(from),
            CrossRunErrand::NotifyParent { parent, child, .. } => {
                !runs.contains(parent) && !runs.contains(child)
            }
        });
        self.hooks.remove_hooks_of_runs(runs);
        self.workers.remove_claims_of_runs(runs);
        let GuidedIndex { pins, definitions, .. } = &mut self.index;
        pins.retain(|(run, _)| !runs.contains(run));
        definitions.retain(|hash, _| pins.iter().any(|(_, pinned)| pinned == hash));
    }
}
