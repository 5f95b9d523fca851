//! Questions of a turn: in parallel with other work, left open, and answered by other commands.

use std::{fs, io::Write as _};

use trackway_testkit::ScriptedModelServer;

use super::{chat_command, list_runs, run_chat, scripted::with_model};
use crate::support::{TestFolder, TrackwayCommand, trackway_command};

/// An agent that asks before it writes.
const CAREFUL: &str = "---\nname: careful\ntools: [ledger_enter]\n\
approvals: { ledger_enter: ask }\n---\nBe careful.\n";

const RATES: &str = "id: rates\nname: Rates\ndescription: Rates.\nversion: \"1\"\nsteps:\n\
\x20 - { id: rate, agent: careful, prompt: Rate it. }\n";

/// A workspace with that agent, and a workflow with a step for it.
fn careful() -> TestFolder {
    TestFolder::with_files(&[("agents/careful.md", CAREFUL), ("workflows/rates.yaml", RATES)])
}

/// Any command in that workspace, with the model of that server.
fn in_workspace(folder: &TestFolder, model: &ScriptedModelServer, args: &[&str]) -> TrackwayCommand {
    trackway_command(args)
        .env("TRACKWAY_DATA", folder.data_path())
        .env("TRACKWAY_WORKSPACE", folder.path())
        .env("OPENAI_BASE_URL", model.base_url())
        .env("OPENAI_API_KEY", "secret")
        .env("TRACKWAY_MODEL", "openai/m")
}

