//! Damaged session data: a typed error for the affected run, no effect on any other, and no panic.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use super::{
    answer::ToolAnswer,
    mcp_workspace::{McpWorkspace, prompt_step, three_step_workflow, workflow_definition},
    raw_stdio_client::RawStdioClient,
};
use crate::support::python_client;

/// A session with a fork, notes, a block and a checkpoint, and a second session with another workflow.
struct Site {
    shop: McpWorkspace,
    whole: PathBuf,
    hit: Vec<ToolAnswer>,
    beside: Vec<ToolAnswer>,
}

fn site() -> Site {
    let mut wants = prompt_step("wants");
    wants["outputContract"] = json!({ "contractRef": "wr.contracts.loop_control" });
    let victim = workflow_definition("victim", json!([prompt_step("first"), wants, prompt_step("last")]));
    let shop = McpWorkspace::with_workflows(&[victim, three_step_workflow()]);
    let mut agent = shop.connect();
    let start = agent.start_run("victim", json!({ "sessionId": "hit" }));
    let one = agent.advance(&start, json!({ "notesMarkdown": "one" }));
    let two = agent.advance(&start, json!({ "notesMarkdown": "two" }));
    let blocked = agent.advance(&one, json!({}));
    agent.checkpoint(&one.state_token(), "a checkpoint");
    let decision = json!({ "kind": "wr.loop_control", "decision": "stop" });
    let last = agent.advance(&blocked, json!({ "output": { "artifacts": [decision] } }));
    let hit = vec![start, one, two, last];
    let start = agent.start_run("three", json!({ "sessionId": "beside" }));
    let second = agent.advance(&start, json!({ "notesMarkdown": "beside" }));
    agent.close();
    let whole = shop.path().join("whole");
    copy(&shop.data(), &whole);
    Site { shop, whole, hit, beside: vec![start, second] }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn database(data: &Path) -> PathBuf {
    let mut files = fs::read_dir(data).unwrap().map(|entry| entry.unwrap().path());
    files.find(|file| file.extension().is_some_and(|kind| kind == "db")).unwrap()
}

impl Site {
    /// The folder as it was before any damage.
    fn restore_folder(&self) {
        fs::remove_dir_all(self.shop.data()).unwrap();
        copy(&self.whole, &self.shop.data());
    }

    fn damage(&self, more: &[&str]) -> String {
        let told = python_client("TRACKWAY_TEST_MCP_PYTHON", "damage.py")
            .arg(database(&self.shop.data()))
            .arg(self.hit[0].run_id())
            .args(more)
            .output()
            .unwrap();
        assert!(told.status.success(), "{told:?}");
        String::from_utf8(told.stdout).unwrap().trim().to_owned()
    }

    /// All requests to both sessions. Returns whether any was refused.
    fn walk(&self, what: &str) -> bool {
        let mut agent = RawStdioClient::start_and_greet(&self.shop);
        let mut refused = false;
        for at in &self.hit {
            let look = agent.call_tool("workflow_advance", json!({ "stateToken": at.state_token() }));
            let advance = agent.call_tool("workflow_advance", pair(at, "anew"));
            let again = agent.call_tool("workflow_advance", pair(at, "one"));
            for answer in [&look, &advance, &again] {
                refused |= typed(answer, what);
            }
        }
        // The other session is unchanged: it replays, looks, and continues.
        let again = agent.call_tool("workflow_advance", pair(&self.beside[0], "beside"));
        assert_eq!(again.text_and_json(), self.beside[1].text_and_json(), "{what}");
        let third = agent.call_tool("workflow_advance", pair(&self.beside[1], "more"));
        assert_eq!(third.step_id(), "third", "{what}");
        agent.server.close_stdin();
        assert_eq!(agent.server.exit_code(), 0, "{what}");
        for args in [&["sessions", "show"], &["sessions", "graph"]] {
            let told = self.shop.run_command(&[&args[..], &["hit", "--json"]].concat());
            assert!(told.code == 0 || told.stderr.contains("docs/errors/"), "{what}: {told:?}");
            assert!(!told.stderr.contains("panicked"), "{what}: {told:?}");
            refused |= told.code != 0;
            let beside = self.shop.run_json_command(&[&args[..], &["beside"]].concat());
            assert!(beside.is_object(), "{what}: {beside}");
        }
        let list: Value = self.shop.run_json_command(&["sessions", "list"]);
        assert!(list.to_string().contains("beside"), "{what}: {list}");
        let log = fs::read_to_string(self.shop.path().join("stderr")).unwrap();
        assert!(!log.contains("panicked"), "{what}: {log}");
        refused
    }
}

fn pair(at: &ToolAnswer, notes: &str) -> Value {
    json!({ "stateToken": at.state_token(), "ackToken": at.ack_token(), "notesMarkdown": notes })
}

/// Whether an answer is an error, which then has one of these codes.
fn typed(answer: &ToolAnswer, what: &str) -> bool {
    if !answer.is_error {
        return false;
    }
    let known = ["damaged-log", "unknown-run", "run-ended", "invalid-workflow", "unknown-workflow"];
    assert!(known.contains(&answer.error_code()), "{what}: {answer:#?}");
    true
}

/// Proves T12: damage anywhere in the rows of a session is an error of that session or does no harm, and
/// never affects another.
#[test]
fn heavy_damaged_rows_hit_their_own_session_only() {
    let site = site();
    assert!(!site.walk("nothing"), "undamaged, nothing is refused");
    site.restore_folder();
    let places: usize = site.damage(&[]).parse().unwrap();
    assert!(places > 100, "{places}");
    // Every seventh byte: all kinds of rows and columns, in an acceptable time.
    let mut refused = 0;
    for place in (0..places).step_by(7) {
        site.restore_folder();
        let what = site.damage(&[&place.to_string()]);
        refused += usize::from(site.walk(&what));
    }
    assert!(refused > 0, "the damage was seen");
}

/// Proves T12: flipped bytes in the file itself, in the rows and keys of one session, never cause a panic,
/// and the other session is shown unchanged.
#[test]
fn heavy_flipped_bytes_in_the_file_hit_their_own_session_only() {
    let site = site();
    site.restore_folder();
    let shown = site.shop.run_json_command(&["sessions", "show", "beside"]);
    let file = database(&site.shop.data());
    let whole = fs::read(&file).unwrap();
    let run = site.hit[0].run_id().as_bytes();
    let rows: Vec<usize> = (0..whole.len() - run.len()).filter(|at| whole[*at..].starts_with(run)).collect();
    assert!(!rows.is_empty());
    for place in rows.iter().step_by(rows.len() / 6 + 1) {
        for offset in [0, run.len() / 2, run.len() + 3, run.len() + 60] {
            site.restore_folder();
            let mut bytes = whole.clone();
            bytes[place + offset] ^= 0x15;
            fs::write(&file, bytes).unwrap();
            let what = format!("byte {}", place + offset);
            let beside = site.shop.run_command(&["sessions", "show", "beside", "--json"]);
            // SQLite itself may report a broken page.
            if beside.code == 0 || !beside.stderr.contains("malformed") {
                assert_eq!(beside.expect(0).json(), shown, "{what}");
            }
            let mut agent = RawStdioClient::start_and_greet(&site.shop);
            for at in site.hit.iter().chain(&site.beside) {
                let look = agent.call_tool("workflow_advance", json!({ "stateToken": at.state_token() }));
                let advance = agent.call_tool("workflow_advance", pair(at, "anew"));
                assert!(!look.is_error || !look.error_code().is_empty(), "{what}");
                assert!(!advance.is_error || !advance.error_code().is_empty(), "{what}");
            }
            drop(agent);
            let log = fs::read_to_string(site.shop.path().join("stderr")).unwrap();
            assert!(!log.contains("panicked"), "{what}: {log}");
            let told = site.shop.run_command(&["sessions", "show", "hit", "--json"]);
            assert!(!told.stderr.contains("panicked"), "{what}: {told:?}");
        }
    }
}
