//! A step that makes a peer work for it: its note survives every crash, and if the run ends without the
//! outcome of the step, the peer's task is released.

mod fake_peer;

use std::{sync::Arc, time::Duration};

use futures_util::future::join_all;
use serde_json::json;
use trackway_domain::{
    CallChain, Caller, Event, InterruptReason, Part, RunId, SessionId, StateName, StepNoteRefusal,
};
use trackway_ports::{Clock as _, OutboxItem, RunRemoval};
use trackway_runtime::{Error, ReplayVerdict, SubmitRunRequest, ToolCallContext, replay_program_on_log};
use trackway_testkit::{
    ClientHistory, CrashAt, ProcessSetup, ScriptedClient, TestProcess, TestWorld, answer_delivery,
    load_full_log, local_run_address,
};

use self::fake_peer::{FakePeer, PeerCaller, Way};

/// Far more points than one process reaches; the sweep ends earlier.
const POINTS_MAX: usize = 1_000;

/// A day is the limit of a release; a test that gives up goes beyond it.
const TWO_DAYS: Duration = Duration::from_secs(2 * 24 * 60 * 60);

fn setup(peer: &FakePeer) -> ProcessSetup {
    setup_without_handler(peer).with_step_notes(Arc::new(peer.clone()))
}

fn setup_without_handler(peer: &FakePeer) -> ProcessSetup {
    PeerCaller::registry(peer).into()
}

async fn start(process: &TestProcess, way: Way) -> RunId {
    let submit = SubmitRunRequest::new("calls-peer", json!(way.name()), Caller::local_without_auth());
    process.submit_run(submit).await.unwrap().view.submission.run
}

async fn cancel(process: &TestProcess, run: RunId) -> Result<(), Error> {
    process.cancel_run(&local_run_address(run)).await.map(|_| ())
}

async fn load_events(process: &TestProcess, run: RunId) -> Vec<Event> {
    let log = load_full_log(&*process.journal, run).await.unwrap();
    log.into_iter().map(|stored| stored.event).collect()
}

fn count_events(events: &[Event], name: &str) -> usize {
    events.iter().filter(|event| event.event_name() == name).count()
}

async fn wait_until_ended(process: &TestProcess, run: RunId) -> StateName {
    let view = process.current_run_view(&local_run_address(run)).await.unwrap();
    let view = process.wait_until_run_idle(view).await.unwrap();
    process.wait_until_quiet().await;
    view.state
}

/// Moves the clock to the next attempt at a release, after the attempt of that number failed.
async fn advance_to_next_attempt(process: &TestProcess, peer: &FakePeer, failed: usize, pause: Duration) {
    peer.wait_for_attempts(failed).await;
    let due = process.clock.now() + pause;
    process.clock.wait_for_sleeper(due).await;
    process.clock.advance_to(due);
}

/// Kills the process at every point. After each crash the client repeats its actions; then everything is
/// checked.
fn sweep(open: fn() -> TestWorld, client: &ScriptedClient, check: impl Fn(&FakePeer, &[Event], &str)) {
    for point in 1..POINTS_MAX {
        let (world, peer, history) = (open(), FakePeer::new(), ClientHistory::new());
        let faults = Arc::new(CrashAt::at_any_point(point));
        let with_faults = setup(&peer).with_faults(faults.clone());
        let through = world.run_process(with_faults, async |process| {
            client.run_client(&process, &history).await;
        });
        let at = format!("point {point}, {:?}", faults.reached_points().last());
        let events = world.run_to_completion(setup(&peer), async |process| {
            let run = client.run_client(&process, &history).await;
            load_events(&process, run).await
        });
        check(&peer, &events, &at);
        if through.is_some() {
            assert!(point > 10, "there are points to crash at: {:?}", faults.reached_points());
            return;
        }
    }
    panic!("it never gets through");
}

fn call_that_ends(open: fn() -> TestWorld) {
    let client = ScriptedClient::new("calls-peer", json!(Way::Ends.name()));
    sweep(open, &client, |peer, events, at| {
        assert_eq!(count_events(events, "step-noted"), 1, "{at}: {events:?}");
        assert_eq!(count_events(events, "step-done"), 1, "{at}");
        assert!(matches!(events.last(), Some(Event::Completed { .. })), "{at}");
        assert_eq!(peer.tasks().len(), 1, "{at}: one task");
        assert_eq!(peer.released(), Vec::<String>::new(), "{at}: an outcome releases its note");
    });
}

