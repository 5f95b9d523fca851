//! A person at a terminal: a real one, whose keys are pressed by the test.

use trackway_testkit::ModelServer;

use super::{
    chat, runs,
    scripted::{endless, with_model},
};
use crate::support::{Folder, Terminal, Trackway};

/// In a terminal that knows colours, and whose owner has not said anything about them.
fn at(command: Trackway) -> Terminal {
    command.env("TERM", "xterm").env("NO_COLOR", "").terminal()
}

/// Nothing that was shown steers the terminal beyond what is dimmed, and whatever is dimmed ends with its
/// line.
fn assert_harmless(screen: &str) {
    for line in screen.split_terminator('\n') {
        let line = line.strip_suffix('\r').unwrap_or(line);
        let rest = line.replace("\x1b[2m", "").replace("\x1b[0m", "");
        assert!(!rest.contains(char::is_control), "{line:?} in {screen}");
        let (on, off) = (line.matches("\x1b[2m").count(), line.matches("\x1b[0m").count());
        assert_eq!(on, off, "{line:?} in {screen}");
    }
}

/// Proves D8, L6, X4: a prompt, a turn, the form of a question field by field, and Ctrl-D.
#[test]
fn a_question_is_a_form_and_ctrl_d_ends() {
    let folder = Folder::new();
    let mut talk = at(chat(&folder, &[]));
    talk.until("assistant, offline-rules/1: rules, not a language model\r\n");
    talk.until("/help says what can be typed; /quit ends.\r\n> ");
    talk.types("/run invest walletAddress=0x1\n");
    talk.until("→ dispatch_workflow_invest");
    // The form comes once both have spoken: the turn, and the workflow that asks.
    let shown = talk.until("How much to invest.: ");
    assert!(shown.contains("invest ? Please provide your wallet address and amount to invest\r\n"));
    talk.types("nothing\n");
    let again = talk.until("  amount (number, more than 0) How much to invest.: ");
    assert!(again.contains("number"), "{again}");
    talk.types("5\n");
    talk.until("  walletAddress");
    talk.until(": ");
    talk.types("0x1\n");
    talk.until("invest ? Please sign the investment of 5");
    talk.until("  signature");
    talk.until(": ");
    talk.types("me\n");
    talk.until("invest | completed\r\n> ");
    talk.types("\x04");
    let (code, screen) = talk.ended();
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains("> \r\nhint: trackway chat assistant --session ses_"), "{screen}");
    assert_harmless(&screen);
    let states: Vec<_> = runs(&folder).iter().map(|run| run["state"].clone()).collect();
    assert_eq!(states, ["completed"; 2]);
}

/// Proves D8, L12: text is on the screen before the answer is whole; Ctrl-C stops the turn first, and
/// leaves at the second time.
#[tokio::test]
async fn ctrl_c_stops_first_and_then_leaves() {
    let (folder, model) = (Folder::new(), ModelServer::start().await);
    model.queue(endless("Once upon a time").0);
    let mut talk = at(with_model(&folder, &model, &[]));
    talk.until("> ");
    talk.types("tell me a story\n");
    talk.until("Once upon a time");
    talk.types("\x03");
    let shown = talk.until("(stopped)");
    assert!(shown.starts_with("^C\r\n"), "{shown:?}");
    model.dropped().await;
    talk.until("> ");
    talk.types("\x03");
    let (code, screen) = talk.ended();
    assert_eq!(code, 130, "{screen}");
    assert!(screen.contains("> ^C\r\nhint: trackway chat"), "{screen}");
    assert_harmless(&screen);
    assert_eq!(runs(&folder)[0]["state"], "canceled");
}

/// Proves L12: `/stop` is obeyed while the model speaks, and the conversation goes on.
#[tokio::test]
async fn a_turn_is_stopped_by_its_name() {
    let (folder, model) = (Folder::new(), ModelServer::start().await);
    model.queue(endless("Once upon a time").0);
    model.queue(ModelServer::openai().says("Fine."));
    let mut talk = at(with_model(&folder, &model, &[]));
    talk.until("> ");
    talk.types("tell me a story\n");
    talk.until("Once upon a time");
    talk.types("/stop\n");
    assert_eq!(talk.until("(stopped)"), "/stop\r\n\x1b[2m(stopped)", "the line had ended");
    model.dropped().await;
    talk.until("> ");
    talk.types("thanks\n");
    talk.until("Fine.");
    talk.until("> ");
    talk.types("\x04");
    let (code, screen) = talk.ended();
    assert_eq!(code, 0, "{screen}");
    assert_harmless(&screen);
}

/// Proves L17: a question that is left open is named with the way to answer it, on a line of its own.
#[test]
fn an_open_question_is_left_by_ctrl_d() {
    let folder = Folder::new();
    let mut talk = at(chat(&folder, &[]));
    talk.until("> ");
    talk.types("/run approve subject=tea\n");
    talk.until("  approved (y/n)");
    talk.until(": ");
    talk.types("\x04");
    let (code, screen) = talk.ended();
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains(": \r\nrun_"), "{screen}");
    assert!(
        screen.contains(" waits for an answer.\r\nhint: trackway runs resume run_"),
        "{screen}"
    );
    assert_harmless(&screen);
}

/// Proves X5: what a model says cannot steer the terminal.
#[tokio::test]
async fn a_model_cannot_steer_the_terminal() {
    let (folder, model) = (Folder::new(), ModelServer::start().await);
    model.queue(
        ModelServer::openai().says("Red \x1b[31malert\x07\x1b]0;title\x07 \u{9b}2J.\r\nEnd."),
    );
    let mut talk = at(with_model(&folder, &model, &[]));
    talk.until("> ");
    talk.types("go\n");
    talk.until("End.");
    talk.until("> ");
    talk.types("/quit\n");
    let (code, screen) = talk.ended();
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains("Red \u{fffd}[31malert\u{fffd}"), "{screen}");
    assert_harmless(&screen);
}

/// Proves X5: whoever wants no colours, and a terminal that knows none, gets none.
#[test]
fn colours_are_shown_where_they_are_wanted() {
    let screen = |term: &str, no_color: &str| {
        let folder = Folder::new();
        let talk = chat(&folder, &[]).env("TERM", term).env("NO_COLOR", no_color);
        let mut talk = talk.terminal();
        talk.until("> ");
        talk.types("/help\n/quit\n");
        let (code, screen) = talk.ended();
        assert_eq!(code, 0, "{screen}");
        assert!(screen.contains("/stop   stop the turn"), "{screen}");
        screen
    };
    assert!(screen("xterm", "").contains("\x1b[2m"));
    for (term, no_color) in [("xterm", "1"), ("dumb", ""), ("", "")] {
        let screen = screen(term, no_color);
        assert!(!screen.contains('\x1b'), "{term:?}, {no_color:?}: {screen}");
    }
}
