//! The stored form of a data folder. `format-1.sql` and `format-3.sql` exist on disks and must stay readable: see
//! `docs/formats.md`.

mod readback;

use std::{fmt::Write as _, fs, path::Path};

use serde_json::json;
use trackway_domain::{
    ArtifactEntrySource, ArtifactFilename, ArtifactId, ArtifactIndexEntry, ArtifactScope, Caller,
    ChildOutcome, CrossRunErrand, Event, MessageId, Op, RunId, SessionId, StateName, TimerKey, Timestamp,
    WorkflowRef,
};
use trackway_ports::{
    Append, AppendFence, AppendId, ArtifactKey, ArtifactQuota, ArtifactStore as _, AuditEvent, AuditLog as _,
    DriverEpoch, HookChange, HookTarget, Journal, Leases as _, MessageClaim, MessageClaimKey,
    NewArtifactVersion, OutboxChange, OutboxId, PinnedDefinition, RefusedAction, RunRemoval, RunRow,
    TimerChange, WorkClaim, WorkerId, WorkerLease, decode_event,
};
use trackway_sqlite::SqliteJournal;
use uuid::Uuid;

use crate::helpers::{append, database, run_id};

/// A data folder of format 1, as text.
const FORMAT_1: &str = include_str!("format/format-1.sql");

/// The same with artifacts and audit events, as text. No program wrote format 2.
const FORMAT_3: &str = include_str!("format/format-3.sql");

/// More than a row may hold.
const LARGE_BYTES: usize = 70_000;

/// The time of the first append.
const START: i64 = 1_767_225_600_000;

fn worker() -> WorkerId {
    WorkerId(Uuid::from_u128(0xa1))
}

fn outbox_id() -> OutboxId {
    OutboxId(Uuid::from_u128(0xb1))
}

fn caller() -> Caller {
    Caller::new("acme", "ada")
}

fn at(millis: i64) -> Timestamp {
    Timestamp(START + millis)
}

fn stored_event(json: &str) -> Event {
    decode_event(1, json).unwrap_or_else(|error| panic!("{error:?}: {json}"))
}

fn step_timer() -> TimerKey {
    "step:pay#0".parse::<Op>().map(TimerKey::Op).unwrap()
}

fn notify_parent() -> CrossRunErrand {
    let outcome =
        ChildOutcome { state: StateName::Completed, output: json!({"hotel": "Grand"}), message: None };
    CrossRunErrand::NotifyParent { parent: run_id(1), child: run_id(2), outcome }
}

fn hook_target() -> HookTarget {
    HookTarget(json!({"url": "https://example.org/hook", "token": "secret"}))
}

