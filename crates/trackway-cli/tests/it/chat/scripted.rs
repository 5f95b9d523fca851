//! With a model that the test writes, over a real socket.

use trackway_testkit::{Latch, ModelServer, Reply};

use super::{chat, runs};
use crate::support::{Folder, Trackway};

/// A conversation with the model of that server.
pub(super) fn with_model(folder: &Folder, model: &ModelServer, args: &[&str]) -> Trackway {
    chat(folder, args)
        .env("OPENAI_BASE_URL", model.base_url())
        .env("OPENAI_API_KEY", "secret")
        .env("TRACKWAY_MODEL", "openai/m")
}

/// An answer that says this line and is never whole.
pub(super) fn endless(line: &str) -> (Reply, Latch) {
    let latch = Latch::new();
    (ModelServer::openai().says(line).unfinished().wait(&latch).stay(), latch)
}

/// Proves D1, D4, D8: text, calls and what they used are shown; the log has the bill.
#[tokio::test]
async fn a_dispatch_is_shown_and_paid_for() {
    let (folder, model) = (Folder::new(), ModelServer::start().await);
    let call = ("c1", "dispatch_workflow_echo", r#"{"text": "hi"}"#);
    model.queue(ModelServer::openai().says("One moment. ").calls(&[call]));
    model.queue(ModelServer::openai().says("All is done.").usage(20, 7));
    let done = with_model(&folder, &model, &[]).finish("echo hi\n").expect(0);
    let shown = "assistant, openai/m\n\
                 One moment. \n\
                 → dispatch_workflow_echo {\"text\":\"hi\"}\n";
    assert!(done.stdout.starts_with(shown), "{done:?}");
    assert!(done.stdout.contains("← dispatch_workflow_echo answered\n"), "{done:?}");
    assert!(done.stdout.contains("All is done.\n"), "{done:?}");
    assert!(done.stdout.contains("(30 tokens in, 12 out)\n"), "{done:?}");
    assert_eq!(
        model.asked()[0].body["messages"].as_array().unwrap().last().unwrap()["content"],
        "echo hi"
    );

    let turn = runs(&folder).into_iter().find(|run| run["workflow"] == "assistant").unwrap();
    let id = turn["id"].as_str().unwrap();
    let shown = folder.trackway(&["runs", "show", id]).expect(0);
    assert!(shown.stdout.contains("2 model calls, 30 tokens in, 12 out"), "{shown:?}");
    let usage = folder.trackway(&["runs", "show", id, "--json"]).expect(0).json()["usage"].clone();
    assert_eq!(usage["models"]["openai/m"]["outputTokens"], 12);
    let session = turn["sessionId"].as_str().unwrap();
    let shown = folder.trackway(&["sessions", "show", session]).expect(0);
    assert!(shown.stdout.contains("agent assistant: 2 model calls"), "{shown:?}");
}

/// Proves D8, L12: text is there before the answer is whole; `/stop` drops the connection.
#[tokio::test]
async fn a_turn_is_stopped_while_it_speaks() {
    let (folder, model) = (Folder::new(), ModelServer::start().await);
    model.queue(endless("Once upon a time\n").0);
    model.queue(ModelServer::openai().says("Fine."));
    let mut talk = with_model(&folder, &model, &[]).start();
    talk.write("tell me a story\n");
    talk.until("Once upon a time");
    talk.write("/stop\n");
    talk.until("(stopped)");
    model.dropped().await;
    talk.write("thanks\n");
    talk.until("Fine.");
    talk.close_stdin();
    assert_eq!(talk.exit_code(), 0);
    let states: Vec<_> = runs(&folder).iter().map(|run| run["state"].clone()).collect();
    assert_eq!(states, ["completed", "canceled"]);
}

/// Proves L12: Ctrl-C stops the turn, and ends the conversation where there is none.
#[tokio::test]
async fn ctrl_c_stops_the_turn_first() {
    let (folder, model) = (Folder::new(), ModelServer::start().await);
    model.queue(endless("Once upon a time\n").0);
    let mut talk = with_model(&folder, &model, &[]).start();
    talk.write("tell me a story\n");
    talk.until("Once upon a time");
    talk.signal("INT");
    talk.until("(stopped)");
    model.dropped().await;
    // Kept open: the end of the lines would be another reason to leave.
    let _lines = talk.child.stdin.take();
    talk.signal("INT");
    assert_eq!(talk.exit_code(), 130);
}

/// Proves D8: the text of an attempt that broke off does not stay.
#[tokio::test]
async fn a_broken_attempt_is_told() {
    let (folder, model) = (Folder::new(), ModelServer::start().await);
    model.queue(ModelServer::openai().says("The wrong").unfinished().cut());
    model.queue(ModelServer::openai().says("It is right."));
    let done = with_model(&folder, &model, &[]).finish("go\n").expect(0);
    assert!(
        done.stdout.contains("The wrong\n(the answer starts again)\nIt is right.\n"),
        "{done:?}"
    );
}
