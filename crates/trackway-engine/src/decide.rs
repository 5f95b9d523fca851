//! What a command does to a run. There is one file per family of commands; each ends with its effects.

use serde_json::json;
use trackway_domain::{
    ChildOutcome, Command, Errand, Event, Failure, Message, Role, RunId, State, StateName,
    Submission, Timer,
};

use crate::{
    Decision, Effect, Env, Refusal, Run,
    answer::first_answer,
    run::{Awaited, OpenChild},
    transition,
};

mod adopt;
mod children;
mod deliver;
mod ends;
mod guided;
mod park;
mod steps;
mod timers;
mod waiting;
mod yields;

pub use adopt::import;
pub use guided::accepts as guided_run_accepts;

/// Decides one command. `run` is `None` only for a run that does not exist yet.
///
/// The events are legal by construction: each one is checked against the transition table before it is
/// returned, so that folding it cannot fail.
pub fn decide(run: Option<&Run>, command: Command, env: Env<'_>) -> Result<Decision, Refusal> {
    let (run, command) = match (run, command) {
        (None, Command::Submit(submission)) => return Ok(submit(submission)),
        (None, Command::Guided(command)) => return created(guided::begin(*command, env)?),
        (Some(_), Command::Submit(_)) => return Err(Refusal::AlreadySubmitted),
        (None, _) => return Err(Refusal::NotSubmitted),
        (Some(run), command) => (run, command),
    };
    let mut decision = match command {
        Command::Submit(_) => return Err(Refusal::AlreadySubmitted),
        Command::Yield { op, what } => yields::decide(run, op, what, env)?,
        Command::FinishStep { op, outcome } => steps::finish(run, op, outcome)?,
        Command::RetryStep(retry) => steps::retry(run, retry)?,
        Command::Draw { op, value } => steps::draw(run, op, value)?,
        Command::Sleep { op, due } => timers::sleep(run, op, due)?,
        Command::StartChild { op, child } => children::start(run, op, *child, env)?,
        Command::Withdraw { op } => yields::withdraw(run, &op),
        Command::End(result) => ends::end(run, result, env)?,
        Command::Deliver(delivery) => deliver::decide(run, *delivery, env)?,
        Command::Cancel => ends::cancel(run, env)?,
        Command::Fire(timer) => timers::fire(run, timer, env),
        Command::EndChild { child, outcome } => children::end(run, child, outcome),
        Command::TakeAnswer { from, reply_to, answer } => {
            children::answered(run, from, reply_to, answer)
        }
        Command::TakeWaiting { run: child, number, waits } => {
            waiting::take(run, child, number, waits, env)
        }
        Command::Adopt => adopt::adopt(run)?,
        Command::Park(evidence) => park::park(run, evidence, env)?,
        Command::Unpark => park::unpark(run),
        Command::Guided(command) => guided::decide(run, *command, env)?,
    };
    legal(&run.state, &decision.events)?;
    decision.effects.extend(waiting::owed(run, &decision.events));
    if let Some(Awaited { by: to, reply_to }) = run.awaited.clone()
        && let Some(answer) = first_answer(&decision.events)
    {
        let errand = Errand::TellAnswer { to, from: run.id(), reply_to, answer };
        decision.effects.push(Effect::Owe(errand));
    }
    Ok(decision)
}

fn submit(submission: Box<Submission>) -> Decision {
    let mut effects = vec![Effect::Drive];
    if let Some(due) = submission.deadline {
        effects.push(Effect::SetTimer(Timer::Deadline, due));
    }
    Decision { events: vec![Event::Submitted(submission)], effects, ..Decision::default() }
}

/// A run that starts with more events than its submission.
fn created(decision: Decision) -> Result<Decision, Refusal> {
    legal(&State::Submitted, decision.events.get(1..).unwrap_or_default())?;
    Ok(decision)
}

/// Checks the events against the transition table without changing the run.
fn legal(state: &State, events: &[Event]) -> Result<(), Refusal> {
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
fn begin(run: &Run) -> Result<Vec<Event>, Refusal> {
    let state = run.state.name();
    if state.is_terminal() {
        return Err(Refusal::Ended { state });
    }
    Ok(if state == StateName::Submitted { vec![Event::Started] } else { Vec::new() })
}

/// The state of the run after [`begin`].
fn spoken_in(run: &Run) -> StateName {
    match run.state.name() {
        StateName::Submitted => StateName::Working,
        state => state,
    }
}

fn agent_message(env: Env<'_>, parts: Vec<trackway_domain::Part>) -> Message {
    Message::new(message_id(env), Role::Agent, parts)
}

fn message_id(env: Env<'_>) -> trackway_domain::MessageId {
    trackway_domain::MessageId::made((env.ids)())
}

/// The effects of the end of a run: its program stops, its timers are cleared, its parent is notified,
/// and children without a waiting parent are cancelled. The children of a completed run continue. A
/// dispatched child continues unless the run was cancelled.
fn ended(run: &Run, outcome: ChildOutcome) -> Vec<Effect> {
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
    effects.extend(children.map(|child| Effect::Owe(Errand::CancelChild { child: child.run })));
    if let Some(parent) = run.submission.parent {
        effects.push(Effect::Owe(Errand::TellParent { parent, child: run.id(), outcome }));
    }
    effects
}

/// The exit steps of the run, if its program can no longer run them.
fn exit(run: &Run, how: &str, env: Env<'_>) -> Option<Effect> {
    let workflow = run.submission.exit.clone()?;
    let input = json!({ "context": run.submission.input, "run": run.id(), "ended": how });
    Some(Effect::Owe(Errand::RunExit {
        of: run.id(),
        exit: RunId::new((env.ids)()),
        session: run.submission.session.clone(),
        caller: run.submission.caller.clone(),
        workflow,
        input,
    }))
}

fn failed(run: &Run, mut events: Vec<Event>, failure: Failure, env: Env<'_>) -> Decision {
    let outcome = ChildOutcome {
        state: StateName::Failed,
        output: serde_json::Value::Null,
        message: Some(failure.message.clone()),
    };
    events.push(Event::Failed { failure, message_id: message_id(env) });
    Decision { events, effects: ended(run, outcome), ..Decision::default() }
}

#[cfg(test)]
mod tests;
