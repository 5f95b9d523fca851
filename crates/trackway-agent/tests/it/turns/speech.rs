//! The model's text: streamed as it arrives, withdrawn if it broke off, and ended by a cancel.

use serde_json::json;
use trackway_domain::{Event, StateName};
use trackway_testkit::{ChatReply, Latch, Reply, at};

use super::kit::{
    Desk, artifact, children, ended, log, reason, rested, say, shout, slow, spoken, turn, until,
};

fn is_text(event: &Event, text: &str) -> bool {
    matches!(event, Event::Artifact { chunk, .. }
        if chunk.artifact.id.as_str() == "text-response"
            && chunk.artifact.parts[0].as_text() == Some(text))
}

/// The pieces of the text: whether each was appended, whether it was the last, and its content.
fn pieces(log: &[Event]) -> Vec<(bool, bool, String)> {
    let one = |event: &Event| match event {
        Event::Artifact { chunk, .. } if chunk.artifact.id.as_str() == "text-response" => {
            let text = chunk.artifact.parts[0].as_text().unwrap().to_owned();
            Some((chunk.append, chunk.last, text))
        }
        _ => None,
    };
    log.iter().filter_map(one).collect()
}

fn piece(append: bool, last: bool, text: &str) -> (bool, bool, String) {
    (append, last, text.to_owned())
}

/// Proves D8: the server withholds the rest of the answer until the test has received its start.
#[test]
fn text_is_seen_before_the_answer_ends() {
    let desk = Desk::new();
    let (chat, latch) = (ChatReply::default().says("Hello "), Latch::new());
    let rest = ChatReply::default().says("there.");
    let more = json!({ "choices": [{ "index": 0, "delta": { "content": "there." } }] });
    desk.server.queue(rest.finishing(chat.unfinished().wait(&latch).data(more)));
    desk.run(async |process| {
        let run = say(&process, "m1", "Hi.").await;
        until(&process, run, |event| is_text(event, "Hello ")).await;
        assert_eq!(process.view(&at(run)).await.unwrap().state, StateName::Working);
        latch.release();
        let view = ended(&process, run).await;
        assert_eq!(spoken(&view), "Hello there.");
        let log = log(&process, run).await;
        // Closed with the whole text: some clients keep only the last piece.
        let expected = [
            piece(false, false, "Hello "),
            piece(true, false, "there."),
            piece(false, true, "Hello there."),
        ];
        assert_eq!(pieces(&log), expected);
        let usage = json!({ "input_tokens": 10, "output_tokens": 5 });
        assert_eq!(view.output["usage"]["input_tokens"], usage["input_tokens"]);
        assert_eq!(view.output["usage"]["output_tokens"], usage["output_tokens"]);
    });
}

