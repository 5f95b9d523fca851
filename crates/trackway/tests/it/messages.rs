//! Messages: what a workflow can read of the messages that started and answered its run, and messages
//! that need no run.

use std::sync::Arc;

use serde_json::{Value, json};
use trackway::{Ctx, Message, Part, Stop, Workflow};
use trackway_domain::{Caller, File, FileSource};
use trackway_runtime::{DeliverMessageRequest, SubmitRunRequest};
use trackway_testkit::{TestWorld, local_run_address, user_message};

use crate::support::{Probe, start, wait_until_ended, wait_until_idle};

workflow!(Reads, "reads", |_probe, ctx, _input: Value| -> Value {
    let first = ctx.message().map(shape);
    let (answer, message) = ctx.ask::<Value>("More?").with_message().await;
    let last: String = ctx.ask("Done?").await;
    Ok(json!([first, answer, shape(&message), last]))
});

/// The id of a message and how many files it has.
fn shape(message: &Message) -> Value {
    let files = message.parts.iter().filter(|part| part.as_text().is_none()).count();
    json!([message.id, files])
}

fn file() -> Part {
    let source = FileSource::Uri("https://example.org/a.csv".to_owned());
    Part::file(File { name: None, mime_type: None, source })
}

/// Proves L2, L14, X2: the messages that began and answered a run are whole, also in a later process.
#[test]
fn a_workflow_reads_the_messages_that_began_and_answered_its_run() {
    let world = TestWorld::with_sqlite_store();
    let run = world.run_to_completion(registry![Reads(Probe::new())], async |process| {
        let submit = SubmitRunRequest {
            message: Some(user_message("first", file())),
            ..SubmitRunRequest::new("reads", Value::Null, Caller::local_without_auth())
        };
        let run = process.submit_run(submit).await.unwrap().view.submission.run;
        wait_until_idle(&process, run).await;
        let mut answer = user_message("second", Part::text("more"));
        answer.parts.push(file());
        let deliver = DeliverMessageRequest {
            to: local_run_address(run),
            session: None,
            message: answer,
            question: None,
            hook: None,
        };
        process.deliver_message(deliver).await.unwrap();
        wait_until_idle(&process, run).await;
        run
    });
    world.run_to_completion(registry![Reads(Probe::new())], async |process| {
        let last = user_message("third", Part::text("yes"));
        let deliver = DeliverMessageRequest {
            to: local_run_address(run),
            session: None,
            message: last,
            question: None,
            hook: None,
        };
        process.deliver_message(deliver).await.unwrap();
        let output = wait_until_ended(&process, run).await.output;
        assert_eq!(output, json!([["first", 1], "more", ["second", 1], "yes"]));
    });
}

workflow!(Unasked, "unasked", |_probe, ctx, _input: Value| -> bool { Ok(ctx.message().is_none()) });

/// Proves L2: a run that no message asked for says so.
#[test]
fn a_run_that_no_message_asked_for_has_none() {
    TestWorld::with_memory_store().run_to_completion(registry![Unasked(Probe::new())], async |process| {
        let run = start(&process, "unasked", Value::Null).await;
        assert_eq!(wait_until_ended(&process, run).await.output, json!(true));
    });
}

struct Helps;

impl Workflow for Helps {
    const NAME: &'static str = "helps";
    const DESCRIPTION: &'static str = "Says what it does when it is asked.";
    type Input = Value;
    type Output = ();

    async fn run(self: Arc<Self>, _ctx: Ctx, _input: Value) -> Result<(), Stop> {
        Ok(())
    }

    fn answer_without_run(&self, message: &Message) -> Option<Vec<Part>> {
        let asks = message.parts.iter().any(|part| part.as_text() == Some("help"));
        asks.then(|| vec![Part::text("I do nothing.")])
    }
}

/// A door can ask a program for an answer before it makes a run.
#[test]
fn a_workflow_may_answer_a_message_itself() {
    let registry = registry![Helps, Unasked(Probe::new())];
    let answer = |name: &str, text: &str| {
        registry.current_program(name).unwrap().answer_without_run(&user_message("m", Part::text(text)))
    };
    assert_eq!(answer("helps", "help"), Some(vec![Part::text("I do nothing.")]));
    assert_eq!(answer("helps", "run"), None);
    assert_eq!(answer("unasked", "help"), None, "most workflows answer by their runs alone");
}
