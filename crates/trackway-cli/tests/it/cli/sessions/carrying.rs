//! Sessions in files: bundles, Markdown, PDF.

use std::fs;

use serde_json::{Value, json};
use trackway_domain::{Event, RunId, Timestamp};
use trackway_ports::{Append, Journal as _};
use trackway_sqlite::SqliteJournal;

use super::with_ticket;
use crate::support::{CommandOutput, ServerUnderTest, TestFolder};

fn export(folder: &TestFolder, format: &str) -> Vec<u8> {
    let file = folder.path().join(format);
    let name = file.to_str().unwrap();
    let args = ["sessions", "export", "ticket-7", "--force", "--out", name, "--format", format];
    folder.run_command(&args).expect(0);
    fs::read(file).unwrap()
}

/// Proves T16: also next to a server on either side.
#[test]
fn a_bundle_carries_a_session_to_another_folder() {
    let (origin, other) = (with_ticket(), TestFolder::new());
    let _servers = [ServerUnderTest::start(&origin.data_path()), ServerUnderTest::start(&other.data_path())];
    let file = origin.path().join("session.json");
    let file = file.to_str().unwrap();
    let args = ["sessions", "export", "ticket-7", "--out", file, "--json"];
    let told = origin.run_command(&args).expect(0).json();
    let signer = told["signedBy"].as_str().unwrap();
    let foreign = ["sessions", "import", file, "--signed-by", &"0".repeat(32)];
    let refused = other.run_command(&foreign).expect(1);
    assert!(refused.stderr.contains("see: docs/errors/bad-bundle.md"), "{refused:?}");
    let import = ["sessions", "import", file, "--signed-by", signer, "--json"];
    let done = other.run_command(&import).expect(0).json();
    assert_eq!(done["imported"].as_array().unwrap().len(), 2);
    let again = other.run_command(&import).expect(0).json();
    assert_eq!(again["skipped"].as_array().unwrap().len(), 2);
    for command in ["show", "graph"] {
        let args = ["sessions", command, "ticket-7", "--json"];
        let (here, there) = (other.run_command(&args).expect(0), origin.run_command(&args).expect(0));
        assert_eq!(here.json(), there.json(), "{command}");
    }
    assert_eq!(export(&other, "markdown"), export(&origin, "markdown"));
    assert_eq!(export(&other, "pdf"), export(&origin, "pdf"));
}

/// Proves T16: the error says what is wrong, and nothing is written.
#[test]
fn a_damaged_bundle_is_refused() {
    let (origin, other) = (with_ticket(), TestFolder::new());
    let mut bundle = export(&origin, "bundle");
    let file = other.path().join("bad");
    let name = file.to_str().unwrap();
    let middle = bundle.len() / 2;
    bundle[middle] ^= 1;
    for content in [&bundle[..], b"", b"no bundle", &[0xff; 40]] {
        fs::write(&file, content).unwrap();
        let refused = other.run_command(&["sessions", "import", name]).expect(1);
        assert!(refused.stderr.contains("see: docs/errors/bad-bundle.md"), "{refused:?}");
    }
    other.run_command(&["sessions", "import", "nowhere"]).expect(1);
    assert_eq!(other.run_command(&["sessions", "list", "--json"]).expect(0).stdout, "[]\n");
}

/// Proves T16.
#[test]
fn pages_show_every_branch() {
    let folder = with_ticket();
    let page = String::from_utf8(export(&folder, "markdown")).unwrap();
    for text in [
        "# Session ticket-7",
        "## Session notes",
        "ask *Ada* first",
        "## Run of review",
        "### Branch 1 of 2",
        "first way",
        "half way",
        "### Branch 2 of 2, the newest",
        "Parts from branch 1 at step 1: Step a.",
        "##### Second",
        "\"verdict\": \"good\"",
        "| finding | id |",
        "| Größe ≠ 0 | 1 |",
        "(pending)",
    ] {
        assert!(page.contains(text), "{text:?} is missing in\n{page}");
    }
    assert!(export(&folder, "pdf").starts_with(b"%PDF-"));
}

