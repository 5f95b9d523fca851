//! A data folder of format 1, read with today's code.

use std::path::Path;

use tempfile::TempDir;
use trackway_domain::{Access, AckId, NodeId, StateName, TimerKey};
use trackway_ports::{
    AppendId, ArtifactContent, ArtifactFilter, AttemptKey, Blobs as _, DriverEpoch, DueHook, DueTimer,
    FeedCursor, Hook, HookTarget, Journal as _, LineageLimits, OutboxRow, RunFilter, RunLease, WorkClaim,
    WorkerId, encode_event,
};
use trackway_sqlite::{FolderBlobStore, SqliteJournal};
use uuid::Uuid;

use super::*;
use crate::helpers::execute;

/// A folder that an earlier program wrote.
async fn folder_of_format_1() -> (TempDir, SqliteJournal) {
    folder_of_format(FORMAT_1).await
}

async fn folder_of_format(dump: &str) -> (TempDir, SqliteJournal) {
    let folder = tempfile::tempdir().unwrap();
    execute(folder.path(), dump);
    store_large_blob(folder.path()).await;
    let journal = SqliteJournal::open(folder.path()).unwrap();
    (folder, journal)
}

/// Blobs are named by their hash, so the golden file only refers to this one.
async fn store_large_blob(folder: &Path) {
    let bytes = encode_event(&large_event()).into_bytes();
    let hash = FolderBlobStore::open_or_create_blob_folder(folder).unwrap().store_blob(bytes).await.unwrap();
    assert!(FORMAT_1.contains(&format!("'{hash}'")), "the large event has another hash");
}

fn node(number: u128) -> NodeId {
    NodeId::new(Uuid::from_u128(number))
}

/// Proves X2: events, large ones included, and the rows of their runs.
#[tokio::test]
async fn runs_and_events_of_format_1_are_readable() {
    let (_folder, journal) = folder_of_format_1().await;
    let written =
        [(driven_run(), None), (driven_run().started_runs.remove(0), Some(run_id(1))), (guided_run(), None)];
    for (append, parent) in written {
        let stored = journal.list_events(append.run, 0, 100).await.unwrap();
        assert!(stored.iter().all(|stored| stored.at == append.at));
        assert_eq!(stored.into_iter().map(|stored| stored.event).collect::<Vec<_>>(), append.events);
        let row = journal.find_run(append.run).await.unwrap();
        assert_eq!(row, append.row);
        assert_eq!(row.unwrap().parent, parent);
    }
    let receipt = journal.find_append_receipt(run_id(1), 0, AppendId(42)).await.unwrap();
    assert_eq!(receipt.unwrap().first_position, 1);
    let page =
        journal.list_feed_events(Access::own_only(caller()), FeedCursor::default(), 100).await.unwrap();
    assert_eq!(page.events.len(), 10);
    let runs = journal.list_runs(RunFilter::default(), None, 10).await.unwrap();
    assert_eq!(runs.len(), 3, "the removed run is not there");
    assert_eq!(runs[0].state, StateName::Working);
}

/// Proves X2 and X3: what is still to be done, and by whom.
#[tokio::test]
async fn pending_work_of_format_1_is_readable() {
    let (_folder, journal) = folder_of_format_1().await;
    let lease = journal.find_run_lease(run_id(1)).await.unwrap();
    assert_eq!(lease, Some(RunLease { epoch: DriverEpoch(1), driver: Some(worker()) }));
    let rows = journal.list_outbox(None, 10).await.unwrap();
    assert_eq!(rows, [OutboxRow { id: outbox_id(), item: notify_parent() }]);
    let hook = |id: &str| Hook {
        run: run_id(1),
        id: id.to_owned(),
        target: hook_target(),
        delivered_through: 1,
        due: Some(at(500)),
        failing_since: Some(at(100)),
        attempts: 1,
    };
    let idle = Hook {
        target: HookTarget(json!(null)),
        delivered_through: 3,
        due: None,
        failing_since: None,
        attempts: 0,
        ..hook("idle")
    };
    assert_eq!(journal.list_hooks(run_id(1)).await.unwrap(), [hook("failing"), idle]);
    let claim = journal.find_message_claim(message_claim().key).await.unwrap();
    assert_eq!(claim, Some(message_claim()));

    // The claims of a worker that is alive are respected, and those of a dead one are not.
    let other = |now| WorkClaim { worker: WorkerId(Uuid::from_u128(0xa2)), now, limit: 10 };
    let (alive, dead) = (other(at(8_000)), other(at(100_000)));
    assert_eq!(journal.claim_due_timers(alive).await.unwrap(), []);
    assert_eq!(journal.claim_due_hooks(alive, Vec::new()).await.unwrap(), []);
    assert_eq!(journal.claim_unclaimed_errands(alive).await.unwrap(), []);
    let due = |timer, due| DueTimer { run: run_id(1), timer, due };
    let timers = [due(step_timer(), at(1_000)), due(TimerKey::Deadline, at(60_000))];
    assert_eq!(journal.claim_due_timers(dead).await.unwrap(), timers);
    let hooks = [DueHook { tenant: "acme".to_owned(), hook: hook("failing") }];
    assert_eq!(journal.claim_due_hooks(dead, Vec::new()).await.unwrap(), hooks);
    assert_eq!(journal.claim_unclaimed_errands(dead).await.unwrap().len(), 1);
    let runs: Vec<_> =
        journal.claim_abandoned_runs(dead).await.unwrap().iter().map(|claimed| claimed.run).collect();
    assert_eq!(runs, [run_id(1), run_id(2)], "the driven run and the parked one");
}

