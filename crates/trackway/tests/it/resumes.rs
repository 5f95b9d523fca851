//! Many answers to one question at once.

use std::{collections::BTreeSet, sync::Arc};

use futures_util::future::join_all;
use serde_json::{Value, json};
use trackway_domain::{Event, RunId, StateName};
use trackway_engine::MessageDeliveryOutcome;
use trackway_testkit::{PausingInterceptor, ProcessSetup, TestProcess, TestWorld, answer_delivery};

use crate::support::{Probe, answer, load_log, start, visible_updates, wait_until_ended, wait_until_idle};

const CALLERS: u32 = 64;

workflow!(Asks, "asks", |probe, ctx, _input: Value| -> Value {
    let number: u32 = ctx.ask("A number?").await;
    probe.mark(format!("took {number}"));
    let word: String = ctx.ask("A word?").await;
    Ok(json!([number, word]))
});

#[derive(Debug)]
struct DeliveredRank {
    order: u32,
    concurrent: bool,
    primary: bool,
    problems: usize,
    /// The value at the first problem.
    got: Option<Value>,
}

fn rank_of(delivered: &MessageDeliveryOutcome) -> DeliveredRank {
    let MessageDeliveryOutcome::Answer { order, concurrent, primary, problems, .. } = delivered else {
        panic!("an answer is judged as one: {delivered:?}")
    };
    let got = problems.first().and_then(|problem| problem.got.clone());
    let problems = problems.len();
    DeliveredRank { order: *order, concurrent: *concurrent, primary: *primary, problems, got }
}

/// Sends this many answers, all of which arrive before the first is durable.
async fn send_at_once(
    process: &TestProcess,
    gate: &PausingInterceptor,
    run: RunId,
    value: impl Fn(u32) -> Value,
) -> Vec<DeliveredRank> {
    process.wait_until_quiet().await;
    gate.pause_appends(|append| append.message_claim.is_some());
    let sending: Vec<_> = (0..CALLERS)
        .map(|number| {
            let (process, value) = (process.clone(), value(number));
            tokio::spawn(async move { answer(&process, run, &format!("a{number}"), value).await })
        })
        .collect();
    gate.wait_for_paused_messages(CALLERS as usize).await;
    assert!(sending.iter().all(|one| !one.is_finished()), "nobody is answered before the commit");
    gate.resume_appends();
    let answered = join_all(sending).await;
    let mut told: Vec<_> =
        answered.into_iter().map(|one| rank_of(&one.unwrap().unwrap().delivered)).collect();
    for (number, one) in (0..).zip(&told) {
        assert!(one.got.as_ref().is_none_or(|got| *got == value(number)), "its own answer");
    }
    told.sort_by_key(|one| one.order);
    assert!(told.iter().zip(1..).all(|(one, order)| one.order == order), "orders 1 to {CALLERS}: {told:?}");
    assert!(told.iter().filter(|one| !one.concurrent).count() <= 1, "at most a lone first one");
    told
}

/// Proves L13, L16.
#[test]
fn of_64_answers_at_once_one_resumes_and_every_caller_is_told_its_place() {
    for world in [TestWorld::with_sqlite_store(), TestWorld::with_memory_store()] {
        let (gate, probe) = (Arc::new(PausingInterceptor::new()), Probe::new());
        let setup = ProcessSetup::from(registry![Asks(probe.clone())]).with_interceptor(gate.clone());
        world.run_to_completion(setup, async |process| {
            let run = start(&process, "asks", Value::Null).await;
            wait_until_idle(&process, run).await;
            let told = send_at_once(&process, &gate, run, |number| json!(number)).await;
            assert!(told[0].primary && told[1..].iter().all(|one| !one.primary));
            // A number is not a word, so no answer was checked against the next question.
            assert!(told.iter().all(|one| one.problems == 0));
            let view = wait_until_idle(&process, run).await;
            assert_eq!(view.state, StateName::InputRequired);
            let log = load_log(&process, run).await;
            let late = log.iter().filter(|stored| matches!(stored.event, Event::LateAnswer(_))).count();
            assert_eq!(late as u32, CALLERS - 1);
            answer(&process, run, "w", "word").await.unwrap();
            wait_until_ended(&process, run).await;
        });
        let took: BTreeSet<_> = probe.marks().into_iter().collect();
        assert_eq!(took.len(), 1, "every replay goes on with the same answer");
    }
}

/// Proves L13, L16.
///
/// Without holding back appends: a late answer belongs to the question that was open when it
/// arrived.
#[test]
fn of_64_answers_that_name_their_question_one_resumes_whenever_they_come() {
    TestWorld::with_sqlite_store().run_to_completion(registry![Asks(Probe::new())], async |process| {
        let run = start(&process, "asks", Value::Null).await;
        let question = wait_until_idle(&process, run).await.question.unwrap().id;
        let sending = (0..CALLERS).map(|number| {
            let mut deliver = answer_delivery(run, &format!("a{number}"), json!(number));
            deliver.question = Some(question);
            let process = process.clone();
            tokio::spawn(async move { process.deliver_message(deliver).await })
        });
        let answered = join_all(sending).await;
        let told: Vec<_> =
            answered.into_iter().map(|one| rank_of(&one.unwrap().unwrap().delivered)).collect();
        let orders: BTreeSet<_> = told.iter().map(|one| one.order).collect();
        assert_eq!(orders, (1..=CALLERS).collect());
        assert_eq!(told.iter().filter(|one| one.primary).count(), 1);
        assert!(told.iter().all(|one| one.problems == 0));
    });
}

