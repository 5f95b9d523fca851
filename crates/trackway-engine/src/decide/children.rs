//! Children: runs that a run starts and waits for.

use serde_json::{Value, json};
use trackway_domain::{
    ChildOutcome, Errand, Event, FirstAnswer, Message, MessageId, Op, Part, RunId, WorkflowRef,
};

use super::{agent_message, begin, spoken_in};
use crate::{Decision, Effect, Env, Refusal, Reply, Run, run::Heard};

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
pub(super) fn answered(
    run: &Run,
    from: RunId,
    reply_to: Option<MessageId>,
    answer: FirstAnswer,
) -> Decision {
    let told = Heard { from, reply_to };
    if run.heard.contains(&told) || run.state.name().is_terminal() {
        return Decision::default();
    }
    let Heard { from, reply_to } = told;
    Decision {
        events: vec![Event::RunAnswered { run: from, reply_to, answer }],
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
