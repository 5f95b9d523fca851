//! The subject, as a client of the engine sees it.

use trackway::{MessageId, MessageRole};
use trackway_domain::{Caller, Event, RunId, StateName};
use trackway_engine::input_from_parts;
use trackway_runtime::{DeliverMessageRequest, ProgramRegistry, SubmitRunRequest};
use trackway_testkit::{TestProcess, TestWorld, load_full_log, local_run_address, summarize_updates};

use super::*;

const PATIENCE: Duration = Duration::from_secs(2);

fn registry() -> ProgramRegistry {
    trackway::Server::new().workflow(TckWorkflow { stream_timeout: PATIENCE }).workflow_registry().unwrap()
}

fn message(id: &str, part: Part) -> Message {
    Message::new(MessageId::new(id).unwrap(), MessageRole::User, vec![part])
}

async fn send(process: &TestProcess, message: Message) -> RunId {
    let program = process.registry().current_program("tck").unwrap();
    let schema = &program.info().input_schema;
    let input = input_from_parts(schema, &message.parts).unwrap();
    let submit = SubmitRunRequest {
        message: Some(message),
        ..SubmitRunRequest::new("tck", input, Caller::local_without_auth())
    };
    process.submit_run(submit).await.unwrap().view.submission.run
}

async fn reply(process: &TestProcess, run: RunId, id: &str, text: &str) {
    let message = message(id, Part::text(text));
    let deliver = DeliverMessageRequest {
        to: local_run_address(run),
        session: None,
        message,
        question: None,
        hook: None,
    };
    process.deliver_message(deliver).await.unwrap();
    settled(process, run).await;
}

/// The run once it waits or has ended.
async fn settled(process: &TestProcess, run: RunId) {
    let view = process.current_run_view(&local_run_address(run)).await.unwrap();
    process.wait_until_run_idle(view).await.unwrap();
}

/// The visible updates of the run so far.
async fn summarize_run(process: &TestProcess, run: RunId) -> Vec<String> {
    summarize_updates(&load_full_log(&*process.journal, run).await.unwrap())
}

#[test]
fn each_act_ends_as_the_suites_expect() {
    for (id, text, end) in [
        ("tck-complete-task-1", "hi", &["working: Hello from TCK", "completed."][..]),
        ("tck-reject-task-1", "hi", &["rejected: rejected."]),
        ("tck-artifact-text-1", "hi", &["working: Working", "+text", "completed."]),
        ("tck-artifact-file-1", "hi", &["working: Working", "+file", "completed."]),
        ("tck-artifact-data-1", "hi", &["working: Working", "+data", "completed."]),
        ("tck-stream-artifact-chunked-1", "hi", &["+chunks", "+chunks", "completed."]),
        ("0198", "tck-task-failure now", &["failed: The script failed."]),
    ] {
        TestWorld::with_memory_store().run_to_completion(registry(), async |process| {
            let run = send(&process, message(id, Part::text(text))).await;
            settled(&process, run).await;
            let told = summarize_run(&process, run).await;
            let plain: Vec<&str> = told.iter().map(|line| line.trim_end_matches('…')).collect();
            assert!(plain.ends_with(end), "{id} {text}: {plain:?}");
        });
    }
}

/// A message with one file of an unknown type is accepted like any other.
#[test]
fn any_part_is_taken() {
    TestWorld::with_memory_store().run_to_completion(registry(), async |process| {
        let source = FileSource::Base64("dGNr".to_owned());
        let mime_type = Some("application/x-unsupported-tck-type".to_owned());
        let part = Part::file(File { name: None, mime_type, source });
        let run = send(&process, message("tck-send-003", part)).await;
        settled(&process, run).await;
        assert_eq!(summarize_run(&process, run).await.last().unwrap(), "completed.");
    });
}

/// The id of each reply selects the next action.
#[test]
fn reply_asking_for_input_is_asked_again() {
    TestWorld::with_memory_store().run_to_completion(registry(), async |process| {
        let run = send(&process, message("tck-input-required-1", Part::text("hi"))).await;
        settled(&process, run).await;
        reply(&process, run, "tck-input-required-2", "TCK history message 1").await;
        reply(&process, run, "tck-infer-ctx", "on you go").await;
        let told = summarize_run(&process, run).await;
        let asked = told.iter().filter(|line| line.starts_with("input-required")).count();
        assert_eq!((asked, told.last().unwrap().as_str()), (2, "completed."));
    });
}

/// A conversation continues until the message `done`.
#[test]
fn a_conversation_ends_with_done() {
    TestWorld::with_memory_store().run_to_completion(registry(), async |process| {
        let run = send(&process, message("0198", Part::text("tck-multi-turn start"))).await;
        settled(&process, run).await;
        reply(&process, run, "0199", "here is more input").await;
        reply(&process, run, "019a", "done").await;
        let told = summarize_run(&process, run).await;
        let asked = told.iter().filter(|line| line.starts_with("input-required")).count();
        assert_eq!((asked, told.last().unwrap().as_str()), (2, "completed."));
    });
}

/// A task of the suite for 0.3 is first working, and then accepts messages without end.
#[test]
fn unknown_action_works_then_keeps_asking() {
    TestWorld::with_memory_store().run_to_completion(registry(), async |process| {
        let run = send(&process, message("test-message-id-1", Part::text("hi"))).await;
        let mut watch = process.watch_run(&local_run_address(run), 0).await.unwrap();
        while !matches!(watch.next_event().await.unwrap().unwrap().event, Event::Slept { .. }) {}
        assert_eq!(
            process.current_run_view(&local_run_address(run)).await.unwrap().state,
            StateName::Working
        );
        process.clock.advance(PATIENCE / 2);
        settled(&process, run).await;
        for id in ["test-followup-1", "test-followup-2", "test-followup-3"] {
            reply(&process, run, id, "more").await;
            let state = process.current_run_view(&local_run_address(run)).await.unwrap().state;
            assert_eq!(state, StateName::InputRequired, "{id}");
        }
    });
}

/// Runs that are to be canceled, resubscribed to or polled last as long as the suites need.
#[test]
fn lasting_acts_last_as_long_as_the_suites_need() {
    for (id, text, span) in [
        ("test-resubscribe-message-id-1", "hi", PATIENCE * 2),
        ("0198", "tck-long-running start", WORK),
        ("0198", "tck-cancel start", HOLD),
    ] {
        TestWorld::with_memory_store().run_to_completion(registry(), async |process| {
            let run = send(&process, message(id, Part::text(text))).await;
            let mut watch = process.watch_run(&local_run_address(run), 0).await.unwrap();
            let started = process.current_run_view(&local_run_address(run)).await.unwrap().created_at;
            let due = loop {
                match watch.next_event().await.unwrap().unwrap().event {
                    Event::Slept { due, .. } => break due,
                    _ => continue,
                }
            };
            assert!(due >= started + span, "{id} {text}");
            process.clock.advance(span);
            while watch.next_event().await.unwrap().is_some() {}
            assert_eq!(summarize_run(&process, run).await.last().unwrap(), "completed.");
        });
    }
}

/// One action needs no run.
#[test]
fn one_act_is_answered_without_a_run() {
    let tck = TckWorkflow { stream_timeout: PATIENCE };
    let direct = Some(vec![Part::text("Direct message response")]);
    assert_eq!(tck.answer_without_run(&message("tck-message-response-1", Part::text("hi"))), direct);
    assert_eq!(tck.answer_without_run(&message("0198", Part::text("tck-message-response hi"))), direct);
    assert_eq!(tck.answer_without_run(&message("tck-complete-task-1", Part::text("hi"))), None);
}
