//! How a run ends: its program returns, or a caller cancels it.

use serde_json::Value;
use trackway_domain::{ChildOutcome, Event, Failure, StateName};

use super::{begin, ended, exit, failed, message_id};
use crate::{Decision, Env, Refusal, Run};

pub(super) fn end(
    run: &Run,
    result: Result<Value, Failure>,
    env: Env<'_>,
) -> Result<Decision, Refusal> {
    let mut events = begin(run)?;
    // A program that returns while a question is open no longer needs its answer.
    if let Some(question) = run.state.question() {
        events.push(Event::Withdrawn { question: question.id });
    }
    match result {
        Ok(output) => {
            let outcome =
                ChildOutcome { state: StateName::Completed, output: output.clone(), message: None };
            // After an artifact, clients that join all content would get the text twice.
            let says = output.as_str().is_some_and(|text| !text.is_empty()) && !run.has_artifacts;
            let message_id = says.then(|| message_id(env));
            events.push(Event::Completed { output, message_id });
            Ok(Decision { events, effects: ended(run, outcome), ..Decision::default() })
        }
        Err(failure) => Ok(failed(run, events, failure, env)),
    }
}

pub(super) fn cancel(run: &Run, env: Env<'_>) -> Result<Decision, Refusal> {
    let state = run.state.name();
    if state.is_terminal() {
        return Err(Refusal::Ended { state });
    }
    let outcome = ChildOutcome { state: StateName::Canceled, output: Value::Null, message: None };
    let mut effects = ended(run, outcome);
    effects.extend(exit(run, "canceled", env));
    Ok(Decision { events: vec![Event::Canceled], effects, ..Decision::default() })
}
