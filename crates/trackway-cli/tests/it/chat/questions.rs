//! Questions of a turn, beside other things that it does.

use std::fs;

use trackway_testkit::ModelServer;

use super::scripted::with_model;
use crate::support::Folder;

/// An agent that asks before it writes.
const CAREFUL: &str = "---\nname: careful\ntools: [ledger_enter]\n\
approvals: { ledger_enter: ask }\n---\nBe careful.\n";

/// A workspace with that agent.
fn careful() -> Folder {
    let folder = Folder::new();
    fs::create_dir(folder.path().join("agents")).unwrap();
    fs::write(folder.path().join("agents/careful.md"), CAREFUL).unwrap();
    folder
}

/// One answer with a call that is asked for and one that is not; then the last word.
fn both_calls(model: &ModelServer) {
    let calls = [
        ("c1", "ledger_enter", r#"{"entry": "tea"}"#),
        ("c2", "dispatch_workflow_echo", r#"{"text": "hi"}"#),
    ];
    model.queue(ModelServer::openai().calls(&calls));
    model.queue(ModelServer::openai().says("Both are done."));
}

/// Proves D7, L6: what is said beside an open question leaves it open.
#[tokio::test]
async fn a_question_stays_open_beside_a_dispatch() {
    let (folder, model) = (careful(), ModelServer::start().await);
    both_calls(&model);
    let mut talk = with_model(&folder, &model, &[]).start();
    talk.write("do both\n");
    talk.until("← dispatch_workflow_echo answered");
    talk.write("yes\n");
    talk.close_stdin();
    talk.until("Both are done.");
    assert_eq!(talk.exit_code(), 0);
    let ledger = fs::read_to_string(folder.data().join("ledger.txt")).unwrap();
    assert!(ledger.starts_with("tea "), "{ledger}");
}
