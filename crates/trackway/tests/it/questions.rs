//! Questions: typed answers, several at once, questions that race a timer.

use std::time::Duration;

use futures_util::future::Either;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use trackway::{Artifact, Part};
use trackway_domain::{Event, StateName};
use trackway_testkit::{PausingInterceptor, ProcessSetup, TestWorld};

use crate::support::{
    Probe, answer, event_names, start, visible_updates, wait_for_event, wait_until_ended, wait_until_idle,
};

const MINUTE: Duration = Duration::from_secs(60);

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Form {
    amount: u32,
    note: Option<String>,
}

workflow!(Asks, "asks", |_probe, ctx, _input: Value| -> String {
    let preview = Artifact::data("preview.json", json!({"amount": 100}))?;
    let form: Form = ctx.ask([Part::text("How much?"), Part::text("(in euro)")]).artifact(preview).await;
    let signature: String = ctx.authorize("Sign, please.").await;
    Ok(format!("{} {:?} {signature}", form.amount, form.note))
});

/// Proves L5, L6, L9, L14.
#[test]
fn an_answer_has_the_type_that_was_asked_for_and_a_wrong_one_changes_nothing() {
    TestWorld::with_memory_store().run_to_completion(registry![Asks(Probe::new())], async |process| {
        let run = start(&process, "asks", Value::Null).await;
        let view = wait_until_idle(&process, run).await;
        let schema = &view.status_message().unwrap().parts[0].metadata["schema"];
        assert_eq!(schema["required"], json!(["amount"]));
        let wrong = answer(&process, run, "wrong", json!({"amount": -1, "more": 1})).await.unwrap();
        let trackway_engine::MessageDeliveryOutcome::Answer { problems, primary, .. } = wrong.delivered
        else {
            panic!()
        };
        assert_eq!((problems.len(), primary), (2, false));
        answer(&process, run, "right", json!({"amount": 7})).await.unwrap();
        wait_until_idle(&process, run).await;
        answer(&process, run, "signed", "ok").await.unwrap();
        assert_eq!(wait_until_ended(&process, run).await.output, json!("7 None ok"));
        assert_eq!(
            visible_updates(&process, run).await,
            [
                "submitted",
                "working",
                "+preview.json",
                "input-required: How much? (in euro)",
                "input-required: How much? (in euro) The answer was not accepted:\n\
                 - /amount: -1 is less than the minimum of 0\n- /more: \"more\" is not known here",
                "working",
                "auth-required: Sign, please.",
                "working",
                "completed.",
            ]
        );
    });
}

workflow!(AsksBoth, "asks-both", |probe, ctx, _input: Value| -> Value {
    let _gone = probe.guard("gone");
    let (first, second): (String, u32) =
        ctx.join(ctx.ask("First?").into_future(), ctx.ask("Second?").into_future()).await;
    Ok(json!([first, second]))
});

/// Proves L12, L13.
#[test]
fn two_questions_at_once_are_put_one_after_the_other() {
    let (world, probe) = (TestWorld::with_memory_store(), Probe::new());
    world.run_to_completion(registry![AsksBoth(probe.clone())], async |process| {
        let run = start(&process, "asks-both", Value::Null).await;
        wait_until_idle(&process, run).await;
        probe.wait_for_mark("gone", 1).await;
        answer(&process, run, "1", "one").await.unwrap();
        wait_until_idle(&process, run).await;
        answer(&process, run, "2", 2).await.unwrap();
        assert_eq!(wait_until_ended(&process, run).await.output, json!(["one", 2]));
        assert_eq!(
            visible_updates(&process, run).await,
            [
                "submitted",
                "working",
                "input-required: First?",
                "working",
                "input-required: Second?",
                "working",
                "completed.",
            ]
        );
    });
}

workflow!(Impatient, "impatient", |_probe, ctx, _input: Value| -> Value {
    // Its log is too long to stay in memory, so that it is read again.
    for _ in 0..100 {
        ctx.random().await;
    }
    let first = match ctx.select(ctx.ask::<u32>("Quick?").into_future(), ctx.sleep(MINUTE)).await {
        Either::Left(answer) => json!(answer),
        Either::Right(()) => json!("too late"),
    };
    ctx.status(format!("chose {first}")).await;
    let last: u32 = ctx.ask("Really?").await;
    Ok(json!([first, last]))
});

