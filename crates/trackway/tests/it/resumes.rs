//! Many answers to one question at once.

use std::{collections::BTreeSet, sync::Arc};

use futures_util::future::join_all;
use serde_json::{Value, json};
use trackway_domain::{Event, RunId, StateName};
use trackway_engine::Delivered;
use trackway_testkit::{Gate, Process, Setup, World, answer_to};

use crate::kit::{Probe, answer, ended, log, settled, start, told};

const CALLERS: u32 = 64;

workflow!(Asks, "asks", |probe, ctx, _input: Value| -> Value {
    let number: u32 = ctx.ask("A number?").await;
    probe.mark(format!("took {number}"));
    let word: String = ctx.ask("A word?").await;
    Ok(json!([number, word]))
});

struct Told {
    order: u32,
    concurrent: bool,
    primary: bool,
    problems: usize,
    /// What stood where the first problem is.
    got: Option<Value>,
}

fn unpack(delivered: &Delivered) -> Told {
    let Delivered::Answer { order, concurrent, primary, problems, .. } = delivered else {
        panic!("an answer is judged as one: {delivered:?}")
    };
    let got = problems.first().and_then(|problem| problem.got.clone());
    let problems = problems.len();
    Told { order: *order, concurrent: *concurrent, primary: *primary, problems, got }
}

/// Sends this many answers, all of which arrive before the first is durable.
async fn at_once(
    process: &Process,
    gate: &Gate,
    run: RunId,
    value: impl Fn(u32) -> Value,
) -> Vec<Told> {
    process.quiet().await;
    gate.hold(|append| append.claim.is_some());
    let sending: Vec<_> = (0..CALLERS)
        .map(|number| {
            let (process, value) = (process.clone(), value(number));
            tokio::spawn(async move { answer(&process, run, &format!("a{number}"), value).await })
        })
        .collect();
    gate.withheld(CALLERS as usize).await;
    assert!(sending.iter().all(|one| !one.is_finished()), "nobody is answered before the commit");
    gate.release();
    let answered = join_all(sending).await;
    let mut told: Vec<_> =
        answered.into_iter().map(|one| unpack(&one.unwrap().unwrap().delivered)).collect();
    for (number, one) in (0..).zip(&told) {
        assert!(one.got.as_ref().is_none_or(|got| *got == value(number)), "its own answer");
    }
    told.sort_by_key(|one| one.order);
    assert!(told.iter().zip(1..).all(|(one, order)| one.order == order), "places 1 to {CALLERS}");
    assert!(told.iter().filter(|one| !one.concurrent).count() <= 1, "at most a lone first one");
    told
}

