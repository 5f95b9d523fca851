//! Which events share an append: a commit costs the same for one event as for ten.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use trackway_domain::{Event, StateName};
use trackway_ports::{Append, AppendCallback, AppendError, Journal};
use trackway_testkit::{JournalInterceptor, ProcessSetup, TestWorld, local_run_address};

use crate::support::{Probe, answer, start, start_as, visible_updates, wait_until_ended, wait_until_idle};

/// The names of the events of every append; the events of a run that begins in the same append follow a
/// `>`.
#[derive(Debug, Default)]
struct RecordingAppends(Mutex<Vec<String>>);

impl RecordingAppends {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

impl JournalInterceptor for RecordingAppends {
    fn intercept_append(&self, journal: &Arc<dyn Journal>, append: Append, done: AppendCallback) {
        let names =
            |append: &Append| append.events.iter().map(Event::event_name).collect::<Vec<_>>().join(" ");
        let starts = append.started_runs.iter().map(|start| format!(" > {}", names(start)));
        let line = names(&append) + &starts.collect::<String>();
        self.0.lock().unwrap().push(line);
        journal.append(append, done);
    }
}

workflow!(Speaks, "speaks", |_probe, ctx, _input: Value| -> u32 {
    ctx.status("one").await;
    ctx.status("two").await;
    Ok(2)
});

workflow!(Works, "works", |probe, ctx, _input: Value| -> u32 {
    ctx.status("one").await;
    ctx.step("work", |_| async {
        probe.mark("worked");
        Ok::<_, std::io::Error>(())
    })
    .await?;
    Ok(1)
});

workflow!(Above, "above", |_probe, ctx, _input: Value| -> u32 {
    let child = ctx.child_named::<u32>("speaks", Value::Null).await?;
    Ok(child.output().await? + 1)
});

/// Proves L1, X1: what a run does before its first effect is durable with its submission, or not at all.
#[test]
fn a_run_without_effects_is_one_append() {
    for world in [TestWorld::with_sqlite_store(), TestWorld::with_memory_store()] {
        let appends = Arc::new(RecordingAppends::default());
        let setup = ProcessSetup::from(registry![Speaks(Probe::new())]).with_interceptor(appends.clone());
        world.run_to_completion(setup, async |process| {
            let started = start_as(&process, "s", "speaks", Value::Null).await.unwrap();
            assert_eq!(started.view.state, StateName::Submitted, "as of the submission");
            let run = started.view.submission.run;
            // The handle keeps its run in memory.
            drop(started);
            assert_eq!(wait_until_ended(&process, run).await.output, json!(2));
            assert_eq!(
                visible_updates(&process, run).await,
                ["submitted", "working", "working: one", "working: two", "completed."]
            );
            process.wait_until_quiet().await;
        });
        assert_eq!(appends.take(), ["submitted started status status completed"]);
    }
}

workflow!(Asks, "asks", |probe, ctx, _input: Value| -> u32 {
    let number: u32 = ctx.ask("A number?").await;
    ctx.status("thanks").await;
    if number > 1 {
        ctx.step("work", |_| async {
            probe.mark("worked");
            Ok::<_, std::io::Error>(())
        })
        .await?;
    }
    Ok(number)
});

/// Proves L13, X1: what a run does by an answer before its next effect is durable with the answer, or not at
/// all. Its caller gets the run as it was at the answer.
#[test]
fn an_answer_and_what_the_run_does_by_it_are_one_append() {
    for world in [TestWorld::with_sqlite_store(), TestWorld::with_memory_store()] {
        let (appends, probe) = (Arc::new(RecordingAppends::default()), Probe::new());
        let setup = ProcessSetup::from(registry![Asks(probe.clone())]).with_interceptor(appends.clone());
        world.run_to_completion(setup, async |process| {
            for (number, expected) in
                [(1, &["resumed status completed"][..]), (2, &["resumed status", "step-done completed"])]
            {
                let run = start(&process, "asks", Value::Null).await;
                wait_until_idle(&process, run).await;
                process.wait_until_quiet().await;
                appends.take();
                let wrong = answer(&process, run, &format!("w{number}"), "x").await.unwrap();
                assert_eq!(wrong.view.state, StateName::InputRequired);
                // It holds the run in memory.
                drop(wrong);
                assert_eq!(appends.take(), ["refused"], "nothing else was done");
                let answered = answer(&process, run, &format!("a{number}"), number).await.unwrap();
                assert_eq!(answered.view.state, StateName::Working, "as of the answer");
                drop(answered);
                assert_eq!(wait_until_ended(&process, run).await.output, json!(number));
                process.wait_until_quiet().await;
                assert_eq!(appends.take(), expected);
            }
        });
        assert_eq!(probe.count("worked"), 1);
    }
}

/// Proves L7, X1.
#[test]
fn an_effect_waits_for_the_commit_of_what_was_before_it() {
    let (world, probe) = (TestWorld::with_sqlite_store(), Probe::new());
    let appends = Arc::new(RecordingAppends::default());
    let setup = ProcessSetup::from(registry![Works(probe.clone())]).with_interceptor(appends.clone());
    world.run_to_completion(setup, async |process| {
        let run = start(&process, "works", Value::Null).await;
        wait_until_ended(&process, run).await;
        process.wait_until_quiet().await;
    });
    assert_eq!(appends.take(), ["submitted started status", "step-done completed"]);
    assert_eq!(probe.count("worked"), 1);
}

/// Refuses every append that begins a run.
#[derive(Debug)]
struct RefusingStarts;

impl JournalInterceptor for RefusingStarts {
    fn intercept_append(&self, journal: &Arc<dyn Journal>, append: Append, done: AppendCallback) {
        match append.expected {
            0 => done(Err(AppendError::Unavailable { reason: "the disk is full".into() })),
            _ => journal.append(append, done),
        }
    }
}

/// Proves X1: a run that could not be recorded has done nothing.
#[test]
fn a_run_that_was_not_recorded_has_no_effects() {
    let (world, probe) = (TestWorld::with_memory_store(), Probe::new());
    let setup =
        ProcessSetup::from(registry![Works(probe.clone())]).with_interceptor(Arc::new(RefusingStarts));
    world.run_to_completion(setup, async |process| {
        assert!(start_as(&process, "s", "works", Value::Null).await.is_err());
        process.wait_until_quiet().await;
        assert_eq!(process.list_runs(Default::default(), None, 9).await.unwrap().len(), 0);
    });
    assert_eq!(probe.count("worked"), 0);
}

/// Proves L17: a child begins, and does what needs no effect, in the append of its parent; what it owes
/// the parent is one more.
#[test]
fn a_child_without_effects_is_in_the_append_of_its_parent() {
    for world in [TestWorld::with_sqlite_store(), TestWorld::with_memory_store()] {
        let appends = Arc::new(RecordingAppends::default());
        let registry = registry![Speaks(Probe::new()), Above(Probe::new())];
        let setup = ProcessSetup::from(registry).with_interceptor(appends.clone());
        world.run_to_completion(setup, async |process| {
            let run = start(&process, "above", Value::Null).await;
            assert_eq!(wait_until_ended(&process, run).await.output, json!(3));
            process.wait_until_quiet().await;
            let rows = process.list_runs(Default::default(), None, 9).await.unwrap();
            for row in rows {
                assert_eq!(row.state, StateName::Completed);
                let view = process.current_run_view(&local_run_address(row.id)).await.unwrap();
                assert_eq!(view.state, StateName::Completed);
            }
        });
        let appends = appends.take();
        assert_eq!(appends[0], "submitted started child-started > submitted started status status completed");
        // If the program was dropped in the meantime, its row and its end are separate appends.
        let rest: Vec<&str> = appends[1..].iter().flat_map(|names| names.split(' ')).collect();
        let rest: Vec<&str> = rest.into_iter().filter(|name| !name.is_empty()).collect();
        assert_eq!(rest, ["child-ended", "completed"], "{appends:?}");
    }
}
