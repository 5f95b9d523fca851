//! A person at a terminal: a real terminal whose keys the test presses.

use trackway_testkit::{ScriptLatch, ScriptedModelServer, ScriptedReply};

use super::{
    chat_command, list_runs,
    scripted::{endless, with_model},
};
use crate::support::{PseudoTerminal, TestFolder, TrackwayCommand};

/// In a terminal with colours, without any setting about them.
fn at(command: TrackwayCommand) -> PseudoTerminal {
    command.env("TERM", "xterm").env("NO_COLOR", "").terminal()
}

/// Proves D8, L6, X4: a prompt, a turn, the form of a question field by field, and Ctrl-D.
#[test]
fn a_question_is_a_form_and_ctrl_d_ends() {
    let folder = TestFolder::new();
    let mut talk = at(chat_command(&folder, &[]));
    talk.read_until("assistant, offline-rules/1: rules, not a language model\r\n");
    talk.read_until("/help lists the commands; /quit ends.\r\n> ");
    talk.type_text("/run invest walletAddress=0x1\n");
    talk.read_until("→ invest  walletAddress: 0x1\r\n");
    // The form appears after the messages of the turn and of the workflow that asks. Values from the start
    // are offered.
    let shown = talk.read_until("  walletAddress (text) The wallet that pays. [0x1]: ");
    assert!(shown.contains("invest ? Please provide your wallet address and amount to invest\r\n"));
    talk.type_text("\n");
    talk.read_until("  amount (number, more than 0) How much to invest.: ");
    talk.type_text("nothing\n");
    let again = talk.read_until("  amount (number, more than 0) How much to invest.: ");
    assert!(again.contains("is not a number"), "{again}");
    talk.type_text("5\n");
    talk.read_until("invest ? Please sign the investment of 5");
    talk.read_until("  signature");
    talk.read_until(": ");
    talk.type_text("me\n");
    talk.read_until("invest | completed\r\n> ");
    talk.type_text("\x04");
    let (code, screen) = talk.wait_for_exit();
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains("> \r\nhint: trackway chat assistant --session ses_"), "{screen}");
    let states: Vec<_> = list_runs(&folder).iter().map(|run| run["state"].clone()).collect();
    assert_eq!(states, ["completed"; 2]);
}

/// Proves D8, L12: text is on the screen before the answer is complete; the first Ctrl-C stops the turn,
/// the second one exits.
#[tokio::test]
async fn ctrl_c_stops_first_and_then_leaves() {
    let (folder, model) = (TestFolder::new(), ScriptedModelServer::start().await);
    model.queue_reply(endless("Once upon a time").0);
    let mut talk = at(with_model(&folder, &model, &[]));
    talk.read_until("> ");
    talk.type_text("tell me a story\n");
    talk.read_until("Once upon a time");
    talk.type_text("\x03");
    let shown = talk.read_until("(stopped)");
    assert!(shown.starts_with("^C\r\n"), "{shown:?}");
    model.wait_for_dropped_connection().await;
    talk.read_until("> ");
    talk.type_text("\x03");
    let (code, screen) = talk.wait_for_exit();
    assert_eq!(code, 130, "{screen}");
    assert!(screen.contains("> ^C\r\nhint: trackway chat"), "{screen}");
    assert_eq!(list_runs(&folder)[0]["state"], "canceled");
}

/// Proves L12: `/stop` works while the model answers, and the conversation continues.
#[tokio::test]
async fn a_turn_is_stopped_by_its_name() {
    let (folder, model) = (TestFolder::new(), ScriptedModelServer::start().await);
    model.queue_reply(endless("Once upon a time").0);
    model.queue_reply(ScriptedModelServer::openai_reply().with_text("Fine."));
    let mut talk = at(with_model(&folder, &model, &[]));
    talk.read_until("> ");
    talk.type_text("tell me a story\n");
    talk.read_until("Once upon a time");
    talk.type_text("/stop\n");
    assert_eq!(talk.read_until("(stopped)"), "/stop\r\n(stopped)", "the line had ended");
    model.wait_for_dropped_connection().await;
    talk.read_until("> ");
    talk.type_text("thanks\n");
    talk.read_until("Fine.");
    talk.read_until("> ");
    talk.type_text("\x04");
    let (code, screen) = talk.wait_for_exit();
    assert_eq!(code, 0, "{screen}");
}

