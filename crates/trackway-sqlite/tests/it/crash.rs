//! A real crash: a child process appends and prints what was acknowledged, is killed without
//! warning, and everything that it printed is stored.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, Command, Stdio},
    sync::mpsc::channel,
};

use serde_json::Value;
use trackway_domain::Timestamp;
use trackway_ports::{HookChange, HookTarget, Journal as _};
use trackway_sqlite::SqliteJournal;
use trackway_testkit::load_full_log;

use crate::helpers::*;

/// Runs that the child appends to in turn.
const RUNS: u64 = 7;

/// What the child prints for each acknowledged append: `acknowledged <run> <seq>`.
const WORD: &str = "acknowledged";

/// The hook that every run has.
const HOOK: &str = "hook";

/// Passes the folder to the child: this binary, started again by the test below.
const FOLDER: &str = "TRACKWAY_CRASH_TEST_FOLDER";

#[expect(clippy::disallowed_methods, reason = "how a test tells its own child process what to do")]
fn folder_of_the_child() -> Option<std::ffi::OsString> {
    std::env::var_os(FOLDER)
}

/// The child appends and prints until it is killed.
fn append_until_killed(folder: &Path) {
    let journal = SqliteJournal::open(folder).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let heads: Vec<u64> = (0..RUNS)
        .map(|number| runtime.block_on(load_full_log(&journal, run_id(number.into()))).unwrap().len() as u64)
        .collect();
    let (sender, receiver) = channel();
    let hand_in = |number: u64, expected: u64| {
        let sender = sender.clone();
        // Every fifth is large, so that some kills hit a blob being written.
        let size = if expected % 5 == 4 { 70_000 } else { 100 };
        let text = format!("{number} {expected} ").repeat(size / 5);
        let mut append = appending(run_id(number.into()), expected, [event(&text)]);
        // A hook that has received everything before this event.
        let (id, target) = (HOOK.to_owned(), HookTarget(Value::Null));
        append.hook_changes = vec![HookChange::Set { id, target, after: 0 }];
        append.hook_changes.push(HookChange::Delivered { id: HOOK.to_owned(), after: expected });
        journal.append(
            append,
            Box::new(move |outcome| {
                outcome.unwrap();
                sender.send((number, expected + 1)).unwrap();
            }),
        );
    };
    for (number, head) in (0..).zip(heads) {
        hand_in(number, head);
    }
    let mut out = std::io::stdout();
    // Ends the line that the test harness began.
    writeln!(out).unwrap();
    for (number, seq) in receiver {
        writeln!(out, "{WORD} {number} {seq}").unwrap();
        out.flush().unwrap();
        hand_in(number, seq);
    }
}

fn start_child(folder: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crash::every_acknowledged_append_survives_a_kill", "--nocapture"])
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Reads `lines` acknowledgements, kills the child, and reads the rest of its output. Records the
/// newest acknowledged event of each run.
fn kill_after(mut child: Child, lines: usize, newest: &mut [u64]) {
    let output = BufReader::new(child.stdout.take().unwrap());
    let mut seen = 0;
    for line in output.lines() {
        let line = line.unwrap();
        // The kill may cut the last line; the harness prints its own lines.
        let words: Vec<&str> = line.split(' ').collect();
        let [WORD, number, seq] = words[..] else {
            continue;
        };
        let (Ok(number), Ok(seq)) = (number.parse::<usize>(), seq.parse()) else {
            continue;
        };
        newest[number] = newest[number].max(seq);
        seen += 1;
        if seen == lines {
            child.kill().unwrap();
        }
    }
    assert!(seen >= lines, "the child ended by itself after {seen}");
    child.wait().unwrap();
}

/// Proves X2.
#[test]
fn every_acknowledged_append_survives_a_kill() {
    match folder_of_the_child() {
        Some(folder) => append_until_killed(Path::new(&folder)),
        None => tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(kill_and_look()),
    }
}

async fn kill_and_look() {
    let folder = tempfile::tempdir().unwrap();
    let mut newest = [0; RUNS as usize];
    for lines in [1, 10, 50, 333, 20, 5] {
        kill_after(start_child(folder.path()), lines, &mut newest);
        let journal = SqliteJournal::open(folder.path()).unwrap();
        for (number, acknowledged) in (0_u128..).zip(&mut newest) {
            let events = load_full_log(&journal, run_id(number)).await.unwrap();
            let found = events.len() as u64;
            // One more than acknowledged may be stored: the kill came between commit and answer.
            assert!(
                (*acknowledged..=*acknowledged + 1).contains(&found),
                "run {number}: {acknowledged} acknowledged, {found} found"
            );
            *acknowledged = found;
            let hooks = journal.list_hooks(run_id(number)).await.unwrap();
            let places: Vec<_> = hooks.iter().map(|hook| (hook.delivered_through, hook.due)).collect();
            let place = found.checked_sub(1).map(|after| (after, Some(Timestamp(0))));
            assert_eq!(places, Vec::from_iter(place), "the hook came whole with its event");
            assert!(events.iter().zip(1..).all(|(stored, seq)| stored.seq == seq));
        }
        let check: String =
            database(folder.path()).pragma_query_value(None, "integrity_check", |row| row.get(0)).unwrap();
        assert_eq!(check, "ok");
        // Left open on purpose in some rounds: the next child opens the same folder.
        if lines % 2 == 0 {
            journal.close_store().await;
        }
    }
}
