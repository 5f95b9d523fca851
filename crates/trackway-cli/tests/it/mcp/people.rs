//! What people see of runs that agents drive: on the command line, intact or damaged, and as text.

use std::fs;

use serde_json::{Value, json};

use super::{
    answer::ToolAnswer,
    mcp_workspace::{McpWorkspace, prompt_step, three_step_workflow, workflow_definition},
    raw_stdio_client::RawStdioClient,
};
use crate::support::ServerUnderTest;

fn pair(at: &ToolAnswer, notes: &str) -> Value {
    json!({ "stateToken": at.state_token(), "ackToken": at.ack_token(), "notesMarkdown": notes })
}

impl RawStdioClient {
    fn start_run(&mut self, workflow: &str, session: &str) -> ToolAnswer {
        let context = json!({ "sessionId": session });
        self.call_tool("workflow_start", json!({ "workflowId": workflow, "context": context }))
    }

    fn advance(&mut self, at: &ToolAnswer, notes: &str) -> ToolAnswer {
        self.call_tool("workflow_advance", pair(at, notes))
    }

    fn leave(mut self) {
        self.server.close_stdin();
        assert_eq!(self.server.exit_code(), 0);
    }
}

/// Changes one letter of a text wherever the database has it, as a failing disk would.
fn damage(shop: &McpWorkspace, text: &str) {
    let file = shop.data().join("trackway.db");
    let mut bytes = fs::read(&file).unwrap();
    let starts = (0..bytes.len() - text.len()).filter(|at| bytes[*at..].starts_with(text.as_bytes()));
    let starts: Vec<usize> = starts.collect();
    assert!(!starts.is_empty(), "{text} is not in the database");
    starts.iter().for_each(|at| bytes[*at] ^= 0x15);
    fs::write(file, bytes).unwrap();
}

/// Issue 11, B-L8: a guided run is shown with its position, and its time changes with each answer.
#[test]
fn a_guided_run_is_shown_with_its_steps_and_time() {
    let shop = McpWorkspace::with_workflows(&[three_step_workflow()]);
    let mut agent = RawStdioClient::start_and_greet(&shop);
    let start = agent.start_run("three", "s");
    let show = ["runs", "show", start.run_id()];
    let first = shop.run_json_command(&show);
    assert_eq!(first["guided"]["pending"][0]["step"], "first", "{first}");
    let second = agent.advance(&start, "one way");
    assert_eq!(agent.advance(&start, "another way").step_id(), "second");
    let shown = shop.run_json_command(&show);
    let guided = &shown["guided"];
    assert_eq!((&guided["branches"], &guided["workflowHash"]), (&json!(2), &second.json["workflowHash"]));
    assert_eq!(guided["pending"].as_array().unwrap().len(), 2, "{shown}");
    assert_eq!(shown["createdAt"], first["createdAt"]);
    let time = |run: &Value| run["updatedAt"].as_str().unwrap().to_owned();
    // A whole process ran between the two.
    assert!(time(&shown) > time(&first), "{shown} {first}");
    let listed = shop.run_json_command(&["runs", "list"]);
    assert_eq!(listed["runs"][0]["updatedAt"], shown["updatedAt"], "{listed}");
    let page = shop.run_command(&show).expect(0).stdout;
    for text in ["Pending", "Title of second (second)", "Branches", "Updated"] {
        assert!(page.contains(text), "{text}: {page}");
    }
    agent.leave();
    // A server shows the same.
    let server = ServerUnderTest::start(&shop.data());
    assert_eq!(shop.run_json_command(&show), shown, "{}", server.url);
}

/// Issue 11, B-M6: a damaged run is shown as far as it can be read, is marked, and an answer next to the
/// damage says so.
#[test]
fn a_damaged_run_is_shown_and_marked() {
    let shop = McpWorkspace::with_workflows(&[three_step_workflow()]);
    let mut agent = RawStdioClient::start_and_greet(&shop);
    let start = agent.start_run("three", "hit");
    let second = agent.advance(&start, "kept");
    let third = agent.advance(&second, "LOST-NOTES");
    assert_eq!(third.step_id(), "third");
    agent.leave();
    damage(&shop, "LOST-NOTES");

    let mut agent = RawStdioClient::start_and_greet(&shop);
    let other = agent.advance(&second, "anew");
    assert_eq!((other.step_id(), other.warning_codes()), ("third", vec!["damaged-log"]), "{other:#?}");
    agent.leave();

    let shown = shop.run_command(&["runs", "show", start.run_id(), "--json"]).expect(0);
    assert!(shown.stderr.contains("see: docs/errors/damaged-log.md"), "{shown:?}");
    let run = shown.json();
    assert_eq!(run["state"], "unknown");
    assert!(run["damaged"].as_str().unwrap().starts_with("event "), "{run}");
    // Events after the damage are there.
    assert_eq!(run["guided"]["pending"][0]["step"], "third", "{run}");
    let page = shop.run_command(&["runs", "show", start.run_id()]).expect(0).stdout;
    assert!(page.contains("Damaged") && page.contains("the events before it"), "{page}");

    // Over REST, too.
    let server = ServerUnderTest::start(&shop.data());
    let shown = shop.run_command(&["runs", "show", start.run_id(), "--json"]).expect(0);
    assert!(shown.stderr.contains("see: docs/errors/damaged-log.md"), "{} {shown:?}", server.url);
    let over = shown.json();
    assert_eq!((&over["damaged"], &over["state"]), (&run["damaged"], &run["state"]), "{over}");
}

/// Issue 11, B-L17: the texts for people and agents are sentences.
#[test]
fn texts_are_sentences() {
    let linear = workflow_definition("linear", json!([prompt_step("first"), prompt_step("second")]));
    let shop = McpWorkspace::with_workflows(&[three_step_workflow(), linear.clone()]);
    let mut agent = RawStdioClient::start_and_greet(&shop);
    let start = agent.start_run("three", "s");
    let wrong = json!({ "stateToken": start.state_token(), "ackToken": "hello" });
    let ack = agent.call_tool("workflow_advance", wrong).text;
    agent.advance(&start, "LOST-NOTES");
    let pinned = agent.start_run("linear", "l");
    let mut newer = linear;
    newer["steps"][1]["prompt"] = json!(7);
    shop.write_workflow(&newer);
    let migrate = ["runs", "migrate", pinned.run_id(), "--workflows", shop.workflows()];
    let migrated = shop.run_command(&migrate).expect(1).stderr;
    shop.run_command(&["runs", "cancel", pinned.run_id()]).expect(0);
    let look = agent.call_tool("workflow_advance", json!({ "stateToken": pinned.state_token() })).text;
    agent.leave();
    let empty = shop.run_command(&["workflows", "list", "--workflows", ""]).expect(2).stderr;
    damage(&shop, "LOST-NOTES");
    let file = shop.path().join("bundle");
    let export = ["sessions", "export", "s", "--out", file.to_str().unwrap()];
    let exported = shop.run_command(&export).expect(1).stderr;
    assert_eq!(exported.matches(start.run_id()).count(), 1, "the run is named once: {exported}");
    for (text, says, never) in [
        (&ack, "an ackToken begins with ack.v1.", "a ackToken"),
        (&exported, "cannot be exported: event ", "is damaged: event"),
        (&migrated, ", /steps/1/prompt: ", "json/steps"),
        (&empty, "a value is required for '--workflows <DIR>'", "``"),
        (&look, "This run keeps the one that it was started with.", "This run goes on"),
    ] {
        assert!(text.contains(says), "{says:?} is missing: {text}");
        assert!(!text.contains(never), "{never:?}: {text}");
    }
}