/// An imported run is driven only after a user adopts it: before, it accepts no answer; afterwards it
/// continues.
#[test]
fn an_imported_run_waits_to_be_adopted() {
    let (origin, other) = (TestFolder::new(), TestFolder::new());
    let run = origin.start_waiting_review();
    let shown = origin.run_command(&["runs", "show", &run, "--json"]).expect(0).json();
    let session = shown["sessionId"].as_str().unwrap();
    let file = origin.path().join("bundle");
    let file = file.to_str().unwrap();
    origin.run_command(&["sessions", "export", session, "--out", file]).expect(0);
    other.run_command(&["sessions", "import", file]).expect(0);
    let resume = ["runs", "resume", &run, "--input", r#"{"confirmed": true}"#];
    let refused = other.run_command(&resume).expect(1);
    assert!(refused.stderr.contains(&format!("trackway runs adopt {run}")), "{refused:?}");
    assert!(refused.stderr.contains("see: docs/errors/not-adopted.md"), "{refused:?}");
    let seen = other.run_command(&["runs", "show", &run, "--json"]).expect(0).json();
    assert_eq!((&seen["imported"], &seen["state"]), (&true.into(), &"input-required".into()));
    other.run_command(&["sessions", "import", file]).expect(0);
    other.run_command(&["runs", "adopt", &run]).expect(0);
    other.run_command(&resume).expect(0);
    let ended = other.run_command(&["runs", "show", &run, "--json"]).expect(0).json();
    assert_eq!(ended["state"], "completed");
}

/// A run of `invest` that waits for its signature, with this value instead of the previous answer, in a
/// separate folder, as in a bundle written by hand.
fn forged(answer: &Value, schema: Option<&Value>) -> (TestFolder, String) {
    let (origin, forged) = (TestFolder::new(), TestFolder::new());
    let start = ["run", "invest", "--input", r#"{"walletAddress": "0x1"}"#, "--json"];
    let begun = origin.run_command(&start).expect(6);
    let run = begun.json_lines()[0]["runId"].as_str().unwrap().to_owned();
    let form = r#"{"walletAddress": "0x1", "amount": 5}"#;
    origin.run_command(&["runs", "resume", &run, "--input", form]).expect(6);
    let thread = tokio::runtime::Builder::new_current_thread().build().unwrap();
    thread.block_on(async {
        let journal = SqliteJournal::open(&origin.data_path()).unwrap();
        let id: RunId = run.parse().unwrap();
        let row = journal.find_run(id).await.unwrap();
        let mut events: Vec<Event> =
            journal.list_events(id, 0, 100).await.unwrap().into_iter().map(|it| it.event).collect();
        journal.close_store().await;
        for event in &mut events {
            match event {
                Event::Asked { question, .. } => {
                    question.schema = schema.unwrap_or(&question.schema).clone();
                }
                Event::Resumed { input, .. } => *input = answer.clone(),
                _ => {}
            }
        }
        let journal = SqliteJournal::open(&forged.data_path()).unwrap();
        let append = Append { events, row, ..Append::new(id, 0, Timestamp(0)) };
        journal.append_all(vec![append]).await.unwrap();
        journal.close_store().await;
    });
    (forged, run)
}

fn carried(origin: &TestFolder, run: &str, other: &TestFolder) -> CommandOutput {
    let shown = origin.run_command(&["runs", "show", run, "--json"]).expect(0).json();
    let file = origin.path().join("bundle");
    let file = file.to_str().unwrap();
    let session = shown["sessionId"].as_str().unwrap();
    origin.run_command(&["sessions", "export", session, "--out", file]).expect(0);
    other.run_command(&["sessions", "import", file])
}

/// Issue 11, S-M5: a recorded answer that its own question would have refused is refused on import.
#[test]
fn an_answer_that_does_not_fit_its_question_is_not_imported() {
    let (origin, run) = forged(&json!({ "walletAddress": 7 }), None);
    let other = TestFolder::new();
    let refused = carried(&origin, &run, &other).expect(1);
    assert!(refused.stderr.contains("does not fit its question"), "{refused:?}");
    assert!(refused.stderr.contains("see: docs/errors/bad-bundle.md"), "{refused:?}");
    other.run_command(&["runs", "show", &run]).expect(2);
}

/// Issue 11, S-M5: an answer that the program here cannot read prevents the adoption, and the run does not
/// change.
#[test]
fn a_run_that_the_program_cannot_read_is_not_adopted() {
    let (origin, run) = forged(&json!({ "walletAddress": 7 }), Some(&json!({})));
    let other = TestFolder::new();
    carried(&origin, &run, &other).expect(0);
    let refused = other.run_command(&["runs", "adopt", &run]).expect(7);
    assert!(refused.stderr.contains("cannot go on here"), "{refused:?}");
    assert!(refused.stderr.contains("see: docs/errors/replay-mismatch.md"), "{refused:?}");
    let shown = other.run_command(&["runs", "show", &run, "--json"]).expect(0).json();
    assert_eq!((&shown["imported"], &shown["parked"]), (&json!(true), &json!(false)), "{shown}");
}

/// An existing file is not overwritten, and no link is followed, unless an option says so.
#[test]
fn an_export_writes_over_nothing_by_itself() {
    let origin = with_ticket();
    let (kept, link) = (origin.path().join("kept"), origin.path().join("link"));
    fs::write(&kept, "precious").unwrap();
    std::os::unix::fs::symlink(&kept, &link).unwrap();
    for file in [&kept, &link] {
        let out = ["sessions", "export", "ticket-7", "--out", file.to_str().unwrap()];
        let refused = origin.run_command(&out).expect(1);
        assert!(refused.stderr.contains("--force"), "{refused:?}");
        assert_eq!(fs::read_to_string(&kept).unwrap(), "precious");
    }
    let out = ["sessions", "export", "ticket-7", "--force", "--out", kept.to_str().unwrap()];
    origin.run_command(&out).expect(0);
    assert_ne!(fs::read_to_string(&kept).unwrap(), "precious");
}
