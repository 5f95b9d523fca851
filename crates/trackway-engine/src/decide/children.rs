//! Children: runs that a run starts and waits for.

use serde_json::json;
use trackway_domain::{
    ChildOutcome, Event, FirstAnswer, Message, MessageId, NewChild, Op, Part, RunId, Submission,
};

use super::{new_agent_message, start_if_submitted, state_after_start};
use crate::{CommandReply, Decision, DecisionEnv, Effect, Refusal, Run, run::ReceivedAnswer};

/// The child starts with the append that records its start, so a visible child always exists. A message
/// that refers to the child notifies the parent's watchers. If the parent waits for the child's first
/// answer, the parent notifies them with that answer.
pub(super) fn start_child(
    run: &Run,
    op: Op,
    new: NewChild,
    env: DecisionEnv<'_>,
) -> Result<Decision, Refusal> {
    let mut events = start_if_submitted(run)?;
    let child = RunId::new((env.ids)());
    let message = (!new.awaited).then(|| child_started_message(&new, child, env));
    let NewChild { workflow, description: _, input, awaited, deadline, exit } = new;
    let submission = Submission {
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
    };
    let state = state_after_start(run);
    events.push(Event::ChildStarted { op, child, workflow, input, state, message, awaited });
    let effects = vec![Effect::StartChild(Box::new(submission))];
    Ok(Decision { events, effects, reply: CommandReply::ChildStarted(child) })
}

fn child_started_message(new: &NewChild, child: RunId, env: DecisionEnv<'_>) -> Message {
    let name = &new.workflow.name;
    let mut message = new_agent_message(env, vec![Part::text(format!("Started {name} as {child}"))]);
    message.references.push(child.to_string());
    let about = json!({ "workflowName": name, "description": new.description });
    message.metadata.insert("referencedWorkflow".into(), about);
    message
}

/// A run that this one waits for has given its first answer. A repeated delivery, or one to a run that
/// has ended, changes nothing.
pub(super) fn receive_first_answer(
    run: &Run,
    from: RunId,
    reply_to: Option<MessageId>,
    answer: FirstAnswer,
) -> Decision {
    let told = ReceivedAnswer { from, reply_to };
    if run.received_answers.contains(&told) || run.state.name().is_terminal() {
        return Decision::default();
    }
    let ReceivedAnswer { from, reply_to } = told;
    Decision {
        events: vec![Event::RunAnswered { run: from, reply_to, answer }],
        effects: vec![Effect::Drive],
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
        effects: vec![Effect::Drive],
        ..Decision::default()
    }
}
