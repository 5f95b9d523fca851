//! At the end of a sweep, the index of artifacts has exactly what the logs say.

use std::collections::BTreeMap;

use trackway_domain::{Access, ArtifactEntrySource, Event, RunId};
use trackway_engine::artifact_index_entries;
use trackway_ports::{
    ArtifactContent, ArtifactCursor, ArtifactFilter, ArtifactStore, ArtifactVersionRow, NextArtifactVersion,
    StoredEvent,
};

use crate::TestWorld;

/// What a version is, apart from its number: that depends on which run of a session was first.
type IndexedContent = (String, String, u64, ArtifactContent);

pub(super) fn assert_index_follows_logs(world: &TestWorld, logs: &BTreeMap<RunId, Vec<StoredEvent>>) {
    let expected = logs.iter().flat_map(|(run, log)| versions_of_log(*run, log));
    let mut expected: Vec<IndexedContent> = expected.map(|row| indexed_content(&row)).collect();
    let owner = logs.values().find_map(|log| match &log.first()?.event {
        Event::Submitted(submission) => Some(submission.caller.clone()),
        _ => None,
    });
    let Some(owner) = owner else { return };
    let stored = world.inspect_artifacts(async |artifacts| load_versions(&*artifacts, owner).await);
    let mut stored: Vec<IndexedContent> = stored.iter().map(indexed_content).collect();
    expected.sort_by_key(|version| format!("{version:?}"));
    stored.sort_by_key(|version| format!("{version:?}"));
    assert_eq!(stored, expected, "the index of artifacts follows from the logs");
}

/// Every version that the owner's tenant has. The numbers of each artifact have no gap.
async fn load_versions(
    artifacts: &dyn ArtifactStore,
    owner: trackway_domain::Caller,
) -> Vec<ArtifactVersionRow> {
    let filter = ArtifactFilter::new(Access::tenant_wide(owner));
    let newest = artifacts.list_artifacts(filter, None, usize::MAX).await.expect("the store can be read");
    let mut all = Vec::new();
    for row in newest {
        let versions = artifacts.list_versions(row.key(), None, usize::MAX).await;
        let versions = versions.expect("the store can be read");
        let numbers: Vec<u32> = versions.iter().rev().map(|version| version.version).collect();
        assert_eq!(numbers, (0..=row.version).collect::<Vec<u32>>(), "versions of {}", row.filename);
        all.extend(versions);
    }
    all
}

/// The versions that a log makes, in a store that has nothing else.
fn versions_of_log(run: RunId, log: &[StoredEvent]) -> Vec<ArtifactVersionRow> {
    let Some(Event::Submitted(submission)) = log.first().map(|stored| &stored.event) else {
        return Vec::new();
    };
    let events: Vec<Event> = log.iter().map(|stored| stored.event.clone()).collect();
    let mut rows: Vec<ArtifactVersionRow> = Vec::new();
    for entry in artifact_index_entries(&submission.caller, &submission.session, 0, &events) {
        let grown = match &entry.source {
            ArtifactEntrySource::Yielded { artifact: id, grows: true } => rows.iter_mut().rev().find(
                |row| matches!(&row.content, ArtifactContent::Yielded { artifact, .. } if artifact == id),
            ),
            ArtifactEntrySource::Yielded { .. } | ArtifactEntrySource::Attachment { .. } => None,
        };
        match grown {
            Some(row) => row.grow(&entry),
            None => {
                let number = NextArtifactVersion {
                    version: 0,
                    cursor: ArtifactCursor(0),
                    created_at: Default::default(),
                };
                rows.push(ArtifactVersionRow::from_index_entry(run, &entry, number));
            }
        }
    }
    rows
}

fn indexed_content(row: &ArtifactVersionRow) -> IndexedContent {
    (row.filename.to_string(), row.media_type.clone(), row.size_bytes, row.content.clone())
}
