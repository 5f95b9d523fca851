//! Listing and showing sessions.

use serde_json::json;

use super::with_ticket;
use crate::support::{ServerUnderTest, TestFolder};

/// Proves T11, T12 and T13: the shapes that scripts rely on, with and without a server on the folder.
#[test]
fn sessions_are_listed_shown_and_drawn() {
    let folder = with_ticket();
    let mut server = None;
    for _ in 0..2 {
        let list = folder.run_command(&["sessions", "list", "--json"]).expect(0).json();
        assert_eq!(list[0]["sessionId"], "ticket-7", "{server:?}");
        let shown = folder.run_command(&["sessions", "show", "ticket-7", "--json"]).expect(0).json();
        assert_eq!(shown["sessionId"], "ticket-7");
        let run = &shown["runs"][0];
        assert_eq!(
            (&run["workflowId"], &run["status"], &run["branches"]),
            (&json!("review"), &json!("running"), &json!(2))
        );
        let documents = shown["documents"].as_array().unwrap();
        let kinds: Vec<_> = documents.iter().map(|document| &document["kind"]).collect();
        assert_eq!(kinds, ["table", "notes", "checkpoint", "notes", "checkpoint"]);
        assert!(documents.iter().all(|document| document["runId"].is_string()));
        let graph = folder.run_command(&["sessions", "graph", "ticket-7", "--json"]).expect(0).json();
        assert_eq!(graph["nodes"].as_array().unwrap().len(), 3);
        let edges = graph["edges"].as_array().unwrap();
        assert_eq!(edges.len(), 2);
        assert_ne!(edges[0]["id"], edges[1]["id"]);
        assert!(edges.iter().all(|edge| edge["from"] == graph["nodes"][0]["id"]));
        server = server.or_else(|| Some(ServerUnderTest::start(&folder.data_path())));
    }
}

/// Proves T11: the same for people.
#[test]
fn people_read_tables_trees_and_notes() {
    let folder = with_ticket();
    let list = folder.run_command(&["sessions", "list"]).expect(0);
    assert!(list.stdout.starts_with("SESSION"), "{list:?}");
    assert!(list.stdout.contains("ticket-7"));
    let shown = folder.run_command(&["sessions", "show", "ticket-7"]).expect(0);
    assert!(shown.stdout.contains("running (working)"), "{shown:?}");
    let graph = folder.run_command(&["sessions", "graph", "ticket-7"]).expect(0);
    assert!(graph.stdout.contains("  ├─ ○ Step b [step-b]\n  └─ ○ Step c [step-c]"), "{graph:?}");
    let notes = folder.run_command(&["sessions", "notes", "ticket-7"]).expect(0);
    assert!(notes.stdout.ends_with("\n\nask *Ada* first\n"), "{notes:?}");
    let notes = folder.run_command(&["sessions", "notes", "ticket-7", "--json"]).expect(0).json();
    assert_eq!(notes[0]["markdown"], "ask *Ada* first");
    let others = folder.run_command(&["sessions", "list", "--tenant", "acme", "--json"]).expect(0);
    assert_eq!(others.json(), json!([]));
}

/// Proves X5.
#[test]
fn an_unknown_session_is_told_with_what_may_have_been_meant() {
    let folder = with_ticket();
    for command in ["show", "graph", "notes"] {
        let refused = folder.run_command(&["sessions", command, "ticket-8"]).expect(2);
        assert!(refused.stderr.contains("there is no session ticket-8"), "{refused:?}");
        assert!(refused.stderr.contains("did you mean \"ticket-7\"?"), "{refused:?}");
        assert!(refused.stderr.contains("see: docs/errors/unknown-session.md"), "{refused:?}");
    }
    TestFolder::new().run_command(&["sessions", "list"]).expect(1);
}
