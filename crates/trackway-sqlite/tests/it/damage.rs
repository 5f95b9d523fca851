//! A damaged record ends the log of its own run and does not affect the others.

use std::{fs, path::Path};

use trackway_ports::{
    AppendError, FORMAT_LATEST, HookChange, HookTarget, Journal as _, Leases as _, ReadError, RunFilter,
    RunRow, WorkClaim, WorkerId,
};
use trackway_sqlite::SqliteJournal;
use trackway_testkit::journal_suite::guided_samples::{advanced_event, guided_append, opening_append};
use uuid::Uuid;

use crate::helpers::*;

/// Writes two runs of four events, damages event 3 of the first, and checks what is left.
async fn check(damage: impl FnOnce(&Path)) {
    let (folder, journal) = fresh_store();
    fill(&journal, run_id(1), 4).await;
    fill(&journal, run_id(2), 4).await;
    let whole = journal.list_events(run_id(1), 0, 10).await.unwrap();
    journal.close_store().await;
    drop(journal);
    damage(folder.path());

    let journal = SqliteJournal::open(folder.path()).unwrap();
    let left = journal.list_events(run_id(1), 0, 10).await.unwrap();
    assert_eq!(left, whole[..2]);
    for read in [
        journal.list_events(run_id(1), 2, 10).await,
        journal.list_events_after_position(run_id(1), whole[1].pos, 10).await,
    ] {
        match read {
            Err(ReadError::Damaged { run: of, seq, reason }) => {
                assert_eq!((of, seq), (run_id(1), 3));
                assert!(!reason.is_empty());
            }
            other => panic!("damage was expected: {other:?}"),
        }
    }
    // Later events can still be read, and nothing else has changed.
    assert_eq!(journal.list_events(run_id(1), 3, 10).await.unwrap(), whole[3..]);
    assert_eq!(count(&journal, run_id(2)).await, 4);
    append(&journal, appending(run_id(2), 4, [event("five")])).await.unwrap();
    assert_eq!(count(&journal, run_id(2)).await, 5);
}

/// Proves X2: changed bytes on the disk, including bytes that are not valid text.
#[tokio::test]
async fn a_changed_byte_in_the_file() {
    for change in [|byte: u8| byte ^ 1, |_| 0xff] {
        check(|folder| {
            let path = folder.join("trackway.db");
            let mut bytes = fs::read(&path).unwrap();
            let text = format!("event 3 of {}", run_id(1));
            let found = bytes.windows(text.len()).position(|w| w == text.as_bytes()).unwrap();
            bytes[found] = change(bytes[found]);
            fs::write(&path, bytes).unwrap();
        })
        .await;
    }
}

/// Proves X2: a page of the file is lost, and more than a body with it.
#[tokio::test]
async fn a_page_of_zeros() {
    let (folder, journal) = fresh_store();
    // Each event fills most of a page, so that no two events share one.
    for number in 1..=2 {
        for seq in 0..4 {
            let text = format!("{number}-{}", seq + 1).repeat(1_000);
            let one = appending(run_id(number), seq, [event(&text)]);
            append(&journal, one).await.unwrap();
        }
    }
    journal.close_store().await;
    drop(journal);
    let path = folder.path().join("trackway.db");
    let mut bytes = fs::read(&path).unwrap();
    let found = bytes.windows(6).position(|w| w == b"1-31-3").unwrap();
    let page = found / 4_096 * 4_096;
    bytes[page..page + 4_096].fill(0);
    fs::write(&path, bytes).unwrap();

    let journal = SqliteJournal::open(folder.path()).unwrap();
    assert_eq!(count(&journal, run_id(1)).await, 2);
    let error = journal.list_events(run_id(1), 2, 10).await.unwrap_err();
    assert!(matches!(error, ReadError::Damaged { seq: 3, .. }), "{error}");
    assert_eq!(count(&journal, run_id(2)).await, 4);
}

/// Proves X2: another body, a valid body of an unknown kind, a future format, a missing row, and blobs that
/// never existed.
#[tokio::test]
async fn a_changed_record() {
    let body = r#"{"levitated":{}}"#;
    let sealed = format!("{body} {} 3 3 0 {FORMAT_LATEST}", run_id(1));
    let crc = crc32fast::hash(sealed.as_bytes());
    let unknown = format!("UPDATE events SET body = '{body}', crc = {crc}");
    let never = format!("UPDATE events SET body = NULL, blob = '{}'", "0".repeat(64));
    for change in [
        "UPDATE events SET body = replace(body, 'event', 'tnevent')",
        &unknown,
        "UPDATE events SET format = 99",
        "DELETE FROM events",
        &never,
        "UPDATE events SET body = NULL, blob = '../trackway.db'",
        "UPDATE events SET body = NULL, blob = ''",
    ] {
        check(|folder| execute(folder, &format!("{change} WHERE pos = 3"))).await;
    }
}

