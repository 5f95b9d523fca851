//! How a run ends: its program returns, or a caller cancels it.

use serde_json::Value;
use trackway_domain::{ChildOutcome, Event, Failure, StateName};

use super::{effects_of_run_end, exit_workflow_effect, fail_run, new_message_id, started_event_if_submitted};
use crate::{CommandRefusal, Decision, DecisionEnv, Run};

pub(super) fn end_run_with_result(
    run: &Run,
    result: Result<Value, Failure>,
    env: DecisionEnv<'_>,
) -> Result<Decision, CommandRefusal> {
    let mut events = started_event_if_submitted(run)?;
    // A program that returns while a question is open no longer needs its answer.
    if let Some(question) = run.state.open_question() {
        events.push(Event::Withdrawn { question: question.id });
    }
    match result {
        Ok(output) => {
            let outcome = ChildOutcome { state: StateName::Completed, output: output.clone(), message: None };
            // After an artifact, clients that join all content would get the text twice.
            let says = output.as_str().is_some_and(|text| !text.is_empty()) && !run.has_artifacts;
            let message_id = says.then(|| new_message_id(env));
            events.push(Event::Completed { output, message_id });
            Ok(Decision { events, effects: effects_of_run_end(run, outcome, env), ..Decision::default() })
        }
        Err(failure) => Ok(fail_run(run, events, failure, env)),
    }
}

pub(super) fn cancel_run(run: &Run, env: DecisionEnv<'_>) -> Result<Decision, CommandRefusal> {
    let state = run.state.name();
    if state.is_terminal() {
        return Err(CommandRefusal::Ended { state });
    }
    let outcome = ChildOutcome { state: StateName::Canceled, output: Value::Null, message: None };
    let mut effects = effects_of_run_end(run, outcome, env);
    effects.extend(exit_workflow_effect(run, "canceled", env));
    Ok(Decision { events: vec![Event::Canceled], effects, ..Decision::default() })
}