/// Proves L12, L13, X2.
#[test]
fn a_question_that_loses_to_a_timer_is_withdrawn_and_the_run_goes_on() {
    let world = TestWorld::with_sqlite_store();
    let run = world.run_to_completion(registry![Impatient(Probe::new())], async |process| {
        let run = start(&process, "impatient", Value::Null).await;
        let question = wait_until_idle(&process, run).await.question.unwrap().id;
        wait_for_event(&process, run, |event| matches!(event, Event::Slept { .. })).await;
        process.clock.advance(MINUTE);
        let chose =
            |event: &Event| matches!(event, Event::Asked { question: asked, .. } if asked.id != question);
        wait_for_event(&process, run, chose).await;
        let mut late = trackway_testkit::answer_delivery(run, "late", json!(1));
        late.question = Some(question);
        let late = process.deliver_message(late).await.unwrap();
        assert_eq!(late.view.state, StateName::InputRequired, "the next question stays open");
        run
    });
    world.run_to_completion(registry![Impatient(Probe::new())], async |process| {
        answer(&process, run, "last", 2).await.unwrap();
        assert_eq!(wait_until_ended(&process, run).await.output, json!(["too late", 2]));
        assert_eq!(
            visible_updates(&process, run).await,
            [
                "submitted",
                "working",
                "input-required: Quick?",
                "working",
                "working: chose \"too late\"",
                "input-required: Really?",
                "working",
                "completed.",
            ]
        );
    });
}

/// Proves L12, L13, X2.
#[test]
fn an_answer_that_comes_before_the_timer_wins_and_the_timer_does_no_harm() {
    let world = TestWorld::with_sqlite_store();
    let run = world.run_to_completion(registry![Impatient(Probe::new())], async |process| {
        let run = start(&process, "impatient", Value::Null).await;
        wait_until_idle(&process, run).await;
        answer(&process, run, "quick", 1).await.unwrap();
        wait_for_event(&process, run, |event| matches!(event, Event::Status { .. })).await;
        wait_until_idle(&process, run).await;
        process.clock.advance(MINUTE);
        wait_for_event(&process, run, |event| matches!(event, Event::Woke { .. })).await;
        run
    });
    world.run_to_completion(registry![Impatient(Probe::new())], async |process| {
        answer(&process, run, "last", 2).await.unwrap();
        assert_eq!(wait_until_ended(&process, run).await.output, json!([1, 2]));
    });
}