/// Proves X2: damaged rows next to the log are omitted, and the others are found.
#[tokio::test]
async fn damaged_rows_hide_no_others() {
    let (folder, journal) = fresh_store();
    append(&journal, opening_append(1)).await.unwrap();
    execute(
        folder.path(),
        "INSERT INTO outbox (id, body) VALUES ('nonsense', '{}'),
                ('00000000000000000000000000000001', 'nonsense'),
                ('00000000000000000000000000000002',
                 '{\"cancel-child\":{\"child\":\"run_00000000000000000000000000000001\"}}');
         INSERT INTO timers (run, timer, due) VALUES ('nonsense', 'deadline', 1),
                ('run_00000000000000000000000000000001', 'nonsense', 2),
                ('run_00000000000000000000000000000001', 'deadline', 3);
         INSERT INTO runs (id, session, tenant, user, workflow, version, state,
                           runnable, parked, created_at, status_at, head, crc) VALUES
                ('run_9', 's', 't', 'u', 'w', '1', 'working', 1, 0, 0, 0, 0, 0),
                ('run_00000000000000000000000000000002', 's', 't', 'u', 'w', '1', 'working',
                 1, 0, 0, 0, 0, 0);",
    );
    assert_eq!(journal.list_outbox(None, 1).await.unwrap().len(), 1);
    let worker = WorkerId(Uuid::from_u128(1));
    let claim = WorkClaim { worker, now: trackway_domain::Timestamp(9), limit: 1 };
    assert_eq!(journal.claim_due_timers(claim).await.unwrap().len(), 1);
    assert_eq!(journal.claim_unclaimed_errands(claim).await.unwrap().len(), 1);
    assert_eq!(journal.claim_abandoned_runs(claim).await.unwrap().len(), 1);
    let runs = journal.list_runs(RunFilter::default(), None, 1).await.unwrap();
    assert_eq!(runs[0].id, run_id(1));
    let error = journal.find_run(run_id(2)).await.unwrap_err();
    assert!(matches!(error, ReadError::Damaged { .. }), "{error}");
}

/// Proves X2, X6: a damaged hook is omitted; the other hooks of its run still receive updates.
#[tokio::test]
async fn a_damaged_hook_is_left_out() {
    let (folder, journal) = fresh_store();
    let mut first = appending(run_id(1), 0, [event("one")]);
    first.hook_changes = ["a", "b"]
        .map(|id| HookChange::Set {
            id: id.to_owned(),
            target: HookTarget(serde_json::json!({ "token": id })),
            after: 0,
        })
        .into();
    append(&journal, first).await.unwrap();
    execute(folder.path(), "UPDATE hooks SET target = '{\"token' WHERE id = 'a'");
    let worker = WorkerId(Uuid::from_u128(1));
    let claim = WorkClaim { worker, now: trackway_domain::Timestamp(0), limit: 1 };
    let due = journal.claim_due_hooks(claim, Vec::new()).await.unwrap();
    let due: Vec<_> = due.into_iter().map(|due| due.hook).collect();
    assert_eq!(due.iter().map(|hook| hook.id.as_str()).collect::<Vec<_>>(), ["b"]);
    assert_eq!(journal.list_hooks(run_id(1)).await.unwrap(), due);
    assert_eq!(journal.find_hook(run_id(1), "a".to_owned()).await.unwrap(), None);
}

/// Proves X2, T12: a checksum protects the row of a run, and later writes do not make a damaged row look valid.
#[tokio::test]
async fn a_damaged_row_of_a_run_stays_damaged() {
    let (folder, journal) = fresh_store();
    append(&journal, opening_append(1)).await.unwrap();
    append(&journal, opening_append(2)).await.unwrap();
    let change = |what: &str| {
        let sql = format!("UPDATE runs SET {what} WHERE id = '{}'", run_id(1));
        execute(folder.path(), &sql);
    };
    let row = journal.find_run(run_id(1)).await.unwrap().unwrap();
    append(&journal, guided_append(1, 2, [advanced_event(1, 1, "a", 2)])).await.unwrap();
    let answered = journal.find_run(run_id(1)).await.unwrap().unwrap();
    assert!(answered.status_at > row.status_at, "the time of its newest answer");
    assert_eq!(answered, RunRow { status_at: answered.status_at, ..row.clone() });

    change("tenant = 'another'");
    for seq in 3..6 {
        let error = journal.find_run(run_id(1)).await.unwrap_err();
        assert!(matches!(error, ReadError::Damaged { run: of, .. } if of == run_id(1)), "{error}");
        let listed = journal.list_runs(RunFilter::default(), None, 9).await.unwrap();
        assert_eq!(listed.iter().map(|row| row.id).collect::<Vec<_>>(), [run_id(2)]);
        let mut later = guided_append(1, seq, [advanced_event(1, seq.into(), "a", 2)]);
        if seq == 4 {
            later.row = Some(row.clone());
        }
        append(&journal, later).await.unwrap();
    }
}

/// Proves X2, T12: a guided run with lost newest events does not look like a shorter run, neither to readers
/// nor to writers.
#[tokio::test]
async fn a_log_that_ends_too_early_is_damaged() {
    let (folder, journal) = fresh_store();
    append(&journal, opening_append(1)).await.unwrap();
    append(&journal, guided_append(1, 2, [advanced_event(1, 1, "a", 2)])).await.unwrap();
    journal.close_store().await;
    execute(folder.path(), "DELETE FROM events WHERE seq = 3");
    let journal = SqliteJournal::open(folder.path()).unwrap();
    assert_eq!(count(&journal, run_id(1)).await, 2);
    let error = journal.list_events(run_id(1), 2, 9).await.unwrap_err();
    assert!(matches!(error, ReadError::Damaged { seq: 3, .. }), "{error}");
    let late = append(&journal, guided_append(1, 2, [advanced_event(1, 2, "b", 3)])).await;
    assert!(matches!(late, Err(AppendError::Conflict { .. })), "{late:?}");
}
