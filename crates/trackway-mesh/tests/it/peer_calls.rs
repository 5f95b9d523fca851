//! Calls of peers as recorded steps, against a scripted peer.

mod call_harness;

use std::time::Duration;

use serde_json::{Value, json};
use trackway_domain::{Event, StateName};
use trackway_testkit::answer_delivery;

use self::call_harness::{CallHarness, call_result, load_log, start_call, wait_until_idle};
use super::fake_peer::{FakePeer, Step};

fn name_schema() -> Value {
    json!({ "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] })
}

fn onboarding() -> FakePeer {
    FakePeer::workflow("onboarding", &name_schema())
}

fn states_of(peer: &FakePeer) -> Vec<String> {
    peer.tasks().into_iter().map(|task| task.state).collect()
}

fn texts_of_status(log: &[Event]) -> Vec<String> {
    let text = |event: &Event| match event {
        Event::Status { message, .. } => message.parts.first()?.as_text().map(str::to_owned),
        _ => None,
    };
    log.iter().filter_map(text).collect()
}

/// Proves I6 and I7: the parameters are saved as an artifact of the session, only its reference travels, and the
/// result has the remote's state, words and artifacts; its progress is in our stream.
#[test]
fn parameters_travel_as_an_artifact() {
    let peer = onboarding();
    peer.queue(&[
        Step::Working("On it."),
        Step::Artifact("onboarded.json", json!({ "count": 1 })),
        Step::Complete("Done."),
    ]);
    let harness = CallHarness::new(&peer);
    let (result, log) = harness.run_call(json!({ "name": "John Doe" }));
    assert_eq!(
        result,
        json!({
            "status": "completed", "message": "Done.", "ignored": [], "errors": [],
            "artifacts": [{ "name": "onboarded.json", "mediaType": "application/json", "content": { "count": 1 } }],
        })
    );
    assert_eq!(texts_of_status(&log), ["On it."]);
    let sent = &peer.requests_of("message/stream")[0];
    let message = &sent.params["message"];
    assert_eq!(message["metadata"]["sessionBehavior"], "RUN_BASED");
    let reference = &message["metadata"]["invoked_with_artifacts"][0];
    let filename = reference["filename"].as_str().unwrap();
    assert!(filename.starts_with("workflow_input_") && filename.ends_with(".json"), "{filename}");
    assert_eq!(reference["version"], 0);
    assert_eq!(message["parts"].as_array().unwrap().len(), 1);
    assert_eq!(message["parts"][0]["file"]["name"], filename);
    assert!(message["parts"][0]["file"]["uri"].as_str().unwrap().contains("/api/artifacts/signed/art.v1."));
    assert!(sent.call_token.is_some(), "the call is signed");
    assert_eq!(harness.read_artifact(filename), json!({ "name": "John Doe" }).to_string());
}

/// Proves I5: an artifact must exist, it wins over parameters, and those are named.
#[test]
fn an_artifact_is_sent_by_reference() {
    let peer = onboarding();
    peer.queue(&[Step::Complete("Done.")]);
    let harness = CallHarness::new(&peer);
    harness.save_artifact("data.csv", "name\nJohn\n");
    let (result, _) = harness.run_call(json!({ "input_artifact": "data.csv", "name": 7 }));
    assert_eq!((&result["status"], &result["ignored"]), (&json!("completed"), &json!(["name"])));
    let message = peer.requests_of("message/stream")[0].params["message"].clone();
    assert_eq!(
        message["metadata"]["invoked_with_artifacts"],
        json!([{ "filename": "data.csv", "version": 0 }])
    );
    assert_eq!(message["parts"][0]["file"]["mimeType"], "text/csv");

    let (result, _) = harness.run_call(json!({ "input_artifact": "missing.csv" }));
    assert_eq!(result["status"], "invalid_input");
    assert_eq!(result["errors"][0]["path"], "/input_artifact");
    assert_eq!(result["errors"][0]["code"], "unknown-artifact");
    assert_eq!(peer.tasks().len(), 1, "nothing was sent");
}

/// Proves I6: nothing is sent when a parameter is wrong, and the result names it.
#[test]
fn wrong_parameters_reach_no_peer() {
    let peer = onboarding();
    let harness = CallHarness::new(&peer);
    for wrong in [json!({}), json!({ "name": null }), json!({ "name": 2.0 }), json!("x"), json!([1])] {
        let (result, _) = harness.run_call(wrong.clone());
        assert_eq!(result["status"], "invalid_input", "{wrong}");
        assert!(!result["errors"].as_array().unwrap().is_empty(), "{wrong}");
    }
    assert!(peer.requests_of("message/stream").is_empty());
}

/// What a peer may answer: each is handled at once.
#[test]
fn answers_of_every_kind() {
    let table: [(&[Step], &str, &str); 6] = [
        (&[Step::Fail("No room.")], "failed", "No room."),
        (&[Step::Message("Just words.")], "completed", "Just words."),
        (&[Step::OtherTask, Step::Complete("Mine.")], "completed", "Mine."),
        (&[Step::Complete("Once."), Step::Complete("Twice.")], "completed", "Once."),
        (&[Step::Working("a"), Step::Working("a"), Step::Complete("")], "completed", ""),
        (&[Step::Complete("Done."), Step::Hang], "completed", "Done."),
    ];
    for (steps, status, message) in table {
        let peer = FakePeer::agent("helper");
        peer.queue(steps);
        let (result, _) = CallHarness::new(&peer).run_call(json!({ "message": "Hi" }));
        assert_eq!((&result["status"], &result["message"]), (&json!(status), &json!(message)), "{steps:?}");
    }
    let peer = FakePeer::agent("helper");
    let refusal = json!({ "code": -32602, "message": "No.", "data": { "errors": [
        { "path": "/name", "code": "required", "message": "it is required", "expected": null }] } });
    peer.refuse_messages(refusal);
    let (result, _) = CallHarness::new(&peer).run_call(json!({ "message": "Hi" }));
    assert_eq!((&result["status"], &result["errors"][0]["path"]), (&json!("invalid_input"), &json!("/name")));
}

/// An agent without streams is asked for its task.
#[test]
fn an_agent_without_streams_is_asked_for_its_task() {
    let peer = FakePeer::agent_without_streams("helper");
    peer.queue(&[Step::Working("On it.")]);
    peer.queue(&[Step::Complete("Done.")]);
    let (result, log) = CallHarness::new(&peer).run_call(json!({ "message": "Hi" }));
    assert_eq!(result["message"], "Done.");
    assert_eq!(texts_of_status(&log), ["On it."]);
}

/// A connection that breaks is opened again, and the message is not sent twice.
#[test]
fn a_broken_stream_continues() {
    let peer = onboarding();
    // It closes the stream too early, then breaks the next one.
    peer.queue(&[Step::Working("On it.")]);
    peer.queue(&[Step::Cut]);
    peer.queue(&[Step::Complete("Done.")]);
    let (result, _) = CallHarness::new(&peer).run_call(json!({ "name": "John" }));
    assert_eq!(result["message"], "Done.");
    assert_eq!(peer.requests_of("message/stream").len(), 1);
    assert_eq!(peer.tasks().len(), 1);

    // Before the task is known, the message may have arrived: it is repeated under its id.
    let peer = onboarding();
    peer.queue(&[Step::Cut]);
    peer.queue(&[Step::Complete("Done.")]);
    let (result, _) = CallHarness::new(&peer).run_call(json!({ "name": "John" }));
    assert_eq!(result["message"], "Done.");
    assert_eq!(peer.tasks().len(), 1);
}

/// A peer that is gone before it has a task: the model learns it at once.
#[test]
fn a_peer_that_is_gone_is_reported_at_once() {
    let peer = onboarding();
    let harness = CallHarness::new(&peer);
    let result = harness.run_process(async move |process| {
        peer.stop();
        let run = start_call(&process, "onboarding", json!({ "name": "John" })).await;
        call_result(&wait_until_idle(&process, run).await)
    });
    assert_eq!(result["status"], "error");
    assert!(result["message"].as_str().unwrap().contains("onboarding"), "{result}");
}

/// A peer that is gone while it works is tried for a while, and then the model learns it.
#[test]
fn a_peer_that_does_not_come_back_is_reported() {
    let peer = onboarding();
    peer.queue(&[Step::Working("On it."), Step::Hang]);
    let harness = CallHarness::with_reconnect(&peer, Duration::from_millis(300));
    let result = harness.run_process(async move |process| {
        let run = start_call(&process, "onboarding", json!({ "name": "John" })).await;
        call_harness::wait_for_status(&process, run, "On it.").await;
        peer.stop();
        call_result(&wait_until_idle(&process, run).await)
    });
    assert_eq!(result["status"], "error");
    assert!(result["message"].as_str().unwrap().contains("was lost"), "{result}");
}

/// The time limit restarts at each update; at its end the remote task is cancelled. What it did by then is
/// recorded, and not delivered.
#[test]
fn a_silent_task_is_cancelled() {
    let peer = onboarding();
    peer.queue(&[Step::Working("On it."), Step::Hang]);
    let harness = CallHarness::with_timeout(&peer, Duration::from_millis(200));
    let (result, _) = harness.run_call(json!({ "name": "John" }));
    assert_eq!(result["status"], "error");
    assert!(result["message"].as_str().unwrap().contains("cancelled"), "{result}");
    assert_eq!(peer.tasks()[0].state, "canceled");
}

/// A reply that comes after the time limit is recorded with the call, and not delivered.
#[test]
fn a_late_reply_is_recorded_and_not_delivered() {
    let peer = onboarding();
    peer.queue(&[Step::Working("On it."), Step::Hang]);
    peer.end_when_cancelled("Too late.");
    let harness = CallHarness::with_timeout(&peer, Duration::from_millis(200));
    let (result, log) = harness.run_call(json!({ "name": "John" }));
    assert_eq!(result["status"], "error");
    assert!(!result.to_string().contains("Too late."), "{result}");
    assert_eq!(states_of(&peer), ["completed"]);
    assert_eq!(peer.requests_of("tasks/cancel").len(), 1);
    let late = log.iter().find_map(|event| match event {
        Event::StepNoted { note, .. } => note.get("late").cloned(),
        _ => None,
    });
    assert_eq!(late, Some(json!("completed")));
    assert_eq!(texts_of_status(&log), ["On it."]);
}

/// A peer that opens a stream and says nothing at all has no task that could be cancelled by its id: the task is
/// found by the message. So it is when a peer is gone at that moment and comes back after the call is over.
#[test]
fn a_peer_that_never_named_its_task_is_cancelled_after_the_time_limit() {
    let peer = onboarding();
    peer.queue(&[Step::Silent]);
    let harness = CallHarness::with_timeout(&peer, Duration::from_millis(200));
    let result = harness.run_process(async |process| {
        let run = start_call(&process, "onboarding", json!({ "name": "John" })).await;
        let result = call_result(&wait_until_idle(&process, run).await);
        peer.wait_for_requests("tasks/cancel", 1).await;
        result
    });
    assert!(result["message"].as_str().unwrap().contains("said nothing"), "{result}");
    assert_eq!(states_of(&peer), ["canceled"]);
}

/// A question of the remote task is ours, with its schema, and the answer travels back.
#[test]
fn a_remote_question_is_asked_here() {
    let peer = onboarding();
    let schema =
        json!({ "type": "object", "properties": { "plan": { "type": "string" } }, "required": ["plan"] });
    peer.queue(&[Step::Working("On it."), Step::Ask("Which plan?", schema.clone())]);
    peer.queue(&[Step::NeedsAuth("May I?")]);
    peer.queue(&[Step::Complete("Done.")]);
    let harness = CallHarness::new(&peer);
    let result = harness.run_process(async |process| {
        let run = start_call(&process, "onboarding", json!({ "name": "John" })).await;
        let view = wait_until_idle(&process, run).await;
        assert_eq!(view.state, StateName::InputRequired);
        assert_eq!(view.question.as_ref().unwrap().schema, schema);
        process.deliver_message(answer_delivery(run, "a1", json!({ "plan": "paid" }))).await.unwrap();
        let view = wait_until_idle(&process, run).await;
        assert_eq!(view.state, StateName::AuthRequired);
        process.deliver_message(answer_delivery(run, "a2", json!("yes"))).await.unwrap();
        let view = wait_until_idle(&process, run).await;
        call_result(&view)
    });
    assert_eq!(result["message"], "Done.");
    let sent = peer.requests_of("message/stream");
    assert_eq!(sent.len(), 3);
    assert_eq!(sent[1].params["message"]["taskId"], "task-1");
    assert_eq!(sent[1].params["message"]["parts"][0]["data"], json!({ "plan": "paid" }));
    assert_eq!(sent[2].params["message"]["parts"][0]["text"], "yes");
    assert_eq!(peer.tasks().len(), 1);
}

/// Proves X2 for calls of peers: a process that dies in the middle of a call, three times over, leaves one remote
/// task and one result.
#[test]
fn a_repeated_call_finds_the_same_task() {
    let peer = onboarding();
    peer.queue(&[Step::Working("On it."), Step::Hang]);
    let harness = CallHarness::new(&peer);
    let run = harness.run_process(async |process| {
        let run = start_call(&process, "onboarding", json!({ "name": "John" })).await;
        call_harness::wait_for_status(&process, run, "On it.").await;
        run
    });
    for round in 1..=2 {
        harness.run_process(async |_| peer.wait_for_requests("tasks/resubscribe", round).await);
    }
    peer.queue(&[Step::Complete("Done.")]);
    let (result, log) = harness.run_process(async |process| {
        let view = wait_until_idle(&process, run).await;
        (call_result(&view), load_log(&process, run).await)
    });
    assert_eq!(result["message"], "Done.");
    assert_eq!(peer.tasks().len(), 1);
    assert_eq!(peer.requests_of("message/stream").len(), 1);
    assert_eq!(texts_of_status(&log), ["On it."]);
}

/// Proves X2: a crash at every point of a call leaves one remote task and one result. A message that is sent again
/// is the same to the last byte, since a peer refuses another message under the same id.
#[test]
fn a_crash_at_every_point_leaves_one_remote_task() {
    call_harness::sweep_crashes(
        || {
            let peer = onboarding();
            // A crash may come before or after the peer is done; either way the next stream has the end.
            for _ in 0..8 {
                peer.queue(&[Step::Working("On it."), Step::Complete("Done.")]);
            }
            peer
        },
        &json!({ "name": "John" }),
        |peer, result| {
            assert_eq!(result["status"], "completed");
            assert_eq!(peer.tasks().len(), 1);
            let sent = peer.requests_of("message/stream");
            assert!(sent.iter().all(|again| again.params["message"] == sent[0].params["message"]));
        },
    );
}

/// Cancel travels: the remote task of a run that is cancelled is cancelled too.
#[test]
fn a_cancelled_run_cancels_the_remote_task() {
    let peer = onboarding();
    peer.queue(&[Step::Working("On it."), Step::Hang]);
    let harness = CallHarness::new(&peer);
    harness.run_process(async |process| {
        let run = start_call(&process, "onboarding", json!({ "name": "John" })).await;
        call_harness::wait_for_status(&process, run, "On it.").await;
        process.cancel_run(&trackway_testkit::local_run_address(run)).await.unwrap();
        peer.wait_for_requests("tasks/cancel", 1).await;
    });
    assert_eq!(peer.tasks()[0].state, "canceled");
}

/// Cancel travels, also before the peer has named its task: the same message is sent again to learn the task, and
/// starts no other one.
#[test]
fn a_run_that_is_cancelled_before_the_first_answer_cancels_the_remote_task() {
    let peer = onboarding();
    peer.queue(&[Step::Silent]);
    let harness = CallHarness::new(&peer);
    harness.run_process(async |process| {
        let run = start_call(&process, "onboarding", json!({ "name": "John" })).await;
        peer.wait_for_requests("message/stream", 1).await;
        process.cancel_run(&trackway_testkit::local_run_address(run)).await.unwrap();
        peer.wait_for_requests("tasks/cancel", 1).await;
    });
    assert_eq!(states_of(&peer), ["canceled"]);
    let (first, again) = (peer.requests_of("message/stream"), peer.requests_of("message/send"));
    assert_eq!(first[0].params["message"], again[0].params["message"]);
}

/// The same for a foreign peer that lists its tasks: the one with the message is cancelled, and nothing is sent
/// again. One that cannot list them gets no second message either.
#[test]
fn a_foreign_task_is_found_by_its_message() {
    let peer = FakePeer::agent_v1("helper");
    peer.queue(&[Step::Silent]);
    let harness = CallHarness::new(&peer);
    harness.run_process(async |process| {
        let run = start_call(&process, "helper", json!({ "message": "Hi" })).await;
        peer.wait_for_requests("message/stream", 1).await;
        process.cancel_run(&trackway_testkit::local_run_address(run)).await.unwrap();
        peer.wait_for_requests("tasks/cancel", 1).await;
    });
    assert_eq!(states_of(&peer), ["canceled"]);
    assert!(peer.requests_of("message/send").is_empty());

    let peer = FakePeer::agent("helper");
    peer.queue(&[Step::Silent]);
    let harness = CallHarness::new(&peer);
    harness.run_process(async |process| {
        let run = start_call(&process, "helper", json!({ "message": "Hi" })).await;
        peer.wait_for_requests("message/stream", 1).await;
        process.cancel_run(&trackway_testkit::local_run_address(run)).await.unwrap();
        process.wait_until_quiet().await;
    });
    assert_eq!(states_of(&peer), ["submitted"], "nothing more can be done, and nothing was made worse");
    assert!(peer.requests_of("message/send").is_empty());
}

/// A crash at every point of a call, and then a cancel: no remote task goes on.
#[test]
fn a_cancel_after_a_crash_at_every_point_leaves_no_remote_task() {
    call_harness::sweep_crashes_then_cancel(
        || {
            let peer = onboarding();
            peer.queue(&[Step::Working("On it."), Step::Hang]);
            peer
        },
        &json!({ "name": "John" }),
        |peer, at| {
            let states = states_of(peer);
            assert!(states.iter().all(|state| state == "canceled"), "{at}: {states:?}");
            assert!(states.len() <= 1, "{at}: {states:?}");
        },
    );
}

/// A peer that does not promise to recognise a repeated message is not sent one: its task is looked for where its
/// protocol can list tasks, and otherwise the model learns that nothing is known.
#[test]
fn a_foreign_peer_gets_a_message_once() {
    let peer = FakePeer::agent_v1("helper");
    peer.queue(&[Step::Cut]);
    peer.queue(&[Step::Complete("Done.")]);
    let (result, _) = CallHarness::new(&peer).run_call(json!({ "message": "Hi" }));
    assert_eq!(result["message"], "Done.");
    assert_eq!((peer.tasks().len(), peer.requests_of("message/stream").len()), (1, 1));

    let peer = FakePeer::agent("helper");
    peer.queue(&[Step::BadGateway]);
    let (result, _) = CallHarness::new(&peer).run_call(json!({ "message": "Hi" }));
    assert_eq!(result["status"], "error");
    assert!(result["message"].as_str().unwrap().contains("not sent again"), "{result}");
    assert_eq!((peer.tasks().len(), peer.requests_of("message/stream").len()), (1, 1));
}

/// Proves X2 for foreign peers: whatever happens to this process, they begin the work at most once, and the call
/// ends with a result or with an error that says that nothing is known.
#[test]
fn a_crash_at_every_point_leaves_at_most_one_foreign_task() {
    for new_peer in [FakePeer::agent, FakePeer::agent_v1] {
        call_harness::sweep_crashes(
            || {
                let peer = new_peer("helper");
                for _ in 0..8 {
                    peer.queue(&[Step::Working("On it."), Step::Complete("Done.")]);
                }
                peer
            },
            &json!({ "message": "Hi" }),
            |peer, result| {
                assert!(peer.tasks().len() <= 1);
                let is_unknown = result["message"].as_str().unwrap().contains("not sent again");
                assert!(result["status"] == "completed" || is_unknown, "{result}");
            },
        );
    }
}

/// An answer that a foreign peer may have taken is not sent to its next question.
#[test]
fn an_answer_reaches_a_foreign_peer_once() {
    let schema = json!({ "type": "string" });
    let peer = FakePeer::agent("helper");
    peer.queue(&[Step::Ask("Which plan?", schema.clone())]);
    // The answer is taken, and what the peer says to it is lost.
    peer.queue(&[Step::BadGateway, Step::Ask("Are you sure?", schema)]);
    peer.queue(&[Step::Complete("Done.")]);
    let harness = CallHarness::new(&peer);
    let result = harness.run_process(async |process| {
        let run = start_call(&process, "helper", json!({ "message": "Hi" })).await;
        wait_until_idle(&process, run).await;
        process.deliver_message(answer_delivery(run, "a1", json!("paid"))).await.unwrap();
        let view = wait_until_idle(&process, run).await;
        let asked = view.question.as_ref().unwrap().prompt[0].as_text().unwrap().to_owned();
        assert_eq!(asked, "helper asks: Are you sure?");
        process.deliver_message(answer_delivery(run, "a2", json!("yes"))).await.unwrap();
        call_result(&wait_until_idle(&process, run).await)
    });
    assert_eq!(result["message"], "Done.");
    let texts: Vec<Value> = peer
        .requests_of("message/stream")
        .iter()
        .map(|sent| sent.params["message"]["parts"][0]["text"].clone())
        .collect();
    assert_eq!(texts, ["Hi", "paid", "yes"]);
}

/// Beyond the depth limit nothing is called, and the model learns why.
#[test]
fn a_chain_that_is_too_deep_ends() {
    let peer = onboarding();
    let harness = CallHarness::with_max_depth(&peer, 0);
    let (result, _) = harness.run_call(json!({ "name": "John" }));
    assert_eq!(result["status"], "error");
    assert!(result["message"].as_str().unwrap().contains("depth limit"), "{result}");
    assert!(peer.tasks().is_empty());
}

/// A large artifact of the peer is saved here and named; a small one is in the result.
#[test]
fn large_results_become_artifacts() {
    let peer = onboarding();
    let long = "x".repeat(100_000);
    let file = json!([{ "kind": "file", "file": { "name": "a.bin", "mimeType": "image/png", "bytes": "/////w==" } }]);
    peer.queue(&[
        Step::Artifact("long.txt", json!([{ "kind": "text", "text": long }])),
        Step::Artifact("picture.png", file),
        Step::Complete("Done."),
    ]);
    let harness = CallHarness::new(&peer);
    let (result, _) = harness.run_call(json!({ "name": "John" }));
    let artifacts = result["artifacts"].as_array().unwrap();
    assert_eq!(artifacts[0]["filename"], "long.txt");
    assert_eq!((&artifacts[0]["version"], &artifacts[0]["sizeBytes"]), (&json!(0), &json!(100_000)));
    assert_eq!(artifacts[1]["filename"], "picture.png", "a model cannot read it");
    assert_eq!(harness.read_artifact("long.txt"), long);
}
