//! The model's text: streamed as it arrives, withdrawn if it broke off, and ended by a cancel.

use serde_json::json;
use trackway_domain::{Event, StateName};
use trackway_testkit::{ScriptLatch, ScriptedChatReply, ScriptedReply, local_run_address};

use super::harness::{
    AgentHarness, child_runs, failure_reason, find_artifact, gated_workflow, load_log, response_text,
    run_turn, send_text, uppercase_tool, wait_for_event, wait_until_ended, wait_until_idle,
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
    let desk = AgentHarness::new();
    let (chat, latch) = (ScriptedChatReply::default().with_text("Hello "), ScriptLatch::new());
    let rest = ScriptedChatReply::default().with_text("there.");
    let more = json!({ "choices": [{ "index": 0, "delta": { "content": "there." } }] });
    desk.server.queue_reply(
        rest.append_finish(chat.to_unfinished_reply().wait_for_latch(&latch).send_data_event(more)),
    );
    desk.run_process(async |process| {
        let run = send_text(&process, "m1", "Hi.").await;
        wait_for_event(&process, run, |event| is_text(event, "Hello ")).await;
        assert_eq!(
            process.current_run_view(&local_run_address(run)).await.unwrap().state,
            StateName::Working
        );
        latch.release();
        let view = wait_until_ended(&process, run).await;
        assert_eq!(response_text(&view), "Hello there.");
        let log = load_log(&process, run).await;
        // Closed with the whole text: some clients keep only the last piece.
        let expected =
            [piece(false, false, "Hello "), piece(true, false, "there."), piece(false, true, "Hello there.")];
        assert_eq!(pieces(&log), expected);
        let usage = json!({ "input_tokens": 10, "output_tokens": 5 });
        assert_eq!(view.output["usage"]["input_tokens"], usage["input_tokens"]);
        assert_eq!(view.output["usage"]["output_tokens"], usage["output_tokens"]);
    });
}

