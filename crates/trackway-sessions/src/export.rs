//! A session as a bundle: its logs whole, and the definitions that they are pinned to.

use std::collections::BTreeSet;

use trackway_domain::{AttemptOutcome, Event, Guided, SessionId};
use trackway_engine::RunTrack;
use trackway_ports::{FORMAT_NEWEST, RunRow, Stored, encode};

use super::{
    SessionsError, SessionsReader,
    bundle::{Bundle, BundledDefinition, BundledEvent, BundledRun},
    log,
};

impl SessionsReader {
    /// The whole session as the text of a bundle, signed by the holder of that Ed25519 key. The same
    /// session gives the same text.
    pub async fn bundle(
        &self,
        id: &SessionId,
        public_key: [u8; 32],
        sign: impl FnOnce(&[u8]) -> [u8; 64],
    ) -> Result<String, SessionsError> {
        let mut rows = self.rows(id).await?;
        rows.sort_by_key(|row| row.id);
        let mut runs = Vec::with_capacity(rows.len());
        let mut hashes = BTreeSet::new();
        let mut versions = BTreeSet::new();
        for row in &rows {
            let events = self.whole(row).await?;
            hashes.extend(events.iter().filter_map(|stored| definition(&stored.event)));
            versions.insert(row.workflow.version.clone());
            runs.push(BundledRun { run_id: row.id, events: events.iter().map(record).collect() });
        }
        let mut definitions = Vec::with_capacity(hashes.len());
        for hash in hashes.union(&versions) {
            match self.journal.pinned(hash.clone()).await? {
                Some(body) => definitions.push(BundledDefinition { hash: hash.clone(), body }),
                // The version of a program is no definition.
                None if !hashes.contains(hash) => {}
                None => {
                    let reason = format!("the definition {hash} is not in the store");
                    return Err(SessionsError::Damaged { run: rows[0].id, reason });
                }
            }
        }
        Ok(Bundle::sealed(id.clone(), runs, definitions, public_key, sign).to_text())
    }

    /// The run's whole log: half of one could not be told from one that was cut.
    async fn whole(&self, row: &RunRow) -> Result<Vec<Stored>, SessionsError> {
        let log = log::read(&*self.journal, row.id).await?;
        let track = RunTrack::fold(log.events.iter().map(|stored| (&stored.event, stored.at)));
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

fn record(stored: &Stored) -> BundledEvent {
    BundledEvent {
        format: FORMAT_NEWEST,
        seq: stored.seq,
        at: stored.at,
        body: encode(&stored.event),
    }
}

/// The definition by which the node that an event made is read.
pub(super) fn definition(event: &Event) -> Option<String> {
    let Event::Guided(guided) = event else { return None };
    let node = match &**guided {
        Guided::Opened { node, .. } | Guided::Repinned { node } => node,
        Guided::Attempted(attempt) => match &attempt.outcome {
            AttemptOutcome::Advanced(node) => node,
            AttemptOutcome::Blocked(_) => return None,
        },
        Guided::Checkpointed(_) => return None,
    };
    Some(node.definition.clone())
}