/// Proves D1: a workflow's message is shown once, as a table if it has rows.
#[test]
fn a_first_answer_is_shown_once() {
    let folder = TestFolder::new();
    let mut talk = at(chat_command(&folder, &[]));
    talk.read_until("> ");
    talk.type_text("invest from wallet 0x123\n");
    talk.read_until("[0x123]: ");
    talk.type_text("\x04");
    let (code, screen) = talk.wait_for_exit();
    assert_eq!(code, 0, "{screen}");
    for once in ["Found 3 yield opportunities:", "Aave", "→ invest", "Please provide"] {
        assert_eq!(screen.matches(once).count(), 1, "{once:?} in {screen}");
    }
    assert!(screen.contains("apy  protocol\r\ninvest |     5.2  Aave\r\n"), "{screen}");
    let (said, _) = screen.split_once(" waits for an answer").unwrap();
    assert!(!said.contains("invest answered") && !said.contains('{'), "{screen}");
}

/// Text, data and prompts break between words at the width of the terminal.
#[tokio::test]
async fn lines_end_between_words() {
    let (folder, model) = (TestFolder::new(), ScriptedModelServer::start().await);
    let call = ("c1", "dispatch_workflow_invest", r#"{"walletAddress": "0x123"}"#);
    let words = "Several words that together are much longer than the window is wide.";
    model.queue_reply(ScriptedModelServer::openai_reply().with_tool_calls(&[call]));
    model.queue_reply(ScriptedModelServer::openai_reply().with_text(words));
    let talk = with_model(&folder, &model, &[]).env("TERM", "xterm").env("NO_COLOR", "1");
    let mut talk = talk.terminal_with_columns(40);
    talk.read_until("> ");
    talk.type_text("invest\n");
    talk.read_until("[0x123]: ");
    talk.type_text("\x04");
    let (code, screen) = talk.wait_for_exit();
    assert_eq!(code, 0, "{screen}");
    let (said, _) = screen.split_once("run_").unwrap();
    for line in said.lines() {
        assert!(line.trim_end().chars().count() <= 40, "{line:?} in {screen}");
    }
    assert!(said.contains("Several words that together are much\r\nlonger than"), "{screen}");
    assert!(said.contains("invest ? Please provide your wallet\r\n         address"), "{screen}");
}

/// A spinner shows that work is going on, and for how long; it disappears when there is something to read.
#[tokio::test]
async fn work_has_a_sign() {
    let (folder, model) = (TestFolder::new(), ScriptedModelServer::start().await);
    let latch = ScriptLatch::new();
    let reply: ScriptedReply = ScriptedModelServer::openai_reply().with_text("At last.").into();
    model.queue_reply(reply.wait_before_status(&latch));
    let mut talk = at(with_model(&folder, &model, &[]));
    talk.read_until("> ");
    talk.type_text("think\n");
    talk.read_until_raw(" working 1 s");
    latch.release();
    talk.read_until("At last.");
    talk.read_until_raw("\r\x1b[KAt last.");
    talk.read_until("> ");
    talk.type_text("\x04");
    let (code, screen) = talk.wait_for_exit();
    assert_eq!(code, 0, "{screen}");
}

/// The model's reasoning is shown before its answer, once.
#[tokio::test]
async fn a_thought_is_shown_once() {
    let (folder, model) = (TestFolder::new(), ScriptedModelServer::start().await);
    model.queue_reply(
        ScriptedModelServer::openai_reply()
            .with_reasoning("Let me ")
            .with_reasoning("see.")
            .with_text("It is tea."),
    );
    let mut talk = at(with_model(&folder, &model, &[]));
    talk.read_until("> ");
    talk.type_text("what is it\n");
    talk.read_until("~ Let me see.\r\nIt is tea.\r\n");
    talk.read_until("> ");
    talk.type_text("\x04");
    let (code, screen) = talk.wait_for_exit();
    assert_eq!(code, 0, "{screen}");
    for once in ["Let me see.", "It is tea."] {
        assert_eq!(screen.matches(once).count(), 1, "{screen}");
    }
}

/// A long text is shortened, and shown whole on request.
#[test]
fn a_shortened_text_can_be_seen() {
    let folder = TestFolder::new();
    let mut talk = at(chat_command(&folder, &[]));
    talk.read_until("> ");
    talk.type_text(&format!("/run echo text=\"{}finally\"\n", "word ".repeat(450)));
    // The call was shortened too, as number 1.
    talk.read_until("echo |   (shortened: /show 2)\r\n");
    talk.read_until("> ");
    talk.type_text("/show 2\n");
    talk.read_until("word finally\r\n");
    talk.read_until("> ");
    talk.type_text("/show 9\n");
    talk.read_until("Nothing was shortened as number 9.");
    talk.type_text("\x04");
    let (code, screen) = talk.wait_for_exit();
    assert_eq!(code, 0, "{screen}");
}

/// `trackway run` looks the same: formatted data, known values offered.
#[test]
fn a_run_is_laid_out_too() {
    let folder = TestFolder::new();
    let args = ["run", "invest", "--input", r#"{"walletAddress": "0x123"}"#];
    let run = crate::support::trackway_command(&args).env("TRACKWAY_DATA", folder.data_path());
    let mut run = at(run);
    run.read_until("  Found 3 yield opportunities:\r\n    opportunities\r\n      apy  protocol\r\n");
    run.read_until("? Please provide your wallet address and amount to invest\r\n");
    run.read_until("  walletAddress (text) The wallet that pays. [0x123]: ");
    run.type_text("\n");
    run.read_until("How much to invest.: ");
    run.type_text("5\n");
    run.read_until("  signature (text) The wallet's signature.: ");
    run.type_text("me\n");
    run.read_until("  + receipt.json (Receipt)\r\n    amount         5");
    run.read_until("walletAddress  0x123\r\n");
    run.read_until("completed\r\n");
    let (code, screen) = run.wait_for_exit();
    assert_eq!(code, 0, "{screen}");
    assert!(!screen.contains('{'), "{screen}");
}

/// Proves L17: a question that is left open is named on a separate line with the way to answer it.
#[test]
fn an_open_question_is_left_by_ctrl_d() {
    let folder = TestFolder::new();
    let mut talk = at(chat_command(&folder, &[]));
    talk.read_until("> ");
    talk.type_text("/run approve subject=tea\n");
    talk.read_until("  approved (y/n)");
    talk.read_until(": ");
    talk.type_text("\x04");
    let (code, screen) = talk.wait_for_exit();
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains(": \r\nrun_"), "{screen}");
    assert!(screen.contains(" waits for an answer.\r\nhint: trackway runs resume run_"), "{screen}");
}

/// Proves X5: the model's text cannot control the terminal.
#[tokio::test]
async fn a_model_cannot_steer_the_terminal() {
    let (folder, model) = (TestFolder::new(), ScriptedModelServer::start().await);
    model.queue_reply(
        ScriptedModelServer::openai_reply()
            .with_text("Red \x1b[31malert\x07\x1b]0;title\x07 \u{9b}2J.\r\nEnd."),
    );
    let mut talk = at(with_model(&folder, &model, &[]));
    talk.read_until("> ");
    talk.type_text("go\n");
    talk.read_until("End.");
    talk.read_until("> ");
    talk.type_text("/quit\n");
    let (code, screen) = talk.wait_for_exit();
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains("Red \u{fffd}[31malert\u{fffd}"), "{screen}");
}

/// Proves X5: there are no colours if the user disables them or the terminal has none.
#[test]
fn colours_are_shown_where_they_are_wanted() {
    let screen = |term: &str, no_color: &str| {
        let folder = TestFolder::new();
        let talk = chat_command(&folder, &[]).env("TERM", term).env("NO_COLOR", no_color);
        let mut talk = talk.terminal();
        talk.read_until("> ");
        talk.type_text("/help\n/quit\n");
        let (code, screen) = talk.wait_for_raw_exit();
        assert_eq!(code, 0, "{screen}");
        assert!(screen.contains("/stop   stop the turn"), "{screen}");
        screen
    };
    for painted in ["\x1b[2m  /stop   stop", "\x1b[36massistant\x1b[0m", "\x1b[1m>\x1b[0m "] {
        assert!(screen("xterm", "").contains(painted), "{painted:?}");
    }
    for (term, no_color) in [("xterm", "1"), ("dumb", ""), ("", "")] {
        let screen = screen(term, no_color);
        assert!(!screen.contains('\x1b'), "{term:?}, {no_color:?}: {screen}");
    }
}
