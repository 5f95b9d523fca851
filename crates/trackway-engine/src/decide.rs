//! What a command does to a run. There is one file per family of commands; each ends with its effects.

use serde_json::{Value, json};
use trackway_domain::{
    ChildOutcome, CrossRunErrand, Event, Failure, Message, MessageRole, Op, RunCommand, RunId, RunSubmission,
    State, StateName, TimerKey,
};

use crate::{
    CommandRefusal, Decision, DecisionEffect, DecisionEnv, Run,
    first_answer::first_answer_in_events,
    run::{FirstAnswerWaiter, OpenChild},
    transition,
};

mod child_runs;
mod end_run;
mod guided_commands;
mod imported_runs;
mod message_delivery;
mod program_yields;
mod run_parking;
mod run_timers;
mod step_results;
mod waiting_descendants;

pub use guided_commands::check_guided_run_accepts_events;
pub use imported_runs::imported_event_if_resumable;

/// Decides one command. `run` is `None` only for a run that does not exist yet.
///
/// The events are legal by construction: each one is checked against the transition table before it is
/// returned, so that folding it cannot fail.
pub fn decide(
    run: Option<&Run>,
    command: RunCommand,
    env: DecisionEnv<'_>,
) -> Result<Decision, CommandRefusal> {
    let (run, command) = match (run, command) {
        (None, RunCommand::Submit(submission)) => return Ok(submit_run(submission)),
        (None, RunCommand::Guided(command)) => {
            return check_creation_transitions(guided_commands::decide_guided_run_creation(*command, env)?);
        }
        (Some(_), RunCommand::Submit(_)) => return Err(CommandRefusal::AlreadySubmitted),
        (None, _) => return Err(CommandRefusal::NotSubmitted),
        (Some(run), command) => (run, command),
    };
    let mut decision = match command {
        RunCommand::Submit(_) => return Err(CommandRefusal::AlreadySubmitted),
        RunCommand::Yield { op, what } => program_yields::decide_yield(run, op, what, env)?,
        RunCommand::FinishStep { op, outcome } => step_results::record_step_outcome(run, op, outcome)?,
        RunCommand::RetryStep(retry) => step_results::record_step_retry(run, retry)?,
        RunCommand::NoteStep { op, note } => step_results::record_step_note(run, op, note)?,
        RunCommand::ReleaseStepNote { op, note } => step_results::release_step_note(run, op, note, env)?,
        RunCommand::RecordValue { op, value } => step_results::record_nondeterministic_value(run, op, value)?,
        RunCommand::Sleep { op, due } => run_timers::start_sleep(run, op, due)?,
        RunCommand::StartChild { op, child } => child_runs::start_child(run, op, *child, env)?,
        RunCommand::WithdrawQuestion { op } => program_yields::withdraw_question(run, &op),
        RunCommand::End(result) => end_run::end_run_with_result(run, result, env)?,
        RunCommand::Deliver(delivery) => message_delivery::decide_message_delivery(run, *delivery, env)?,
        RunCommand::Cancel => end_run::cancel_run(run, env)?,
        RunCommand::FireTimer(timer) => run_timers::fire_timer(run, timer, env),
        RunCommand::ReceiveChildOutcome { child, outcome } => {
            child_runs::receive_child_outcome(run, child, outcome)
        }
        RunCommand::ReceiveFirstAnswer { from, reply_to, answer } => {
            child_runs::receive_child_first_answer(run, from, reply_to, answer)
        }
        RunCommand::UpdateWaitingRun { run: child, report_seq, waiting } => {
            waiting_descendants::update_waiting_descendant(run, child, report_seq, waiting, env)
        }
        RunCommand::Adopt => imported_runs::adopt_imported_run(run)?,
        RunCommand::Park(evidence) => run_parking::park_run(run, evidence, env)?,
        RunCommand::Unpark => run_parking::unpark_run(run),
        RunCommand::Guided(command) => guided_commands::decide_guided_command(run, *command, env)?,
    };
    check_transitions(&run.state, &decision.events)?;
    decision.effects.extend(waiting_descendants::waiting_notifications_for_parent(run, &decision.events));
    if let Some(FirstAnswerWaiter { by: to, reply_to }) = run.first_answer_waiter.clone()
        && let Some(answer) = first_answer_in_events(&decision.events)
    {
        let errand = CrossRunErrand::DeliverFirstAnswer { to, from: run.id(), reply_to, answer };
        decision.effects.push(DecisionEffect::AddErrand(errand));
    }
    Ok(decision)
}

fn submit_run(submission: Box<RunSubmission>) -> Decision {
    let mut effects = vec![DecisionEffect::Drive];
    if let Some(due) = submission.deadline {
        effects.push(DecisionEffect::SetTimer(TimerKey::Deadline, due));
    }
    Decision { events: vec![Event::Submitted(submission)], effects, ..Decision::default() }
}

