//! With a model that the test scripts, over a real socket.

use trackway_testkit::{ScriptLatch, ScriptedModelServer, ScriptedReply};

use super::{chat_command, list_runs};
use crate::support::{TestFolder, TrackwayCommand};

/// A conversation with the model of that server.
pub(super) fn with_model(folder: &TestFolder, model: &ScriptedModelServer, args: &[&str]) -> TrackwayCommand {
    chat_command(folder, args)
        .env("OPENAI_BASE_URL", model.base_url())
        .env("OPENAI_API_KEY", "secret")
        .env("TRACKWAY_MODEL", "openai/m")
}

/// An answer that sends this line and never completes.
pub(super) fn endless(line: &str) -> (ScriptedReply, ScriptLatch) {
    let latch = ScriptLatch::new();
    (
        ScriptedModelServer::openai_reply()
            .with_text(line)
            .to_unfinished_reply()
            .wait_for_latch(&latch)
            .keep_open_silently(),
        latch,
    )
}

/// Proves D1, D4, D8: text, calls and their usage are shown; the log has the cost.
#[tokio::test]
async fn a_dispatch_is_shown_and_paid_for() {
    let (folder, model) = (TestFolder::new(), ScriptedModelServer::start().await);
    let call = ("c1", "dispatch_workflow_echo", r#"{"text": "hi"}"#);
    model.queue_reply(ScriptedModelServer::openai_reply().with_text("One moment. ").with_tool_calls(&[call]));
    model.queue_reply(ScriptedModelServer::openai_reply().with_text("All is done.").with_usage(20, 7));
    let done = with_model(&folder, &model, &[]).run_to_end("echo hi\n").expect(0);
    let shown = "assistant, openai/m\n\
                 One moment. \n\
                 → dispatch_workflow_echo {\"text\":\"hi\"}\n";
    assert!(done.stdout.starts_with(shown), "{done:?}");
    assert!(done.stdout.contains("← dispatch_workflow_echo answered\n"), "{done:?}");
    assert!(done.stdout.contains("All is done.\n"), "{done:?}");
    assert!(done.stdout.contains("(30 tokens in, 12 out)\n"), "{done:?}");
    assert_eq!(
        model.requests()[0].body["messages"].as_array().unwrap().last().unwrap()["content"],
        "echo hi"
    );

    let turn = list_runs(&folder).into_iter().find(|run| run["workflow"] == "assistant").unwrap();
    let id = turn["id"].as_str().unwrap();
    let shown = folder.run_command(&["runs", "show", id]).expect(0);
    assert!(shown.stdout.contains("2 model calls, 30 tokens in, 12 out"), "{shown:?}");
    let usage = folder.run_command(&["runs", "show", id, "--json"]).expect(0).json()["usage"].clone();
    assert_eq!(usage["models"]["openai/m"]["outputTokens"], 12);
    let session = turn["sessionId"].as_str().unwrap();
    let shown = folder.run_command(&["sessions", "show", session]).expect(0);
    assert!(shown.stdout.contains("agent assistant: 2 model calls"), "{shown:?}");
}

/// Proves D8, L12: text appears before the answer is complete; `/stop` drops the connection.
#[tokio::test]
async fn a_turn_is_stopped_while_it_speaks() {
    let (folder, model) = (TestFolder::new(), ScriptedModelServer::start().await);
    model.queue_reply(endless("Once upon a time\n").0);
    model.queue_reply(ScriptedModelServer::openai_reply().with_text("Fine."));
    let mut talk = with_model(&folder, &model, &[]).start();
    talk.write("tell me a story\n");
    talk.read_until("Once upon a time");
    talk.write("/stop\n");
    talk.read_until("(stopped)");
    model.wait_for_dropped_connection().await;
    talk.write("thanks\n");
    talk.read_until("Fine.");
    talk.close_stdin();
    assert_eq!(talk.exit_code(), 0);
    let states: Vec<_> = list_runs(&folder).iter().map(|run| run["state"].clone()).collect();
    assert_eq!(states, ["completed", "canceled"]);
}

/// Proves L12: Ctrl-C stops the turn, and ends the conversation if there is none.
#[tokio::test]
async fn ctrl_c_stops_the_turn_first() {
    let (folder, model) = (TestFolder::new(), ScriptedModelServer::start().await);
    model.queue_reply(endless("Once upon a time\n").0);
    let mut talk = with_model(&folder, &model, &[]).start();
    talk.write("tell me a story\n");
    talk.read_until("Once upon a time");
    talk.signal("INT");
    talk.read_until("(stopped)");
    model.wait_for_dropped_connection().await;
    // Kept open: the end of the input would be another reason to exit.
    let _lines = talk.child.stdin.take();
    talk.signal("INT");
    assert_eq!(talk.exit_code(), 130);
}

/// Proves D8: the text of a failed attempt is removed.
#[tokio::test]
async fn a_broken_attempt_is_told() {
    let (folder, model) = (TestFolder::new(), ScriptedModelServer::start().await);
    model.queue_reply(
        ScriptedModelServer::openai_reply().with_text("The wrong").to_unfinished_reply().cut_connection(),
    );
    model.queue_reply(ScriptedModelServer::openai_reply().with_text("It is right."));
    let done = with_model(&folder, &model, &[]).run_to_end("go\n").expect(0);
    assert!(done.stdout.contains("The wrong\n(the answer starts again)\nIt is right.\n"), "{done:?}");
}