fn call_that_is_cancelled(open: fn() -> TestWorld) {
    let client =
        ScriptedClient::new("calls-peer", json!(Way::Hangs.name())).cancel_at_status("the peer works");
    sweep(open, &client, |peer, events, at| {
        assert_eq!(count_events(events, "step-noted"), 1, "{at}: {events:?}");
        assert_eq!(count_events(events, "canceled"), 1, "{at}");
        assert_eq!(peer.tasks().len(), 1, "{at}: one task");
        let mut released = peer.released();
        // A crash between the release and its record repeats it; the peer sees the same task.
        released.dedup();
        assert_eq!(released, peer.tasks(), "{at}: what was acknowledged is released");
    });
}

/// Proves X2: one note, one task, one outcome, wherever the process dies.
#[test]
fn a_call_is_made_once_through_every_crash() {
    call_that_ends(TestWorld::with_memory_store);
}

/// Proves X2.
#[test]
fn a_call_is_made_once_through_every_crash_on_disk() {
    call_that_ends(TestWorld::with_sqlite_store);
}

/// Proves X2: after an acknowledged cancel the release is never lost.
#[test]
fn a_cancelled_call_is_released_through_every_crash() {
    call_that_is_cancelled(TestWorld::with_memory_store);
}

/// Proves X2.
#[test]
fn a_cancelled_call_is_released_through_every_crash_on_disk() {
    call_that_is_cancelled(TestWorld::with_sqlite_store);
}

/// Proves L10: however many callers cancel at once, one release is owed.
#[test]
fn sixteen_cancels_at_once_owe_one_release() {
    let (world, peer) = (TestWorld::with_memory_store(), FakePeer::new());
    world.run_to_completion(setup(&peer), async |process| {
        peer.set_away(true);
        let run = start(&process, Way::Hangs).await;
        peer.wait_for_task().await;
        let cancels = join_all((0..16).map(|_| cancel(&process, run))).await;
        assert!(cancels.iter().any(Result::is_ok));
        let refused = cancels.into_iter().filter_map(Result::err);
        assert!(refused.into_iter().all(|error| matches!(error, Error::Ended { .. })));
        let owed = process.journal.list_outbox(None, 100).await.unwrap();
        let [row] = &owed[..] else { panic!("{owed:?}") };
        let OutboxItem::ReleaseStepNote { owner, note, .. } = &row.item else { panic!("{row:?}") };
        assert_eq!((owner, &note["task"]), (&Caller::local_without_auth(), &json!(peer.tasks()[0])));
        // A peer that is away is no failure of this process.
        peer.wait_for_attempts(1).await;
        assert!(process.failing_background_tasks().is_empty());
        peer.set_away(false);
        advance_to_next_attempt(&process, &peer, 1, Duration::from_secs(1)).await;
        process.wait_until_quiet().await;
        assert_eq!(peer.released(), peer.tasks());
    });
}

/// Proves X2: a peer that is away is tried again, also by the next process; after a day it is given up.
#[test]
fn a_release_is_tried_until_it_is_done_or_its_time_is_over() {
    let (world, peer) = (TestWorld::with_memory_store(), FakePeer::new());
    peer.set_away(true);
    let run = world.run_to_completion(setup(&peer), async |process| {
        let run = start(&process, Way::Hangs).await;
        peer.wait_for_task().await;
        cancel(&process, run).await.unwrap();
        for (failed, pause) in [(1, 1), (2, 2), (3, 4)] {
            advance_to_next_attempt(&process, &peer, failed, Duration::from_secs(pause)).await;
        }
        peer.wait_for_attempts(4).await;
        run
    });
    world.run_to_completion(setup(&peer), async |process| {
        peer.wait_for_attempts(5).await;
        process.clock.wait_for_sleeper(process.clock.now() + Duration::from_secs(1)).await;
        process.clock.advance(TWO_DAYS);
        process.wait_until_quiet().await;
        assert_eq!(wait_until_ended(&process, run).await, StateName::Canceled);
    });
    assert_eq!(peer.released(), Vec::<String>::new());
}

