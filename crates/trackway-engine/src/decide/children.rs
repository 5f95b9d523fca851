//! Children: runs that a run starts and waits for.

use serde_json::{Value, json};
use trackway_domain::{
    ChildOutcome, Errand, Event, FirstAnswer, Message, Op, Part, RunId, Seq, WorkflowRef,
};

use super::{agent_message, begin, spoken_in};
use crate::{Decision, Effect, Env, Refusal, Reply, Run};

/// The child's id is chosen here and recorded before anything is started, so that a start repeated
/// after a crash finds the same child. The parent's watchers are told with a message that refers to it,
/// unless the parent waits for the child's first answer and tells them with that.
pub(super) fn start(
    run: &Run,
    op: Op,
    workflow: WorkflowRef,
    input: Value,
    awaited: bool,
    env: Env<'_>,
) -> Result<Decision, Refusal> {
    let mut events = begin(run)?;
    let child = RunId::new((env.ids)());
    let message = (!awaited).then(|| started(&workflow, child, env));
    let errand = Errand::StartChild {
        parent: run.id(),
        child,
        session: run.submission.session.clone(),
        caller: run.submission.caller.clone(),
        workflow: workflow.clone(),
        input: input.clone(),
        awaited,
    };
    events.push(Event::ChildStarted { op, child, workflow, input, state: spoken_in(run), message });
    Ok(Decision { events, effects: vec![Effect::Owe(errand)], reply: Reply::ChildStarted(child) })
}

fn started(workflow: &WorkflowRef, child: RunId, env: Env<'_>) -> Message {
    let mut message =
        agent_message(env, vec![Part::text(format!("Started {} as {child}", workflow.name))]);
    message.references.push(child.to_string());
    message.metadata.insert("referencedWorkflow".into(), json!({ "workflowName": workflow.name }));
    message
}

/// A run that this one waits for has said its first thing. Told twice, or told to a run that has ended,
/// it changes nothing.
pub(super) fn answered(run: &Run, from: RunId, at: Seq, answer: FirstAnswer) -> Decision {
    let heard = run.heard.get(&from).is_some_and(|heard| *heard >= at);
    if heard || run.state.name().is_terminal() {
        return Decision::default();
    }
    Decision {
        events: vec![Event::RunAnswered { run: from, at, answer }],
        effects: vec![Effect::Drive],
        ..Decision::default()
    }
}

/// A child ended. Told twice, or told to a run that has ended, it changes nothing.
pub(super) fn end(run: &Run, child: RunId, outcome: ChildOutcome) -> Decision {
    if run.state.name().is_terminal() || !run.children.contains(&child) {
        return Decision::default();
    }
    Decision {
        events: vec![Event::ChildEnded { child, outcome }],
        effects: vec![Effect::Drive],
        ..Decision::default()
    }
}
