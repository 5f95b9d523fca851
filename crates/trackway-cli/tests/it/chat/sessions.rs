//! Conversations that are resumed, and conversations that fork.

use super::{list_runs, run_chat};
use crate::support::TestFolder;

/// Proves L17: an open question is asked again, in another process.
#[test]
fn a_session_is_taken_up_with_its_question() {
    let folder = TestFolder::new();
    let first = run_chat(&folder, &[], "/run approve subject=tea\n").expect(0);
    assert!(first.stderr.contains("waits for an answer"), "{first:?}");
    assert!(first.stderr.contains("trackway runs resume run_"), "{first:?}");
    let second = run_chat(&folder, &["--resume"], "yes\n").expect(0);
    assert!(second.stdout.contains("> /run approve subject=tea\n"), "{second:?}");
    assert!(second.stdout.contains("approve ? Do you approve of tea?\n"), "{second:?}");
    assert!(second.stdout.contains("approve | completed\n"), "{second:?}");
    assert_eq!(list_runs(&folder).len(), 2);
}

#[test]
fn turns_of_one_conversation_are_one_session() {
    let folder = TestFolder::new();
    run_chat(&folder, &["--session", "ticket-7"], "/run echo text=a\n/run echo text=b\n").expect(0);
    let session = folder.run_command(&["sessions", "show", "ticket-7", "--json"]).expect(0).json();
    let turns = session["runs"].as_array().unwrap();
    let turns = turns.iter().filter(|run| run["workflowId"] == "assistant");
    assert_eq!(turns.count(), 2);
    // The offline rules cost nothing, but they are counted.
    assert_eq!(session["usage"]["agents"]["assistant"]["calls"], 4);
    assert_eq!(session["usage"]["models"]["offline-rules/1"]["inputTokens"], 0);
    let none = run_chat(&TestFolder::new(), &["--resume"], "").expect(0);
    assert!(none.stderr.contains("There is no earlier session"), "{none:?}");
}

/// A fork begins with the earlier messages, and does not change the original.
#[test]
fn a_fork_begins_with_the_conversation() {
    let folder = TestFolder::new();
    let lines = "/run echo text=a\n/fork\n/run echo text=b\n";
    let done = run_chat(&folder, &["--session", "first"], lines).expect(0);
    let line = done.stdout.lines().find(|line| line.starts_with("This is ")).unwrap();
    let forked = line.split([' ', ';']).nth(2).unwrap();
    let turns = |session: &str| {
        let args = ["runs", "list", "--session", session, "--workflow", "assistant", "--json"];
        folder.run_command(&args).expect(0).json()["runs"].as_array().unwrap().len()
    };
    assert_eq!((turns("first"), turns(forked)), (1, 2), "{done:?}");
    let taken_up = run_chat(&folder, &["--session", forked], "").expect(0);
    for said in ["> /run echo text=a\n", "> /run echo text=b\n"] {
        assert!(taken_up.stdout.contains(said), "{taken_up:?}");
    }
    let checked = folder.run_command(&["runs", "replay-check"]);
    assert_eq!(checked.code, 0, "{checked:?}");
}