/// Proves D8: texts of one turn are in one artifact, and an attempt that broke off leaves nothing.
#[test]
fn the_text_of_a_broken_attempt_is_replaced() {
    let desk = AgentHarness::new().with_tool(uppercase_tool());
    let call = [("c1", "shout", r#"{"text":"x"}"#)];
    desk.server.queue_reply(ScriptedChatReply::default().with_text("First.").with_tool_calls(&call));
    desk.server
        .queue_reply(ScriptedChatReply::default().with_text("Wrong ").to_unfinished_reply().cut_connection());
    desk.queue_text("Right.");
    desk.run_process(async |process| {
        let view = run_turn(&process, "m1", "Hi.").await;
        assert_eq!(response_text(&view), "First.\n\nRight.");
        assert_eq!(view.output["text"], "Right.");
        let log = load_log(&process, view.submission.run).await;
        let expected = [
            piece(false, false, "First."),
            piece(true, false, "\n\nWrong "),
            piece(false, false, "First.\n\nRight."),
            piece(false, true, "First.\n\nRight."),
        ];
        assert_eq!(pieces(&log), expected);
    });
    assert_eq!(desk.server.requests().len(), 3);
}

/// A turn whose model gives no answer fails with the reason, after three attempts, and publishes
/// nothing of the failed attempts.
#[test]
fn three_attempts_are_all() {
    let desk = AgentHarness::new();
    for _ in 0..4 {
        desk.server.queue_reply(
            ScriptedChatReply::default().with_text("Half ").to_unfinished_reply().cut_connection(),
        );
    }
    desk.run_process(async |process| {
        let view = run_turn(&process, "m1", "Hi.").await;
        assert_eq!(view.state, StateName::Failed);
        let why = failure_reason(&view);
        assert!(why.contains("openai/scripted-1") && why.contains("broke off"), "{why}");
        assert_eq!(response_text(&view), "");
    });
    assert_eq!(desk.server.unused_replies(), 1);
}

/// A refusal is not retried, and neither is a request to a server that asks for a long wait.
#[test]
fn some_failures_are_final() {
    for reply in [
        ScriptedReply::error_body(401, "no such key"),
        ScriptedReply::error_body(429, "no such luck").with_header("retry-after", "60"),
    ] {
        let desk = AgentHarness::new();
        desk.server.queue_reply(reply);
        desk.run_process(async |process| {
            let view = run_turn(&process, "m1", "Hi.").await;
            assert_eq!(view.state, StateName::Failed);
            assert!(failure_reason(&view).contains("no such"), "{}", failure_reason(&view));
            assert_eq!(view.artifacts.len(), 0);
        });
        assert_eq!(desk.server.requests().len(), 1);
    }
}

/// A busy server that says when to retry is called again.
#[test]
fn a_busy_server_is_asked_again() {
    let desk = AgentHarness::new();
    desk.server.queue_reply(ScriptedReply::error_body(429, "busy").with_header("retry-after", "1"));
    desk.queue_text("Here I am.");
    desk.run_process(async |process| {
        assert_eq!(response_text(&run_turn(&process, "m1", "Hi.").await), "Here I am.");
    });
    assert_eq!(desk.server.requests().len(), 2);
}

/// Proves L17: a cancelled turn drops its model call and cancels its children.
#[test]
fn a_cancel_drops_the_connection_and_cancels_children() {
    let (_release, released) = tokio::sync::watch::channel(String::new());
    let desk = AgentHarness::new().with_workflow(gated_workflow(released, Some("begun"), "never"));
    desk.queue_tool_calls(&[("c1", "dispatch_workflow_slow", json!({ "text": "x" }))]);
    desk.server.queue_reply(
        ScriptedChatReply::default().with_text("Well, ").to_unfinished_reply().keep_open_silently(),
    );
    desk.run_process(async |process| {
        let run = send_text(&process, "m1", "Hi.").await;
        wait_for_event(&process, run, |event| is_text(event, "Well, ")).await;
        let view = process.cancel_run(&local_run_address(run)).await.unwrap();
        assert_eq!(view.state, StateName::Canceled);
        desk.server.wait_for_dropped_connection().await;
        let child = child_runs(&load_log(&process, run).await)[0];
        assert_eq!(wait_until_idle(&process, child).await.state, StateName::Canceled);
    });
    assert_eq!(desk.server.dropped_connections(), 1);
}

/// Issue 11, A13: the model's reasoning is a separate artifact, streamed as it arrives and closed as a
/// whole.
#[test]
fn reasoning_is_an_artifact() {
    let desk = AgentHarness::new();
    let thought = |text: &str| json!({ "choices": [{ "index": 0, "delta": { "reasoning_content": text } }] });
    let (reply, latch) = (ScriptedReply::event_stream(), ScriptLatch::new());
    let reply =
        reply.send_data_event(thought("Let me ")).wait_for_latch(&latch).send_data_event(thought("see."));
    desk.server.queue_reply(ScriptedChatReply::default().with_text("Tea.").append_finish(
        reply.send_data_event(json!({ "choices": [{ "index": 0, "delta": { "content": "Tea." } }] })),
    ));
    desk.run_process(async |process| {
        let run = send_text(&process, "m1", "Tea or coffee?").await;
        let is_thought = |event: &Event| {
            matches!(event, Event::Artifact { chunk, .. }
                if chunk.artifact.id.as_str() == "reasoning")
        };
        wait_for_event(&process, run, is_thought).await;
        latch.release();
        let view = wait_until_ended(&process, run).await;
        assert_eq!(response_text(&view), "Tea.");
        let thoughts = find_artifact(&view, "reasoning");
        assert_eq!(thoughts.parts[0].as_text(), Some("Let me see."));
        assert_eq!(thoughts.metadata["model"], "openai/scripted-1");
        let log = load_log(&process, run).await;
        let last = log.iter().rfind(|event| is_thought(event)).unwrap();
        let Event::Artifact { chunk, .. } = last else { unreachable!() };
        assert!(chunk.last && !chunk.append, "{chunk:?}");
    });
}

/// Issue 11, A13: a model that is silent for as long as its agent allows is called again.
#[test]
fn a_silent_model_is_asked_again_after_its_limit() {
    let mut desk = AgentHarness::new();
    desk.spec.model_timeout = Some(1);
    desk.server.queue_reply(
        ScriptedChatReply::default().with_text("Well, ").to_unfinished_reply().keep_open_silently(),
    );
    desk.queue_text("Here I am.");
    desk.run_process(async |process| {
        assert_eq!(response_text(&run_turn(&process, "m1", "Hi.").await), "Here I am.");
    });
    assert_eq!(desk.server.requests().len(), 2);
}
