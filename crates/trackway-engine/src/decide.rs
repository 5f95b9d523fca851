//! What a command does to a run. There is one file per family of commands; each ends with its effects.

use serde_json::json;
use trackway_domain::{
    ChildOutcome, Command, Errand, Event, Failure, Message, Role, RunId, State, StateName, Submission,
    TimerKey,
};

use crate::{
    Decision, DecisionEnv, Effect, Refusal, Run,
    first_answer::first_answer,
    run::{FirstAnswerWaiter, OpenChild},
    transition,
};

mod adopt;
mod children;
mod deliver;
mod end_run;
mod guided;
mod park;
mod steps;
mod timers;
mod waiting_runs;
mod yields;

pub use adopt::event_for_import;
pub use guided::guided_run_accepts;

/// Decides one command. `run` is `None` only for a run that does not exist yet.
///
/// The events are legal by construction: each one is checked against the transition table before it is
/// returned, so that folding it cannot fail.
pub fn decide(run: Option<&Run>, command: Command, env: DecisionEnv<'_>) -> Result<Decision, Refusal> {
    let (run, command) = match (run, command) {
        (None, Command::Submit(submission)) => return Ok(submit_run(submission)),
        (None, Command::Guided(command)) => {
            return check_created_run(guided::decide_creation(*command, env)?);
        }
        (Some(_), Command::Submit(_)) => return Err(Refusal::AlreadySubmitted),
        (None, _) => return Err(Refusal::NotSubmitted),
        (Some(run), command) => (run, command),
    };
    let mut decision = match command {
        Command::Submit(_) => return Err(Refusal::AlreadySubmitted),
        Command::Yield { op, what } => yields::decide_yield(run, op, what, env)?,
        Command::FinishStep { op, outcome } => steps::finish_step(run, op, outcome)?,
        Command::RetryStep(retry) => steps::retry_step(run, retry)?,
        Command::RecordValue { op, value } => steps::record_value(run, op, value)?,
        Command::Sleep { op, due } => timers::start_sleep(run, op, due)?,
        Command::StartChild { op, child } => children::start_child(run, op, *child, env)?,
        Command::WithdrawQuestion { op } => yields::withdraw_question(run, &op),
        Command::End(result) => end_run::end_run(run, result, env)?,
        Command::Deliver(delivery) => deliver::decide_delivery(run, *delivery, env)?,
        Command::Cancel => end_run::cancel_run(run, env)?,
        Command::FireTimer(timer) => timers::fire_timer(run, timer, env),
        Command::ReceiveChildOutcome { child, outcome } => {
            children::receive_child_outcome(run, child, outcome)
        }
        Command::ReceiveFirstAnswer { from, reply_to, answer } => {
            children::receive_first_answer(run, from, reply_to, answer)
        }
        Command::UpdateWaitingRun { run: child, report_seq, waiting } => {
            waiting_runs::update_waiting_run(run, child, report_seq, waiting, env)
        }
        Command::Adopt => adopt::adopt_run(run)?,
        Command::Park(evidence) => park::park_run(run, evidence, env)?,
        Command::Unpark => park::unpark_run(run),
        Command::Guided(command) => guided::decide_guided(run, *command, env)?,
    };
    check_transitions(&run.state, &decision.events)?;
    decision.effects.extend(waiting_runs::parent_notifications(run, &decision.events));
    if let Some(FirstAnswerWaiter { by: to, reply_to }) = run.first_answer_waiter.clone()
        && let Some(answer) = first_answer(&decision.events)
    {
        let errand = Errand::DeliverFirstAnswer { to, from: run.id(), reply_to, answer };
        decision.effects.push(Effect::AddErrand(errand));
    }
    Ok(decision)
}

fn submit_run(submission: Box<Submission>) -> Decision {
    let mut effects = vec![Effect::Drive];
    if let Some(due) = submission.deadline {
        effects.push(Effect::SetTimer(TimerKey::Deadline, due));
    }
    Decision { events: vec![Event::Submitted(submission)], effects, ..Decision::default() }
}

/// A run that starts with more events than its submission.
fn check_created_run(decision: Decision) -> Result<Decision, Refusal> {
    check_transitions(&State::Submitted, decision.events.get(1..).unwrap_or_default())?;
    Ok(decision)
}

/// Checks the events against the transition table without changing the run.
fn check_transitions(state: &State, events: &[Event]) -> Result<(), Refusal> {
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
fn start_if_submitted(run: &Run) -> Result<Vec<Event>, Refusal> {
    let state = run.state.name();
    if state.is_terminal() {
        return Err(Refusal::Ended { state });
    }
    Ok(if state == StateName::Submitted { vec![Event::Started] } else { Vec::new() })
}

/// The state of the run after [`start_if_submitted`].
fn state_after_start(run: &Run) -> StateName {
    match run.state.name() {
        StateName::Submitted => StateName::Working,
        state => state,
    }
}

fn new_agent_message(env: DecisionEnv<'_>, parts: Vec<trackway_domain::Part>) -> Message {
    Message::new(new_message_id(env), Role::Agent, parts)
}

fn new_message_id(env: DecisionEnv<'_>) -> trackway_domain::MessageId {
    trackway_domain::MessageId::from_uuid((env.ids)())
}

/// The effects of the end of a run: its program stops, its timers are cleared, its parent is notified,
/// and children without a waiting parent are cancelled. The children of a completed run continue. A
/// dispatched child continues unless the run was cancelled.
fn effects_of_end(run: &Run, outcome: ChildOutcome) -> Vec<Effect> {
    let mut effects = vec![Effect::Stop];
    if !run.timers.is_empty() {
        effects.push(Effect::ClearTimers);
    }
    let goes_with_it = |child: &OpenChild| match outcome.state {
        StateName::Completed => false,
        StateName::Canceled => true,
        _ => !child.dispatched,
    };
    let children = run.children.iter().filter(|child| goes_with_it(child));
    effects.extend(children.map(|child| Effect::AddErrand(Errand::CancelChild { child: child.run })));
    if let Some(parent) = run.submission.parent {
        effects.push(Effect::AddErrand(Errand::NotifyParent { parent, child: run.id(), outcome }));
    }
    effects
}

/// The exit steps of the run, if its program can no longer run them.
fn exit_workflow_effect(run: &Run, how: &str, env: DecisionEnv<'_>) -> Option<Effect> {
    let workflow = run.submission.exit.clone()?;
    let input = json!({ "context": run.submission.input, "run": run.id(), "ended": how });
    Some(Effect::AddErrand(Errand::RunExit {
        of: run.id(),
        exit: RunId::new((env.ids)()),
        session: run.submission.session.clone(),
        caller: run.submission.caller.clone(),
        workflow,
        input,
    }))
}

fn fail_run(run: &Run, mut events: Vec<Event>, failure: Failure, env: DecisionEnv<'_>) -> Decision {
    let outcome = ChildOutcome {
        state: StateName::Failed,
        output: serde_json::Value::Null,
        message: Some(failure.message.clone()),
    };
    events.push(Event::Failed { failure, message_id: new_message_id(env) });
    Decision { events, effects: effects_of_end(run, outcome), ..Decision::default() }
}

#[cfg(test)]
mod tests;