/// Proves D8: texts of one turn are in one artifact, and an attempt that broke off leaves nothing.
#[test]
fn the_text_of_a_broken_attempt_is_replaced() {
    let desk = Desk::new().tool(shout());
    let call = [("c1", "shout", r#"{"text":"x"}"#)];
    desk.server.queue(ChatReply::default().says("First.").calls(&call));
    desk.server.queue(ChatReply::default().says("Wrong ").unfinished().cut());
    desk.says("Right.");
    desk.run(async |process| {
        let view = turn(&process, "m1", "Hi.").await;
        assert_eq!(spoken(&view), "First.\n\nRight.");
        assert_eq!(view.output["text"], "Right.");
        let log = log(&process, view.submission.run).await;
        let expected = [
            piece(false, false, "First."),
            piece(true, false, "\n\nWrong "),
            piece(false, false, "First.\n\nRight."),
            piece(false, true, "First.\n\nRight."),
        ];
        assert_eq!(pieces(&log), expected);
    });
    assert_eq!(desk.server.asked().len(), 3);
}

/// A turn whose model gives no answer fails with the reason, after three attempts, and publishes
/// nothing of the failed attempts.
#[test]
fn three_attempts_are_all() {
    let desk = Desk::new();
    for _ in 0..4 {
        desk.server.queue(ChatReply::default().says("Half ").unfinished().cut());
    }
    desk.run(async |process| {
        let view = turn(&process, "m1", "Hi.").await;
        assert_eq!(view.state, StateName::Failed);
        let why = reason(&view);
        assert!(why.contains("openai/scripted-1") && why.contains("broke off"), "{why}");
        assert_eq!(spoken(&view), "");
    });
    assert_eq!(desk.server.left(), 1);
}

/// A refusal is not retried, and neither is a request to a server that asks for a long wait.
#[test]
fn some_failures_are_final() {
    for reply in [
        Reply::refusal(401, "no such key"),
        Reply::refusal(429, "no such luck").header("retry-after", "60"),
    ] {
        let desk = Desk::new();
        desk.server.queue(reply);
        desk.run(async |process| {
            let view = turn(&process, "m1", "Hi.").await;
            assert_eq!(view.state, StateName::Failed);
            assert!(reason(&view).contains("no such"), "{}", reason(&view));
            assert_eq!(view.artifacts.len(), 0);
        });
        assert_eq!(desk.server.asked().len(), 1);
    }
}

/// A busy server that says when to retry is called again.
#[test]
fn a_busy_server_is_asked_again() {
    let desk = Desk::new();
    desk.server.queue(Reply::refusal(429, "busy").header("retry-after", "1"));
    desk.says("Here I am.");
    desk.run(async |process| {
        assert_eq!(spoken(&turn(&process, "m1", "Hi.").await), "Here I am.");
    });
    assert_eq!(desk.server.asked().len(), 2);
}

/// Proves L17: a cancelled turn drops its model call and cancels its children.
#[test]
fn a_cancel_drops_the_connection_and_cancels_children() {
    let (_release, released) = tokio::sync::watch::channel(String::new());
    let desk = Desk::new().workflow(slow(released, Some("begun"), "never"));
    desk.calls(&[("c1", "dispatch_workflow_slow", json!({ "text": "x" }))]);
    desk.server.queue(ChatReply::default().says("Well, ").unfinished().stay());
    desk.run(async |process| {
        let run = say(&process, "m1", "Hi.").await;
        until(&process, run, |event| is_text(event, "Well, ")).await;
        let view = process.cancel(&at(run)).await.unwrap();
        assert_eq!(view.state, StateName::Canceled);
        desk.server.dropped().await;
        let child = children(&log(&process, run).await)[0];
        assert_eq!(rested(&process, child).await.state, StateName::Canceled);
    });
    assert_eq!(desk.server.drops(), 1);
}

/// Issue 11, A13: the model's reasoning is a separate artifact, streamed as it arrives and closed as a
/// whole.
#[test]
fn reasoning_is_an_artifact() {
    let desk = Desk::new();
    let thought =
        |text: &str| json!({ "choices": [{ "index": 0, "delta": { "reasoning_content": text } }] });
    let (reply, latch) = (Reply::stream(), Latch::new());
    let reply = reply.data(thought("Let me ")).wait(&latch).data(thought("see."));
    desk.server.queue(ChatReply::default().says("Tea.").finishing(
        reply.data(json!({ "choices": [{ "index": 0, "delta": { "content": "Tea." } }] })),
    ));
    desk.run(async |process| {
        let run = say(&process, "m1", "Tea or coffee?").await;
        let is_thought = |event: &Event| {
            matches!(event, Event::Artifact { chunk, .. }
                if chunk.artifact.id.as_str() == "reasoning")
        };
        until(&process, run, is_thought).await;
        latch.release();
        let view = ended(&process, run).await;
        assert_eq!(spoken(&view), "Tea.");
        let thoughts = artifact(&view, "reasoning");
        assert_eq!(thoughts.parts[0].as_text(), Some("Let me see."));
        assert_eq!(thoughts.metadata["model"], "openai/scripted-1");
        let log = log(&process, run).await;
        let last = log.iter().rfind(|event| is_thought(event)).unwrap();
        let Event::Artifact { chunk, .. } = last else { unreachable!() };
        assert!(chunk.last && !chunk.append, "{chunk:?}");
    });
}

/// Issue 11, A13: a model that is silent for as long as its agent allows is called again.
#[test]
fn a_silent_model_is_asked_again_after_its_limit() {
    let mut desk = Desk::new();
    desk.spec.model_timeout = Some(1);
    desk.server.queue(ChatReply::default().says("Well, ").unfinished().stay());
    desk.says("Here I am.");
    desk.run(async |process| {
        assert_eq!(spoken(&turn(&process, "m1", "Hi.").await), "Here I am.");
    });
    assert_eq!(desk.server.asked().len(), 2);
}
