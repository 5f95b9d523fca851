//! A session as a bundle: its complete logs, and the definitions that they are pinned to.

use std::collections::BTreeSet;

use trackway_domain::{AttemptOutcome, Event, GuidedRunEvent, SessionId};
use trackway_engine::RunTree;
use trackway_ports::{FORMAT_LATEST, RunRow, StoredEvent, encode_event};

use super::{
    SessionsError, SessionsReader,
    bundle::{BundledDefinition, BundledEvent, BundledRun, SessionBundle},
    run_log,
};

impl SessionsReader {
    /// The whole session as the text of a bundle, signed by the holder of that Ed25519 key. The same
    /// session gives the same text.
    pub async fn export_bundle(
        &self,
        id: &SessionId,
        public_key: [u8; 32],
        sign: impl FnOnce(&[u8]) -> [u8; 64],
    ) -> Result<String, SessionsError> {
        let mut rows = self.load_session_run_rows(id).await?;
        rows.sort_by_key(|row| row.id);
        let mut runs = Vec::with_capacity(rows.len());
        let mut hashes = BTreeSet::new();
        let mut versions = BTreeSet::new();
        for row in &rows {
            let events = self.load_undamaged_run_log(row).await?;
            hashes.extend(events.iter().filter_map(|stored| definition_hash_in_event(&stored.event)));
            versions.insert(row.workflow.version.clone());
            runs.push(BundledRun { run_id: row.id, events: events.iter().map(to_bundled_event).collect() });
        }
        let mut definitions = Vec::with_capacity(hashes.len());
        for hash in hashes.union(&versions) {
            match self.journal.find_pinned_definition(hash.clone()).await? {
                Some(body) => definitions.push(BundledDefinition { hash: hash.clone(), body }),
                // The version of a program is not a definition.
                None if !hashes.contains(hash) => {}
                None => {
                    let reason = format!("the definition {hash} is not in the store");
                    return Err(SessionsError::Damaged { run: rows[0].id, reason });
                }
            }
        }
        Ok(SessionBundle::new_signed_bundle(id.clone(), runs, definitions, public_key, sign).to_bundle_text())
    }

    /// The complete log of the run: an import could not tell a partial log from one that was cut.
    async fn load_undamaged_run_log(&self, row: &RunRow) -> Result<Vec<StoredEvent>, SessionsError> {
        let log = run_log::load_run_log(&*self.journal, row.id).await?;
        let track = RunTree::fold_log(log.events.iter().map(|stored| (&stored.event, stored.at)));
        let damage = match track {
            Some(track) => log.damage.or(track.damaged),
            None => Some("its first event is not a submission".to_owned()),
        };
        match damage {
            Some(reason) => Err(SessionsError::Damaged { run: row.id, reason }),
            None => Ok(log.events),
        }
    }
}

fn to_bundled_event(stored: &StoredEvent) -> BundledEvent {
    BundledEvent { format: FORMAT_LATEST, seq: stored.seq, at: stored.at, body: encode_event(&stored.event) }
}

/// The definition that is needed to read the node which an event made.
pub(super) fn definition_hash_in_event(event: &Event) -> Option<String> {
    let Event::Guided(guided) = event else { return None };
    let node = match &**guided {
        GuidedRunEvent::Opened { node, .. } | GuidedRunEvent::Repinned { node } => node,
        GuidedRunEvent::Attempted(attempt) => match &attempt.outcome {
            AttemptOutcome::Advanced(node) => node,
            AttemptOutcome::Blocked(_) => return None,
        },
        GuidedRunEvent::Checkpointed(_) => return None,
    };
    Some(node.definition.clone())
}