/// A release that the handler refuses is dropped, and so is one that nothing here can release.
#[test]
fn a_release_that_nobody_can_do_is_dropped() {
    let (world, peer) = (TestWorld::with_memory_store(), FakePeer::new());
    world.run_to_completion(setup(&peer), async |process| {
        peer.refuse_releases();
        let run = start(&process, Way::Hangs).await;
        peer.wait_for_task().await;
        cancel(&process, run).await.unwrap();
        assert_eq!(wait_until_ended(&process, run).await, StateName::Canceled);
    });
    let (world, peer) = (TestWorld::with_memory_store(), FakePeer::new());
    world.run_to_completion(setup_without_handler(&peer), async |process| {
        let run = start(&process, Way::Hangs).await;
        peer.wait_for_task().await;
        cancel(&process, run).await.unwrap();
        assert_eq!(wait_until_ended(&process, run).await, StateName::Canceled);
    });
    assert_eq!(peer.released(), Vec::<String>::new());
}

/// Proves X2: a process that only reads or cancels leaves the release to the server.
#[test]
fn a_process_that_does_not_recover_leaves_the_release_to_the_next() {
    let (world, peer) = (TestWorld::with_memory_store(), FakePeer::new());
    let run = world.run_to_completion(setup(&peer), async |process| {
        let run = start(&process, Way::Hangs).await;
        peer.wait_for_task().await;
        run
    });
    let tool = ProcessSetup { recover: false, ..setup_without_handler(&peer) };
    world.run_to_completion(tool, async |process| {
        cancel(&process, run).await.unwrap();
        assert_eq!(process.journal.list_outbox(None, 9).await.unwrap().len(), 1);
    });
    world.run_to_completion(setup(&peer), async |process| {
        process.wait_until_quiet().await;
        assert_eq!(peer.released(), peer.tasks());
    });
}

/// Proves T17: removing a run does not lose what it still owes to a peer.
#[test]
fn a_release_is_done_after_its_run_was_removed() {
    let (world, peer) = (TestWorld::with_memory_store(), FakePeer::new());
    world.run_to_completion(setup(&peer), async |process| {
        peer.set_away(true);
        let run = start(&process, Way::Hangs).await;
        peer.wait_for_task().await;
        cancel(&process, run).await.unwrap();
        peer.wait_for_attempts(1).await;
        let last = load_events(&process, run).await.len() as u64;
        process.journal.remove_runs(RunRemoval::removal_of_runs([(run, last)])).await.unwrap();
        peer.set_away(false);
        advance_to_next_attempt(&process, &peer, 1, Duration::from_secs(1)).await;
        process.wait_until_quiet().await;
        assert_eq!(peer.released(), peer.tasks());
    });
}

/// A step that the program no longer waits for is released when the run ends, whatever its end.
#[test]
fn an_abandoned_step_is_released_when_its_run_completes() {
    let (world, peer) = (TestWorld::with_memory_store(), FakePeer::new());
    world.run_to_completion(setup(&peer), async |process| {
        let run = start(&process, Way::TimesOut).await;
        peer.wait_for_task().await;
        process.clock.advance(Duration::from_secs(60));
        assert_eq!(wait_until_ended(&process, run).await, StateName::Completed);
        assert_eq!(peer.released(), peer.tasks());
    });
}

/// Proves L14: a question inside the step, with its reason, and a crash while it is open: the note is still
/// there, and the whole answer arrives.
#[test]
fn a_question_inside_the_step_keeps_the_note() {
    let (world, peer) = (TestWorld::with_memory_store(), FakePeer::new());
    let run = world.run_to_completion(setup(&peer), async |process| {
        let run = start(&process, Way::Asks).await;
        let view = process.current_run_view(&local_run_address(run)).await.unwrap();
        let view = process.wait_until_run_idle(view).await.unwrap();
        assert_eq!(view.state, StateName::AuthRequired);
        assert_eq!(view.question.as_ref().unwrap().reason, InterruptReason::AuthRequired);
        assert_eq!(view.question.as_ref().unwrap().schema, json!({"type": "object", "required": ["code"]}));
        run
    });
    world.run_to_completion(setup(&peer), async |process| {
        let refused = process.deliver_message(answer_delivery(run, "a-1", json!({}))).await.unwrap().view;
        assert_eq!(refused.state, StateName::AuthRequired);
        process.deliver_message(answer_delivery(run, "a-2", json!({"code": 2}))).await.unwrap();
        assert_eq!(wait_until_ended(&process, run).await, StateName::Completed);
        let events = load_events(&process, run).await;
        assert_eq!(count_events(&events, "step-noted"), 1);
        let view = process.current_run_view(&local_run_address(run)).await.unwrap();
        assert_eq!(view.output, json!({"task": peer.tasks()[0], "answer": {"code": 2}, "message": "a-2"}));
    });
    assert_eq!(peer.tasks().len(), 1);
}