/// A run that starts with more events than its submission.
fn check_creation_transitions(decision: Decision) -> Result<Decision, CommandRefusal> {
    check_transitions(&State::Submitted, decision.events.get(1..).unwrap_or_default())?;
    Ok(decision)
}

/// Checks the events against the transition table without changing the run.
fn check_transitions(state: &State, events: &[Event]) -> Result<(), CommandRefusal> {
    let mut moved: Option<State> = None;
    for event in events {
        if let Some(next) = transition(moved.as_ref().unwrap_or(state), event)? {
            moved = Some(next);
        }
    }
    Ok(())
}

/// Starts the events of a program's command. Refuses if the run has ended, and adds `Started` before
/// the first one.
fn started_event_if_submitted(run: &Run) -> Result<Vec<Event>, CommandRefusal> {
    let state = run.state.name();
    if state.is_terminal() {
        return Err(CommandRefusal::Ended { state });
    }
    Ok(if state == StateName::Submitted { vec![Event::Started] } else { Vec::new() })
}

/// The state of the run after [`started_event_if_submitted`].
fn state_after_start(run: &Run) -> StateName {
    match run.state.name() {
        StateName::Submitted => StateName::Working,
        state => state,
    }
}

fn new_agent_message(env: DecisionEnv<'_>, parts: Vec<trackway_domain::Part>) -> Message {
    Message::new(new_message_id(env), MessageRole::Agent, parts)
}

fn new_message_id(env: DecisionEnv<'_>) -> trackway_domain::MessageId {
    trackway_domain::MessageId::from_uuid((env.ids)())
}

/// The effects of the end of a run: its program stops, its timers are cleared, its parent is notified,
/// what its unfinished steps began elsewhere is released, and children without a waiting parent are
/// cancelled. The children of a completed run continue. A dispatched child continues unless the run was
/// cancelled.
fn effects_of_run_end(run: &Run, outcome: ChildOutcome, env: DecisionEnv<'_>) -> Vec<DecisionEffect> {
    let mut effects = vec![DecisionEffect::Stop];
    if !run.timers.is_empty() {
        effects.push(DecisionEffect::ClearTimers);
    }
    let goes_with_it = |child: &OpenChild| match outcome.state {
        StateName::Completed => false,
        StateName::Canceled => true,
        _ => !child.dispatched,
    };
    let children = run.children.iter().filter(|child| goes_with_it(child));
    effects.extend(
        children.map(|child| DecisionEffect::AddErrand(CrossRunErrand::CancelChild { child: child.run })),
    );
    if let Some(parent) = run.submission.parent {
        effects.push(DecisionEffect::AddErrand(CrossRunErrand::NotifyParent {
            parent,
            child: run.id(),
            outcome,
        }));
    }
    effects.extend(step_note_releases(run, env));
    effects
}

/// What the steps without an outcome began elsewhere. Of an imported run that nobody adopted it belongs to
/// the store that the run came from.
fn step_note_releases(run: &Run, env: DecisionEnv<'_>) -> impl Iterator<Item = DecisionEffect> {
    let notes = run.step_notes.iter().filter(move |_| !run.imported);
    notes.map(move |(op, note)| step_note_release(run, op.clone(), note.clone(), env))
}

fn step_note_release(run: &Run, op: Op, note: Value, env: DecisionEnv<'_>) -> DecisionEffect {
    DecisionEffect::AddErrand(CrossRunErrand::ReleaseStepNote {
        run: run.id(),
        op,
        owner: run.submission.caller.clone(),
        note,
        ended_at: env.now,
    })
}

/// The exit steps of the run, if its program can no longer run them.
fn exit_workflow_effect(run: &Run, end_kind: &str, env: DecisionEnv<'_>) -> Option<DecisionEffect> {
    let workflow = run.submission.exit.clone()?;
    let input = json!({ "context": run.submission.input, "run": run.id(), "ended": end_kind });
    Some(DecisionEffect::AddErrand(CrossRunErrand::RunExit {
        of: run.id(),
        exit: RunId::new((env.ids)()),
        session: run.submission.session.clone(),
        caller: run.submission.caller.clone(),
        workflow,
        input,
        call_chain: run.submission.call_chain.clone(),
    }))
}

fn fail_run(run: &Run, mut events: Vec<Event>, failure: Failure, env: DecisionEnv<'_>) -> Decision {
    let outcome = ChildOutcome {
        state: StateName::Failed,
        output: serde_json::Value::Null,
        message: Some(failure.message.clone()),
    };
    events.push(Event::Failed { failure, message_id: new_message_id(env) });
    Decision { events, effects: effects_of_run_end(run, outcome, env), ..Decision::default() }
}

#[cfg(test)]
mod tests;