/// Proves L14, L16.
#[test]
fn among_wrong_and_right_answers_the_first_right_one_resumes() {
    let gate = Arc::new(PausingInterceptor::new());
    let setup = ProcessSetup::from(registry![Asks(Probe::new())]).with_interceptor(gate.clone());
    TestWorld::with_memory_store().run_to_completion(setup, async |process| {
        let run = start(&process, "asks", Value::Null).await;
        wait_until_idle(&process, run).await;
        let wrong = |number: u32| json!(format!("no number {number}"));
        let value = |number| if number % 3 == 0 { json!(number) } else { wrong(number) };
        let told = send_at_once(&process, &gate, run, value).await;
        assert!(told.iter().all(|one| (one.problems == 0) == one.got.is_none()));
        let first_right = told.iter().position(|one| one.problems == 0).unwrap();
        assert!(told.iter().enumerate().all(|(place, one)| one.primary == (place == first_right)));
        let lines = crate::support::visible_updates(&process, run).await;
        let repeated = lines.iter().filter(|line| line.contains("A number?")).count();
        assert_eq!(repeated, first_right + 1, "the prompt is repeated for each wrong one before it");
    });
}

/// Proves L16.
///
/// It was sent while the first question was open, and delayed until the second was open.
#[test]
fn an_answer_is_judged_by_the_question_that_it_found_open() {
    let gate = Arc::new(PausingInterceptor::new());
    let setup = ProcessSetup::from(registry![Asks(Probe::new())]).with_interceptor(gate.clone());
    TestWorld::with_memory_store().run_to_completion(setup, async |process| {
        let run = start(&process, "asks", Value::Null).await;
        wait_until_idle(&process, run).await;
        gate.pause_message_lookup("slow");
        let slow = tokio::spawn({
            let process = process.clone();
            async move { answer(&process, run, "slow", 2).await }
        });
        gate.wait_for_paused_reads(1).await;
        answer(&process, run, "quick", 1).await.unwrap();
        wait_until_idle(&process, run).await;
        gate.resume_reads();
        let slow = slow.await.unwrap().unwrap();
        let told = rank_of(&slow.delivered);
        assert_eq!((told.order, told.primary, told.problems), (2, false, 0));
        assert_eq!(slow.view.state, StateName::InputRequired, "the second question is still open");
        let lines = crate::support::visible_updates(&process, run).await;
        assert_eq!(lines.iter().filter(|line| line.contains("A word?")).count(), 1);
    });
}

/// Proves L16.
#[test]
fn answer_to_an_answered_question_is_late_and_not_taken_for_the_next() {
    TestWorld::with_memory_store().run_to_completion(registry![Asks(Probe::new())], async |process| {
        let run = start(&process, "asks", Value::Null).await;
        let first = wait_until_idle(&process, run).await.question.unwrap().id;
        answer(&process, run, "1", 1).await.unwrap();
        wait_until_idle(&process, run).await;
        let mut late = answer_delivery(run, "2", json!("a fine word"));
        late.question = Some(first);
        let late = process.deliver_message(late).await.unwrap();
        let told_late = rank_of(&late.delivered);
        assert_eq!((told_late.order, told_late.primary, told_late.problems), (2, false, 1));
        assert_eq!(late.view.state, StateName::InputRequired);
        answer(&process, run, "3", "word").await.unwrap();
        assert_eq!(wait_until_ended(&process, run).await.output, json!([1, "word"]));
        assert_eq!(visible_updates(&process, run).await.len(), 7);
    });
}

workflow!(Busy, "busy", |probe, ctx, _input: Value| -> () {
    ctx.status("busy").await;
    probe.wait_at_gate("done").await;
    Ok(())
});

/// Proves L16.
#[test]
fn a_message_to_a_run_that_asks_nothing_joins_its_history() {
    let probe = Probe::new();
    TestWorld::with_memory_store().run_to_completion(registry![Busy(probe.clone())], async |process| {
        let run = start(&process, "busy", Value::Null).await;
        probe.wait_for_mark("at done", 1).await;
        let noted = answer(&process, run, "hello", "hello").await.unwrap();
        assert_eq!(noted.delivered, MessageDeliveryOutcome::Noted);
        let again = answer(&process, run, "hello", "hello").await.unwrap();
        assert!(again.is_repeat);
        probe.open_gate("done");
        let view = wait_until_ended(&process, run).await;
        let heard = view.message_history().filter(|message| message.id.as_str() == "hello").count();
        assert_eq!(heard, 1);
    });
}