/// Proves T12 and T3: nodes, attempts, checkpoints and pinned definitions.
#[tokio::test]
async fn guided_rows_of_format_1_are_readable() {
    let (_folder, journal) = folder_of_format_1().await;
    let first = journal.find_node(run_id(3), node(1)).await.unwrap().unwrap();
    assert_eq!((first.defining_event.seq, first.branch_count, first.blocked_count), (2, 1, 1));
    let second = journal.find_node(run_id(3), node(2)).await.unwrap().unwrap();
    assert_eq!((second.defining_event.seq, second.head), (6, 6));
    for (ack, seq) in [(1, 3), (2, 4)] {
        let (digest, ack) = (format!("d{ack}"), AckId::new(Uuid::from_u128(ack)));
        let key = AttemptKey { run: run_id(3), node: node(1), ack, digest };
        assert_eq!(journal.find_attempt(key).await.unwrap().unwrap().seq, seq);
    }
    let limits = LineageLimits { path: 10, checkpoints: 10, children: 10, depth: 10 };
    let lineage = journal.load_node_lineage(run_id(3), node(2), limits).await.unwrap();
    assert_eq!(lineage.checkpoints.iter().map(|stored| stored.seq).collect::<Vec<_>>(), [5]);
    assert_eq!(lineage.damaged, None);
    for hash in ["sha256-aa", "sha256-bb"] {
        let body = journal.find_pinned_definition(hash.to_owned()).await.unwrap();
        assert_eq!(body, Some(definition().body));
    }
}

/// Proves X2 and I10: versions of artifacts and audit events of format 3. In a folder of format 1 there are none,
/// and the first is saved as in a new folder.
#[tokio::test]
async fn artifacts_of_format_3_are_readable() {
    let (_folder, journal) = folder_of_format(FORMAT_3).await;
    let access = Access::own_only(caller());
    let rows = journal.list_artifacts(ArtifactFilter::new(access.clone()), None, 100).await.unwrap();
    let session = ArtifactScope::Session(SessionId::new("ses-1").unwrap());
    let listed: Vec<_> =
        rows.iter().map(|row| (row.scope.clone(), row.filename.as_str(), row.version)).collect();
    let expected = [
        (ArtifactScope::Tenant, "input.json", 0),
        (ArtifactScope::User, "input.json", 0),
        (session.clone(), "input.json", 0),
        (ArtifactScope::Run(run_id(1)), "input.json", 0),
        (session.clone(), "out.csv", 0),
        (session, "data.csv", 0),
    ];
    assert_eq!(listed, expected);
    let new = saved_artifact(ArtifactScope::User, "input.json");
    let saved = &rows[1];
    assert_eq!((&saved.tags, &saved.metadata, saved.run), (&new.tags, &new.metadata, new.run));
    assert_eq!(saved.content, ArtifactContent::Blob(saved.sha256.unwrap()));
    let artifact = ArtifactId::new("out").unwrap();
    assert_eq!(rows[4].content, ArtifactContent::Yielded { run: run_id(1), artifact, first: 2, last: 3 });
    assert_eq!(rows[4].size_bytes, 24);
    assert_eq!(rows[5].content, ArtifactContent::Attachment { run: run_id(1), seq: 1, part: 1 });
    let quota = ArtifactQuota { bytes_max: 1_000, versions_max: 100 };
    assert_eq!(journal.store_version(new.clone(), quota).await.unwrap(), *saved, "the request is known");
    let next = NewArtifactVersion { request_id: None, ..saved_artifact(ArtifactScope::Tenant, "input.json") };
    let next = journal.store_version(next, quota).await.unwrap();
    assert_eq!(next.version, 2, "the number of the deleted version stays used");
    let audit = journal.list_audit_events("acme".to_owned(), None, 10).await.unwrap();
    assert_eq!(audit.events, [audit_event()]);

    let (_folder, old) = folder_of_format_1().await;
    assert!(old.list_artifacts(ArtifactFilter::new(access), None, 100).await.unwrap().is_empty());
    assert_eq!(old.store_version(new, quota).await.unwrap().version, 0);
}

/// Proves X2: a log of format 1 grows with today's code, and positions of removed runs are not used again.
#[tokio::test]
async fn a_folder_of_format_1_can_be_written_on() {
    let (_folder, journal) = folder_of_format_1().await;
    let mut more = Append::new(run_id(3), 6, at(30));
    more.events = vec![Event::Canceled];
    let receipt = append(&journal, more).await.unwrap();
    assert_eq!(receipt.first_position, 12, "position 11 was that of the removed run");
}