const ENTER: (&str, &str, &str) = ("c1", "ledger_enter", r#"{"entry": "tea"}"#);

/// One answer with a call that needs approval and one that does not; then the last message.
fn both_calls(model: &ScriptedModelServer) {
    let dispatch = ("c2", "dispatch_workflow_echo", r#"{"text": "hi"}"#);
    model.queue_reply(ScriptedModelServer::openai_reply().with_tool_calls(&[ENTER, dispatch]));
    model.queue_reply(ScriptedModelServer::openai_reply().with_text("Both are done."));
}

/// Proves D7, L6: a message that does not answer an open question leaves it open.
#[tokio::test]
async fn a_question_stays_open_beside_a_dispatch() {
    let (folder, model) = (careful(), ScriptedModelServer::start().await);
    both_calls(&model);
    let mut talk = with_model(&folder, &model, &[]).start();
    talk.write("do both\n");
    talk.read_until("← dispatch_workflow_echo answered");
    talk.write("yes\n");
    talk.close_stdin();
    talk.read_until("Both are done.");
    assert_eq!(talk.exit_code(), 0);
    let ledger = fs::read_to_string(folder.data_path().join("ledger.txt")).unwrap();
    assert!(ledger.starts_with("tea "), "{ledger}");
}

/// Proves D7, L6: the same for `trackway run`, from a pipe.
#[tokio::test]
async fn a_run_keeps_its_question_beside_a_dispatch() {
    let (folder, model) = (careful(), ScriptedModelServer::start().await);
    both_calls(&model);
    let args = ["run", "careful", "--input", "\"do both\"", "--json"];
    let mut run = in_workspace(&folder, &model, &args).start();
    run.read_until("tool-result-dispatch_workflow_echo");
    run.write("{\"approved\": true}\n");
    run.read_until("\"state\":\"completed\"");
    assert_eq!(run.exit_code(), 0);
    assert_eq!(model.requests().len(), 2);
}

/// Proves D7, L6: the hint at the end of a chat leads to the rest of the turn; nothing parks it on the way.
#[tokio::test]
async fn an_open_question_is_answered_by_the_command_of_the_hint() {
    let (folder, model) = (careful(), ScriptedModelServer::start().await);
    model.queue_reply(ScriptedModelServer::openai_reply().with_tool_calls(&[ENTER]));
    model.queue_reply(ScriptedModelServer::openai_reply().with_text("It is written."));
    let left = with_model(&folder, &model, &[]).run_to_end("write tea\n/run echo text=hi\n").expect(0);
    assert!(left.stderr.contains("were not sent"), "{left:?}");
    let hint = left.stderr.lines().find(|line| line.starts_with("hint: trackway runs")).unwrap();
    assert!(hint.contains("--workspace"), "{hint}");
    let turn = hint.split(' ').nth(4).unwrap().to_owned();
    let checked = in_workspace(&folder, &model, &["runs", "replay-check"]).run_to_end("").expect(0);
    assert!(checked.stdout.contains("1 checked, 0 misfit"), "{checked:?}");
    let echo = ["run", "echo", "--input", r#"{"text": "hi"}"#];
    in_workspace(&folder, &model, &echo).run_to_end("").expect(0);
    assert_eq!(list_runs(&folder).iter().filter(|run| run["parked"] == true).count(), 0);

    let resume = ["runs", "resume", &turn, "--input", r#"{"approved": true}"#];
    let done = in_workspace(&folder, &model, &resume).run_to_end("").expect(0);
    assert!(done.stdout.contains("It is written."), "{done:?}");
    assert_eq!(model.requests().len(), 2, "no model call is made twice");
    assert!(folder.data_path().join("ledger.txt").exists());
}

/// Proves D1: an interrupted turn continues with whichever command comes next.
#[tokio::test]
async fn a_turn_that_was_cut_short_is_not_parked_by_another_command() {
    let (folder, model) = (careful(), ScriptedModelServer::start().await);
    model.queue_reply(
        ScriptedModelServer::openai_reply().with_text("Once\n").to_unfinished_reply().keep_open_silently(),
    );
    let mut talk = with_model(&folder, &model, &[]).start();
    talk.write("tell\n");
    talk.read_until("Once");
    talk.signal("KILL");
    talk.exit_code();
    model.queue_reply(ScriptedModelServer::openai_reply().with_text("Once more."));
    let echo = ["run", "echo", "--input", r#"{"text": "hi"}"#];
    in_workspace(&folder, &model, &echo).run_to_end("").expect(0);
    let turn = list_runs(&folder).into_iter().find(|run| run["workflow"] == "careful").unwrap();
    assert_eq!(turn["parked"], false, "{turn}");
}

/// Proves D1: `trackway run` has the agents that the steps of a workflow name.
#[tokio::test]
async fn a_step_of_a_run_is_done_by_its_agent() {
    let (folder, model) = (careful(), ScriptedModelServer::start().await);
    model.queue_reply(ScriptedModelServer::openai_reply().with_text("Fine."));
    in_workspace(&folder, &model, &["run", "rates"]).run_to_end("").expect(0);
    assert_eq!(model.requests().len(), 1);
    let unknown = in_workspace(&folder, &model, &["run", "carefull"]).run_to_end("").expect(2);
    assert!(unknown.stderr.contains("careful"), "{unknown:?}");
}

/// Proves L6: a turn whose question is left for later blocks nothing.
#[tokio::test]
async fn a_skipped_question_of_the_turn_lets_the_conversation_go_on() {
    let (folder, model) = (careful(), ScriptedModelServer::start().await);
    model.queue_reply(ScriptedModelServer::openai_reply().with_tool_calls(&[ENTER]));
    model.queue_reply(ScriptedModelServer::openai_reply().with_text("Something else."));
    let lines = "write tea\n/skip\nwhat else is there?\n/quit\n";
    let done = with_model(&folder, &model, &[]).run_to_end(lines).expect(0);
    assert!(done.stdout.contains("Something else."), "{done:?}");
    let states: Vec<_> = list_runs(&folder).iter().map(|run| run["state"].clone()).collect();
    assert_eq!(states, ["completed", "input-required"]);
}

/// Proves L6, L14: a path is an answer like any other text.
#[test]
fn an_answer_may_begin_with_a_slash() {
    let folder = TestFolder::new();
    let lines = "/run invest walletAddress=0x1\nwalletAddress=0x1 amount=5\n/srv/signature\n";
    let done = run_chat(&folder, &[], lines).expect(0);
    assert!(done.stdout.contains("invest | completed\n"), "{done:?}");
    assert!(done.stdout.contains("/srv/signature"), "{done:?}");
}

/// Proves L12: input that was typed ahead does not prevent stopping a turn.
#[tokio::test]
async fn a_turn_is_stopped_past_a_line_that_waits() {
    let (folder, model) = (careful(), ScriptedModelServer::start().await);
    model.queue_reply(
        ScriptedModelServer::openai_reply()
            .with_text("Once upon a time\n")
            .to_unfinished_reply()
            .keep_open_silently(),
    );
    model.queue_reply(ScriptedModelServer::openai_reply().with_text("Fine."));
    let mut talk = with_model(&folder, &model, &[]).start();
    talk.write("tell me a story\n");
    talk.read_until("Once upon a time");
    talk.write("thanks\n/stop\n");
    talk.read_until("(stopped)");
    talk.read_until("Fine.");
    talk.close_stdin();
    assert_eq!(talk.exit_code(), 0);
}

/// Proves L12: without a turn, everything that it started is stopped.
#[tokio::test]
async fn everything_that_goes_on_is_stopped() {
    let (folder, model) = (careful(), ScriptedModelServer::start().await);
    folder.write_file("trackway.toml", "[dispatch]\nfirst_answer_timeout = \"50ms\"\n");
    let arguments = r#"{"entries": 1, "delayMs": 3600000}"#;
    let calls = ["c1", "c2"].map(|id| (id, "dispatch_workflow_ledger", arguments));
    model.queue_reply(ScriptedModelServer::openai_reply().with_tool_calls(&calls));
    model.queue_reply(ScriptedModelServer::openai_reply().with_text("They go on.").with_usage(20, 7));
    let mut talk = with_model(&folder, &model, &[]).start();
    talk.write("write slowly\n");
    talk.read_until("tokens in");
    talk.write("/stop\n");
    talk.read_until("ledger | canceled");
    talk.read_until("ledger | canceled");
    talk.close_stdin();
    assert_eq!(talk.exit_code(), 0);
}

/// A line that cannot be read does not end the conversation.
#[test]
fn a_line_that_is_not_text_is_told() {
    let folder = TestFolder::new();
    let mut talk = chat_command(&folder, &[]).start();
    let stdin = talk.child.stdin.as_mut().unwrap();
    stdin.write_all(b"/run echo text=a\n\xff\xfe\n/run echo text=b\n").unwrap();
    talk.close_stdin();
    assert_eq!(talk.exit_code(), 2);
}