fn definition() -> PinnedDefinition {
    PinnedDefinition { hash: "sha256-aa".to_owned(), body: r#"{"format":1,"id":"review"}"#.to_owned() }
}

fn message_claim() -> MessageClaim {
    MessageClaim {
        key: MessageClaimKey { caller: caller(), message: MessageId::new("m-1").unwrap() },
        run: run_id(1),
        digest: "digest of m-1".to_owned(),
        reply: json!({"kind": "submitted"}),
    }
}

/// An event that is stored in a blob.
fn large_event() -> Event {
    stored_event(&format!(
        r#"{{"step-done":{{"op":"step:load#0","outcome":{{"ok":"{}"}}}}}}"#,
        "x".repeat(LARGE_BYTES)
    ))
}

fn run_row(run: RunId, name: &str, state: StateName) -> RunRow {
    RunRow {
        id: run,
        session: SessionId::new("ses-1").unwrap(),
        caller: caller(),
        workflow: WorkflowRef { name: name.to_owned(), version: "1.0.0".to_owned() },
        parent: None,
        state,
        runnable: false,
        parked: false,
        created_at: at(0),
        status_at: at(0),
    }
}

fn submitted(run: RunId, name: &str) -> Event {
    stored_event(&format!(
        r#"{{"submitted":{{"run":"{run}","session":"ses-1","workflow":{{"name":"{name}","version":"1.0.0"}},"caller":{{"tenant":"acme","user":"ada"}},"input":{{"to":"Oslo"}}}}}}"#
    ))
}

/// A run with a timer, a deadline, an errand, a hook, a claim, a large event and a parked child.
fn driven_run() -> Append {
    let mut child = Append::new(run_id(2), 0, at(0));
    child.events = vec![submitted(run_id(2), "hotel")];
    let row = run_row(run_id(2), "hotel", StateName::Submitted);
    child.row = Some(RunRow { parent: Some(run_id(1)), parked: true, ..row });

    let mut append = Append::new(run_id(1), 0, at(0));
    append.id = Some(AppendId(42));
    append.worker = Some(worker());
    append.fence = AppendFence::TakeOver(DriverEpoch(1));
    append.events = vec![submitted(run_id(1), "travel"), Event::Started, large_event()];
    append.row = Some(RunRow { runnable: true, ..run_row(run_id(1), "travel", StateName::Working) });
    append.timer_changes =
        vec![TimerChange::Set(step_timer(), at(1_000)), TimerChange::Set(TimerKey::Deadline, at(60_000))];
    append.outbox_changes = vec![OutboxChange::Add(outbox_id(), notify_parent())];
    append.hook_changes = vec![
        HookChange::Set { id: "failing".to_owned(), target: hook_target(), after: 1 },
        HookChange::Failed { id: "failing".to_owned(), due: at(500), failing_since: at(100), attempts: 1 },
        HookChange::Set { id: "idle".to_owned(), target: HookTarget(json!(null)), after: 3 },
    ];
    append.message_claim = Some(message_claim());
    append.started_runs = vec![child];
    append
}

/// A run that an outside agent drives: opened, blocked, advanced, noted, and moved to another definition.
fn guided_run() -> Append {
    let (first, second) = (format!("nod_{:032x}", 1), format!("nod_{:032x}", 2));
    let node = |id: &str, parent: &str, definition: &str| {
        format!(r#"{{"id":"{id}",{parent}"definition":"{definition}","position":{{"at":1}},"context":{{}}}}"#)
    };
    let parent = format!(r#""parent":"{first}","#);
    let attempt = |ack: u8, outcome: &str| {
        stored_event(&format!(
            r#"{{"guided":{{"attempted":{{"node":"{first}","ack":"ack_{ack:032x}","digest":"d{ack}","inputs":{{}},"outcome":{outcome},"reply":{{"branch":{{"forked":false,"index":0,"siblings":1}},"stamp":{{"key":"k1","text_version":1}}}}}}}}}}"#
        ))
    };
    let mut append = Append::new(run_id(3), 0, at(10));
    append.events = vec![
        submitted(run_id(3), "review"),
        stored_event(&format!(
            r#"{{"guided":{{"opened":{{"node":{},"reply":{{"branch":{{"forked":false,"index":0,"siblings":1}},"stamp":{{"key":"k1","text_version":1}}}},"documents":[]}}}}}}"#,
            node(&first, "", "sha256-aa")
        )),
        attempt(1, r#"{"blocked":{"code":"output-missing","message":"It is missing.","needs":[]}}"#),
        attempt(2, &format!(r#"{{"advanced":{}}}"#, node(&second, &parent, "sha256-aa"))),
        stored_event(&format!(
            r#"{{"guided":{{"checkpointed":{{"node":"{second}","notes":"Half way."}}}}}}"#
        )),
        stored_event(&format!(
            r#"{{"guided":{{"repinned":{{"node":{}}}}}}}"#,
            node(&second, &parent, "sha256-bb")
        )),
    ];
    append.row = Some(run_row(run_id(3), "review", StateName::Working));
    let other = PinnedDefinition { hash: "sha256-bb".to_owned(), ..definition() };
    append.pins = vec![definition(), other];
    append
}

/// What the events of the driven run add to the index of artifacts.
fn artifact_entries() -> Vec<ArtifactIndexEntry> {
    let entry = |seq, filename: &str, source| ArtifactIndexEntry {
        owner: caller(),
        session: SessionId::new("ses-1").unwrap(),
        seq,
        filename: ArtifactFilename::new(filename).unwrap(),
        media_type: "text/csv".to_owned(),
        size_bytes: 12,
        source,
    };
    let artifact = ArtifactId::new("out").unwrap();
    vec![
        entry(1, "data.csv", ArtifactEntrySource::Attachment { part: 1 }),
        entry(2, "out.csv", ArtifactEntrySource::Yielded { artifact: artifact.clone(), grows: false }),
        entry(3, "out.csv", ArtifactEntrySource::Yielded { artifact, grows: true }),
    ]
}

/// A version that is saved; its content is its filename.
fn saved_artifact(scope: ArtifactScope, filename: &str) -> NewArtifactVersion {
    NewArtifactVersion {
        key: ArtifactKey { owner: caller(), scope, filename: ArtifactFilename::new(filename).unwrap() },
        bytes: filename.as_bytes().to_vec(),
        media_type: "application/json".to_owned(),
        created_at: at(30),
        run: Some(run_id(1)),
        session: Some(SessionId::new("ses-1").unwrap()),
        tags: vec!["input".to_owned()],
        metadata: json!({"schema": {"type": "object"}}).as_object().unwrap().clone(),
        request_id: Some("call-1".to_owned()),
        only_if_absent: false,
    }
}

fn audit_event() -> AuditEvent {
    let refused = RefusedAction { action: "artifact:read", object: "secret.txt", reason: "unknown" };
    AuditEvent::new(at(40), &caller(), &refused)
}

/// An artifact of each scope, one of them with a deleted version.
async fn write_artifacts(journal: &SqliteJournal) {
    let quota = ArtifactQuota { bytes_max: 1_000, versions_max: 100 };
    let scopes = [
        ArtifactScope::Run(run_id(1)),
        ArtifactScope::Session(SessionId::new("ses-1").unwrap()),
        ArtifactScope::User,
        ArtifactScope::Tenant,
    ];
    for scope in scopes {
        journal.store_version(saved_artifact(scope, "input.json"), quota).await.unwrap();
    }
    let second =
        NewArtifactVersion { request_id: None, ..saved_artifact(ArtifactScope::Tenant, "input.json") };
    journal.store_version(second.clone(), quota).await.unwrap();
    journal.delete_artifact(second.key, Some(1)).await.unwrap();
}

/// Writes every kind of row. Ids and times are fixed, so the same code writes the same rows.
async fn write_everything(journal: &SqliteJournal) {
    journal.acquire_or_renew_lease(worker(), WorkerLease::Until(at(9_000)), at(0)).await.unwrap();
    append(journal, Append { artifacts: artifact_entries(), ..driven_run() }).await.unwrap();
    append(journal, guided_run()).await.unwrap();
    let claim = WorkClaim { worker: worker(), now: at(2_000), limit: 10 };
    assert_eq!(journal.claim_due_timers(claim).await.unwrap().len(), 1);
    assert_eq!(journal.claim_due_hooks(claim, Vec::new()).await.unwrap().len(), 1);
    // Removed runs leave the number of positions that were used.
    let mut removed = Append::new(run_id(4), 0, at(20));
    removed.events = vec![submitted(run_id(4), "gone")];
    removed.row = Some(run_row(run_id(4), "gone", StateName::Canceled));
    append(journal, removed).await.unwrap();
    journal.remove_runs(RunRemoval::removal_of_runs([(run_id(4), 1)])).await.unwrap();
    write_artifacts(journal).await;
    journal.record_audit_events(vec![audit_event()]).await.unwrap();
}

/// The whole database as SQL, in a fixed order.
fn dump_database(folder: &Path) -> String {
    let conn = database(folder);
    let version: u32 = conn.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    let mut text = format!("PRAGMA user_version = {version};\n");
    let mut objects = conn
        .prepare("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid")
        .unwrap();
    let mut objects = objects.query([]).unwrap();
    while let Some(object) = objects.next().unwrap() {
        let (kind, name, sql): (String, String, String) =
            (object.get(0).unwrap(), object.get(1).unwrap(), object.get(2).unwrap());
        write!(text, "\n{sql};\n").unwrap();
        if kind == "table" {
            dump_rows(&conn, &name, &mut text);
        }
    }
    // The program that made the folder is named in it.
    text.replace(concat!("'trackway ", env!("CARGO_PKG_VERSION"), "'"), "'trackway 0.0.0'")
}

fn dump_rows(conn: &rusqlite::Connection, table: &str, text: &mut String) {
    let mut columns = conn.prepare("SELECT name FROM pragma_table_info(?1)").unwrap();
    let columns: Vec<String> =
        columns.query_map([table], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap();
    let quoted: Vec<String> = columns.iter().map(|column| format!("quote({column})")).collect();
    let (names, values) = (columns.join(", "), quoted.join(" || ', ' || "));
    let mut rows = conn.prepare(&format!("SELECT {values} FROM {table} ORDER BY {names}")).unwrap();
    let rows = rows.query_map([], |row| row.get::<_, String>(0)).unwrap();
    for values in rows {
        writeln!(text, "INSERT INTO {table} ({names})\nVALUES ({});", values.unwrap()).unwrap();
    }
}

/// Proves X2: the same appends give the same rows as in format 3, so a change of the format is noticed.
#[tokio::test]
async fn todays_store_writes_format_3() {
    let folder = tempfile::tempdir().unwrap();
    let journal = SqliteJournal::open(folder.path()).unwrap();
    write_everything(&journal).await;
    journal.close_store().await;
    let today = dump_database(folder.path());
    let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("format-3.sql");
    fs::write(&copy, &today).unwrap();
    assert!(
        today == FORMAT_3,
        "the stored form has changed: compare {} with the golden file",
        copy.display()
    );
}

/// Proves X2: every table is in the golden file, with at least one row.
#[test]
fn every_table_has_a_row_in_the_golden_file() {
    for line in FORMAT_3.lines() {
        let Some(table) = line.strip_prefix("CREATE TABLE ") else { continue };
        let table = table.split(' ').next().unwrap();
        assert!(FORMAT_3.contains(&format!("\nINSERT INTO {table} (")), "{table} has no row");
    }
}