/// Proves L13, X2.
///
/// Both the answer and the timer come before the program runs again. The first one wins, live and on
/// every replay. The sender of an answer that comes second learns that: no answer is acknowledged and
/// then not used.
#[test]
fn when_an_answer_and_a_timer_race_the_log_decides_and_replays_agree() {
    for answer_first in [true, false] {
        let world = TestWorld::with_memory_store();
        let (run, question) = world.run_to_completion(registry![Impatient(Probe::new())], async |process| {
            let run = start(&process, "impatient", Value::Null).await;
            let question = wait_until_idle(&process, run).await.question.unwrap().id;
            wait_for_event(&process, run, |event| matches!(event, Event::Slept { .. })).await;
            process.wait_until_quiet().await;
            (run, question)
        });
        // The program cannot read its log before both are in it.
        let gate = std::sync::Arc::new(PausingInterceptor::new());
        let setup = ProcessSetup::from(registry![Impatient(Probe::new())]).with_interceptor(gate.clone());
        let expected = if answer_first { json!([1, 2]) } else { json!(["too late", 2]) };
        world.run_to_completion(setup, async |process| {
            let mut watch = process.watch_run(&trackway_testkit::local_run_address(run), 0).await.unwrap();
            while !matches!(watch_next(&mut watch).await, Event::Slept { .. }) {}
            // Makes the answer's type known here; otherwise the log would have to be read for it.
            let other = start(&process, "impatient", Value::Null).await;
            wait_for_event(&process, other, |event| matches!(event, Event::Slept { .. })).await;
            gate.pause_reads(run);
            let mut wake = async || {
                process.clock.advance(MINUTE);
                while !matches!(watch_next(&mut watch).await, Event::Woke { .. }) {}
            };
            if !answer_first {
                wake().await;
            }
            let quick = tokio::spawn({
                let process = process.clone();
                // It names its question, so a late answer does not go to the next question.
                let mut quick = trackway_testkit::answer_delivery(run, "quick", json!(1));
                quick.question = Some(question);
                async move { process.deliver_message(quick).await.unwrap() }
            });
            let taken = if answer_first {
                let taken = quick.await.unwrap();
                wake().await;
                gate.resume_reads();
                taken
            } else {
                gate.wait_for_paused_reads(1).await;
                tokio::task::yield_now().await;
                assert!(!quick.is_finished(), "nobody knows yet whether it will be used");
                gate.resume_reads();
                quick.await.unwrap()
            };
            wait_for_event(&process, run, |event| matches!(event, Event::Status { .. })).await;
            let order: Vec<_> = event_names(&process, run).await;
            let place = |name| order.iter().position(|event| *event == name);
            assert_eq!(place("resumed").is_some(), answer_first, "{order:?}");
            assert!(place("resumed") < place("woke"), "{order:?}");
            let trackway_engine::MessageDeliveryOutcome::Answer { primary, .. } = taken.delivered else {
                panic!("{order:?}")
            };
            assert_eq!(primary, answer_first, "an answer is primary exactly where it is used");
        });
        world.run_to_completion(registry![Impatient(Probe::new())], async |process| {
            wait_until_idle(&process, run).await;
            answer(&process, run, "last", 2).await.unwrap();
            let view = wait_until_idle(&process, run).await;
            assert_eq!((view.parked, view.output), (None, expected));
        });
    }
}

async fn watch_next(watch: &mut trackway_runtime::RunWatch) -> Event {
    watch.next_event().await.unwrap().unwrap().event
}

workflow!(Crowd, "crowd", |probe, ctx, count: u64| -> u64 {
    // More futures than `join_all` polls without checking which of them was woken.
    let branches = (0..count).map(|number| {
        let ctx = &ctx;
        async move {
            let ask = ctx.ask::<u64>(format!("{number}?")).into_future();
            let elsewhere = async {
                match number {
                    // Not an await of the context, so the log does not contain it.
                    0 => probe.wait_at_gate("elsewhere").await,
                    number => ctx.sleep(MINUTE * number as u32).await,
                }
            };
            match ctx.select(ask, elsewhere).await {
                Either::Left(answer) => answer,
                Either::Right(()) => 1_000,
            }
        }
    });
    // A step keeps the program in memory for as long as it takes.
    let busy = ctx.step("busy", |_| async {
        probe.wait_at_gate("end of work").await;
        Ok::<_, std::io::Error>(())
    });
    let (answers, worked) = ctx.join(ctx.join_all(branches), busy.into_future()).await;
    worked?;
    Ok(answers.iter().sum())
});

/// Proves L12, L13.
#[test]
fn a_withdrawn_question_makes_room_for_the_next_of_many() {
    let probe = Probe::new();
    TestWorld::with_memory_store().run_to_completion(registry![Crowd(probe.clone())], async |process| {
        let run = start(&process, "crowd", 40).await;
        let first = wait_until_idle(&process, run).await.question.unwrap().id;
        let last = |event: &Event| matches!(event, Event::Slept { op, .. } if op.occurrence == 38);
        wait_for_event(&process, run, last).await;
        probe.open_gate("elsewhere");
        wait_for_event(&process, run, |event| matches!(event, Event::Withdrawn { .. })).await;
        let next = |event: &Event| matches!(event, Event::Asked { question, .. } if question.id != first);
        wait_for_event(&process, run, next).await;
        probe.open_gate("end of work");
        for number in 1..40 {
            let id = format!("a{number}");
            wait_until_idle(&process, run).await;
            answer(&process, run, &id, number).await.unwrap();
        }
        assert_eq!(wait_until_ended(&process, run).await.output, json!(1_000 + (1..40).sum::<u64>()));
    });
}