/// Proves L13, L16.
#[test]
fn of_64_answers_at_once_one_resumes_and_every_caller_is_told_its_place() {
    for world in [World::sqlite(), World::memory()] {
        let (gate, probe) = (Arc::new(Gate::new()), Probe::new());
        let setup = Setup::from(registry![Asks(probe.clone())]).tap(gate.clone());
        world.run(setup, async |process| {
            let run = start(&process, "asks", Value::Null).await;
            settled(&process, run).await;
            let told = at_once(&process, &gate, run, |number| json!(number)).await;
            assert!(told[0].primary && told[1..].iter().all(|one| !one.primary));
            // A number is not a word, so no answer was checked against the next question.
            assert!(told.iter().all(|one| one.problems == 0));
            let view = settled(&process, run).await;
            assert_eq!(view.state, StateName::InputRequired);
            let log = log(&process, run).await;
            let late = log.iter().filter(|stored| matches!(stored.event, Event::Late(_))).count();
            assert_eq!(late as u32, CALLERS - 1);
            answer(&process, run, "w", "word").await.unwrap();
            ended(&process, run).await;
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
    World::sqlite().run(registry![Asks(Probe::new())], async |process| {
        let run = start(&process, "asks", Value::Null).await;
        let question = settled(&process, run).await.question.unwrap().id;
        let sending = (0..CALLERS).map(|number| {
            let mut deliver = answer_to(run, &format!("a{number}"), json!(number));
            deliver.question = Some(question);
            let process = process.clone();
            tokio::spawn(async move { process.deliver(deliver).await })
        });
        let answered = join_all(sending).await;
        let told: Vec<_> =
            answered.into_iter().map(|one| unpack(&one.unwrap().unwrap().delivered)).collect();
        let orders: BTreeSet<_> = told.iter().map(|one| one.order).collect();
        assert_eq!(orders, (1..=CALLERS).collect());
        assert_eq!(told.iter().filter(|one| one.primary).count(), 1);
        assert!(told.iter().all(|one| one.problems == 0));
    });
}

/// Proves L14, L16.
#[test]
fn among_wrong_and_right_answers_the_first_right_one_resumes() {
    let gate = Arc::new(Gate::new());
    let setup = Setup::from(registry![Asks(Probe::new())]).tap(gate.clone());
    World::memory().run(setup, async |process| {
        let run = start(&process, "asks", Value::Null).await;
        settled(&process, run).await;
        let wrong = |number: u32| json!(format!("no number {number}"));
        let value = |number| if number % 3 == 0 { json!(number) } else { wrong(number) };
        let told = at_once(&process, &gate, run, value).await;
        assert!(told.iter().all(|one| (one.problems == 0) == one.got.is_none()));
        let first_right = told.iter().position(|one| one.problems == 0).unwrap();
        assert!(told.iter().enumerate().all(|(place, one)| one.primary == (place == first_right)));
        let lines = crate::kit::told(&process, run).await;
        let repeated = lines.iter().filter(|line| line.contains("A number?")).count();
        assert_eq!(
            repeated,
            first_right + 1,
            "the prompt is repeated for each wrong one before it"
        );
    });
}

/// Proves L16.
///
/// It was sent while the first question was open, and delayed until the second was open.
#[test]
fn an_answer_is_judged_by_the_question_that_it_found_open() {
    let gate = Arc::new(Gate::new());
    let setup = Setup::from(registry![Asks(Probe::new())]).tap(gate.clone());
    World::memory().run(setup, async |process| {
        let run = start(&process, "asks", Value::Null).await;
        settled(&process, run).await;
        gate.hold_message("slow");
        let slow = tokio::spawn({
            let process = process.clone();
            async move { answer(&process, run, "slow", 2).await }
        });
        gate.reading(1).await;
        answer(&process, run, "quick", 1).await.unwrap();
        settled(&process, run).await;
        gate.release_reads();
        let slow = slow.await.unwrap().unwrap();
        let told = unpack(&slow.delivered);
        assert_eq!((told.order, told.primary, told.problems), (2, false, 0));
        assert_eq!(slow.view.state, StateName::InputRequired, "the second question is still open");
        let lines = crate::kit::told(&process, run).await;
        assert_eq!(lines.iter().filter(|line| line.contains("A word?")).count(), 1);
    });
}

/// Proves L16.
#[test]
fn an_answer_to_a_question_that_was_answered_is_told_so_and_not_taken_for_the_next() {
    World::memory().run(registry![Asks(Probe::new())], async |process| {
        let run = start(&process, "asks", Value::Null).await;
        let first = settled(&process, run).await.question.unwrap().id;
        answer(&process, run, "1", 1).await.unwrap();
        settled(&process, run).await;
        let mut late = answer_to(run, "2", json!("a fine word"));
        late.question = Some(first);
        let late = process.deliver(late).await.unwrap();
        let told_late = unpack(&late.delivered);
        assert_eq!((told_late.order, told_late.primary, told_late.problems), (2, false, 1));
        assert_eq!(late.view.state, StateName::InputRequired);
        answer(&process, run, "3", "word").await.unwrap();
        assert_eq!(ended(&process, run).await.output, json!([1, "word"]));
        assert_eq!(told(&process, run).await.len(), 7);
    });
}

workflow!(Busy, "busy", |probe, ctx, _input: Value| -> () {
    ctx.status("busy").await;
    probe.gate("done").await;
    Ok(())
});

/// Proves L16.
#[test]
fn a_message_to_a_run_that_asks_nothing_joins_its_history() {
    let probe = Probe::new();
    World::memory().run(registry![Busy(probe.clone())], async |process| {
        let run = start(&process, "busy", Value::Null).await;
        probe.until("at done", 1).await;
        let noted = answer(&process, run, "hello", "hello").await.unwrap();
        assert_eq!(noted.delivered, Delivered::Noted);
        let again = answer(&process, run, "hello", "hello").await.unwrap();
        assert!(again.repeated);
        probe.open("done");
        let view = ended(&process, run).await;
        let heard = view.history().filter(|message| message.id.as_str() == "hello").count();
        assert_eq!(heard, 1);
    });
}