/// Proves T16: the fork's step begins again under a key of its own, and each run releases its own task.
#[test]
fn a_fork_makes_a_call_of_its_own() {
    let (world, peer) = (TestWorld::with_memory_store(), FakePeer::new());
    world.run_to_completion(setup(&peer), async |process| {
        let run = start(&process, Way::Hangs).await;
        peer.wait_for_task().await;
        let fork = process.fork_run(&local_run_address(run), None, None).await.unwrap();
        let fork = fork.submission.run;
        peer.wait_for_tasks(2).await;
        let [first, second] = &peer.tasks()[..] else { panic!() };
        assert!(first.starts_with(&run.to_string()) && second.starts_with(&fork.to_string()));
        cancel(&process, fork).await.unwrap();
        peer.wait_for_attempts(1).await;
        assert_eq!(peer.released(), std::slice::from_ref(second));
        cancel(&process, run).await.unwrap();
        peer.wait_for_attempts(2).await;
        assert_eq!(peer.released(), [second.clone(), first.clone()]);
    });
}

/// A note that is too large, one after the step, and one without a run are refused; the run goes on.
#[test]
fn a_note_that_cannot_be_kept_is_refused() {
    let (world, peer) = (TestWorld::with_memory_store(), FakePeer::new());
    world.run_to_completion(setup(&peer), async |process| {
        let run = start(&process, Way::Rude).await;
        assert_eq!(wait_until_ended(&process, run).await, StateName::Completed);
        let view = process.current_run_view(&local_run_address(run)).await.unwrap();
        let problems: Vec<String> = serde_json::from_value(view.output.clone()).unwrap();
        assert_eq!(
            problems,
            [
                "the note has 10000002 bytes; the limit is 16384",
                "the note is nested too deeply",
                "the step is over, or has not begun",
            ]
        );
        assert_eq!(count_events(&load_events(&process, run).await, "step-noted"), 0);
    });
    let attempt = trackway_runtime::StepAttempt {
        idempotency_key: "k".into(),
        number: 1,
        op: "step:x#0".parse().unwrap(),
    };
    let session = SessionId::new("s").unwrap();
    let alone = ToolCallContext::without_run(attempt, Caller::local_without_auth(), session);
    assert_eq!(alone.load_note(), None);
    assert_eq!((alone.run_id(), alone.workflow_name()), (None, None));
    assert!(alone.call_chain().is_empty());
    let refused = tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
        alone.report_status(vec![Part::text("nobody sees it")]).await;
        alone.record_note(json!(1)).await
    });
    assert_eq!(refused, Err(StepNoteRefusal::NoRun));
}

/// Proves L3: a status of a step is published, and a log with notes and statuses of steps fits its program.
#[test]
fn a_status_of_a_step_is_published_and_replayed() {
    let (world, peer) = (TestWorld::with_memory_store(), FakePeer::new());
    world.run_to_completion(setup(&peer), async |process| {
        let chain = CallChain::default().extend("http://orders.example/");
        let submit = SubmitRunRequest {
            call_chain: chain.clone(),
            linked_session: SessionId::new("parent").ok(),
            ..SubmitRunRequest::new("calls-peer", json!(Way::Ends.name()), Caller::local_without_auth())
        };
        let run = process.submit_run(submit).await.unwrap().view.submission.run;
        assert_eq!(wait_until_ended(&process, run).await, StateName::Completed);
        let view = process.current_run_view(&local_run_address(run)).await.unwrap();
        let said: Vec<_> = view.message_history().filter_map(|message| message.parts[0].as_text()).collect();
        assert_eq!(said, ["the peer works"]);
        assert_eq!(view.submission.call_chain, chain);
        assert_eq!(view.submission.linked_session, SessionId::new("parent").ok());
        assert_eq!(peer.seen_chains(), [chain]);
        let program = process.registry().current_program("calls-peer").unwrap();
        let log = load_events(&process, run).await;
        assert_eq!(replay_program_on_log(&program, &log).await, ReplayVerdict::Matches);
        // The same while the step has no outcome.
        let noted = log.iter().position(|event| event.event_name() == "step-done").unwrap();
        assert_eq!(replay_program_on_log(&program, &log[..noted]).await, ReplayVerdict::Matches);
    });
}
