//! Children: runs that a run starts and waits for.

use serde_json::json;
use trackway_domain::{
    ChildFirstAnswer, ChildOutcome, Event, Message, MessageId, NewChildRun, Op, Part, RunId, RunSubmission,
};

use super::{new_agent_message, started_event_if_submitted, state_after_start};
use crate::{
    CommandRefusal, CommandReply, Decision, DecisionEffect, DecisionEnv, Run, run::ReceivedFirstAnswer,
};

/// The child starts with the append that records its start, so a visible child always exists. A message
/// that refers to the child notifies the parent's watchers. If the parent waits for the child's first
/// answer, the parent notifies them with that answer.
pub(super) fn start_child(
    run: &Run,
    op: Op,
    new: NewChildRun,
    env: DecisionEnv<'_>,
) -> Result<Decision, CommandRefusal> {
    let mut events = started_event_if_submitted(run)?;
    let child = RunId::new((env.ids)());
    let message = (!new.awaited).then(|| child_started_message(&new, child, env));
    let NewChildRun { workflow, description: _, input, awaited, deadline, exit } = new;
    let submission = RunSubmission {
        run: child,
        session: run.submission.session.clone(),
        workflow: workflow.clone(),
        caller: run.submission.caller.clone(),
        input: input.clone(),
        message: None,
        parent: Some(run.id()),
        awaited,
        deadline,
        guided: false,
        exit,
        forked_from: None,
        call_chain: run.submission.call_chain.clone(),
        linked_session: None,
    };
    let state = state_after_start(run);
    events.push(Event::ChildStarted { op, child, workflow, input, state, message, awaited });
    let effects = vec![DecisionEffect::StartChild(Box::new(submission))];
    Ok(Decision { events, effects, reply: CommandReply::ChildStarted(child) })
}

fn child_started_message(new: &NewChildRun, child: RunId, env: DecisionEnv<'_>) -> Message {
    let name = &new.workflow.name;
    let mut message = new_agent_message(env, vec![Part::text(format!("Started {name} as {child}"))]);
    message.references.push(child.to_string());
    let about = json!({ "workflowName": name, "description": new.description });
    message.metadata.insert("referencedWorkflow".into(), about);
    message
}

/// A run that this one waits for has given its first answer. A repeated delivery, or one to a run that
/// has ended, changes nothing.
pub(super) fn receive_child_first_answer(
    run: &Run,
    from: RunId,
    reply_to: Option<MessageId>,
    answer: ChildFirstAnswer,
) -> Decision {
    let told = ReceivedFirstAnswer { from, reply_to };
    if run.received_answers.contains(&told) || run.state.name().is_terminal() {
        return Decision::default();
    }
    let ReceivedFirstAnswer { from, reply_to } = told;
    Decision {
        events: vec![Event::RunAnswered { run: from, reply_to, answer }],
        effects: vec![DecisionEffect::Drive],
        ..Decision::default()
    }
}

/// A child ended. A repeated delivery, or one to a run that has ended, changes nothing.
pub(super) fn receive_child_outcome(run: &Run, child: RunId, outcome: ChildOutcome) -> Decision {
    if run.state.name().is_terminal() || !run.children.iter().any(|open| open.run == child) {
        return Decision::default();
    }
    Decision {
        events: vec![Event::ChildEnded { child, outcome }],
        effects: vec![DecisionEffect::Drive],
        ..Decision::default()
    }
}
