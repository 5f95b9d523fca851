//! Guided runs: an outside agent drives from node to node, and every answer is recorded once.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use trackway_domain::{
    AckId, AnsweredNode, AttemptOutcome, AttemptReply, BlockReason, BranchPosition, CheckpointNotes,
    ConsentStatus, Event, GuidedNode, GuidedRunCommand, GuidedRunEvent, GuidedStepState, InputRequirement,
    NodeAnswer, NodeAttempt, NodeId, PendingStep, ReplyRenderStamp, RunId, RunSubmission, Seq, StateName,
};

use crate::{CommandRefusal, CommandReply, Decision, DecisionEnv, GuidedCommandReply, Run};

/// Number of the event that makes the first node: `Submitted` and `Started` come before it.
const OPENED_AT: Seq = 3;

/// Limit (MCP): blocked answers to one snapshot that are recorded. An agent with so many invalid answers
/// does not learn from the replies. A valid answer is still accepted, and advances.
const BLOCKED_ATTEMPTS_MAX: u32 = 100;

/// Size from which a fact is stored as a reference. A reference takes about thirty bytes.
const REFERENCED_FACT_BYTES_MIN: usize = 512;
/// Events that one node may refer to: each of them is one more read for an answer to the node. A node that
/// needs more stores its whole context, and later nodes refer to it.
/// Limit (Sessions): earlier events that a snapshot refers to for its facts.
const REFERENCED_EVENTS_MAX: usize = 4;

/// Creates a run.
pub(super) fn decide_guided_run_creation(
    command: GuidedRunCommand,
    env: DecisionEnv<'_>,
) -> Result<Decision, CommandRefusal> {
    match command {
        GuidedRunCommand::Open { submission, step, stamp } => {
            Ok(open_guided_run(submission, *step, stamp, env))
        }
        // The run has no steps, so it is complete from its start.
        GuidedRunCommand::OpenNotes { submission, notes } => Ok(Decision {
            events: vec![
                Event::Submitted(submission),
                Event::Started,
                completed_event(Value::Null),
                checkpoint_event(None, notes),
            ],
            ..Decision::default()
        }),
        GuidedRunCommand::Answer(_)
        | GuidedRunCommand::Checkpoint { .. }
        | GuidedRunCommand::Repin { .. } => Err(CommandRefusal::NotSubmitted),
    }
}

pub(super) fn decide_guided_command(
    run: &Run,
    command: GuidedRunCommand,
    env: DecisionEnv<'_>,
) -> Result<Decision, CommandRefusal> {
    check_guided_run_accepts_events(run.state.name(), run.imported)?;
    let events = match command {
        GuidedRunCommand::Open { .. } | GuidedRunCommand::OpenNotes { .. } => {
            return Err(CommandRefusal::AlreadySubmitted);
        }
        GuidedRunCommand::Answer(sent) => return decide_node_answer(run, *sent, env),
        GuidedRunCommand::Checkpoint { node, notes } => vec![checkpoint_event(node, notes)],
        GuidedRunCommand::Repin { nodes } => {
            nodes.into_iter().map(|node| guided_event(GuidedRunEvent::Repinned { node })).collect()
        }
    };
    Ok(Decision { events, ..Decision::default() })
}

/// Whether a guided run accepts more events. A completed run does: an agent that goes back to an earlier
/// node adds another branch.
pub fn check_guided_run_accepts_events(state: StateName, is_imported: bool) -> Result<(), CommandRefusal> {
    if state.is_terminal() && state != StateName::Completed {
        return Err(CommandRefusal::Ended { state });
    }
    if is_imported { Err(CommandRefusal::NotAdopted) } else { Ok(()) }
}

/// Starts a run. If its workflow has no steps, the run is complete from its start.
fn open_guided_run(
    submission: Box<RunSubmission>,
    step: GuidedStepState,
    stamp: ReplyRenderStamp,
    env: DecisionEnv<'_>,
) -> Decision {
    let GuidedStepState { position, context, pending, documents, warnings } = step;
    let is_complete = pending.is_none();
    let node = GuidedNode {
        id: new_node_id(submission.run, OPENED_AT, env),
        parent: None,
        definition: submission.workflow.version.clone(),
        position,
        context,
        context_refs: BTreeMap::new(),
        pending,
    };
    let ack = (!is_complete).then(|| new_ack_id(env));
    let reply = AttemptReply { ack, branch: BranchPosition::FIRST, warnings, stamp };
    let opened = GuidedRunEvent::Opened { node: node.clone(), reply: reply.clone(), documents };
    let mut events = vec![Event::Submitted(submission), Event::Started, guided_event(opened)];
    events.extend(is_complete.then(|| completed_event(Value::Null)));
    let reply = CommandReply::Guided(Box::new(GuidedCommandReply::Opened { node, reply }));
    Decision { events, reply, ..Decision::default() }
}

/// Decides an answer by the interpreter's result.
fn decide_node_answer(
    run: &Run,
    node_answer: NodeAnswer,
    env: DecisionEnv<'_>,
) -> Result<Decision, CommandRefusal> {
    let NodeAnswer { at, ack, digest, inputs, consent, stamp, result, warning } = node_answer;
    let wants_agreement = at.node.pending.as_ref().filter(|pending| pending.confirm);
    let result = match (result, wants_agreement, consent) {
        (Ok(_), Some(pending), ConsentStatus::NotAskedYet) => {
            let reply = CommandReply::Guided(Box::new(GuidedCommandReply::ConsentNeeded(pending.clone())));
            return Ok(Decision { reply, ..Decision::default() });
        }
        (Ok(_), Some(pending), ConsentStatus::Answered(false)) => Err(confirmation_declined_block(pending)),
        (result, _, _) => result,
    };
    let (outcome, documents, warnings) = match result {
        Err(block) if at.blocked >= BLOCKED_ATTEMPTS_MAX => {
            return Err(CommandRefusal::TooManyAttempts(Box::new(block)));
        }
        Err(block) => (AttemptOutcome::Blocked(block), Vec::new(), Vec::new()),
        Ok(GuidedStepState { position, context, pending, documents, warnings }) => {
            let mut node = GuidedNode {
                id: new_node_id(run.id(), run.seq + 1, env),
                parent: Some(at.node.id),
                definition: at.node.definition.clone(),
                position,
                context,
                context_refs: BTreeMap::new(),
                pending,
            };
            replace_large_facts_by_references(&mut node, &at);
            (AttemptOutcome::Advanced(node), documents, warnings)
        }
    };
    let is_complete = completes_branch(&outcome);
    let reply = AttemptReply {
        ack: (!is_complete).then(|| new_ack_id(env)),
        branch: branch_position_of_answer(&outcome, &at),
        warnings: warning.into_iter().chain(warnings).collect(),
        stamp,
    };
    // The first branch that reaches its end completes the run.
    let completes = is_complete && run.state.name() == StateName::Working;
    let output = completes.then(|| inputs.output.clone().unwrap_or_default());
    let attempt = NodeAttempt { node: at.node.id, ack, digest, inputs, outcome, reply, documents };
    let attempted = guided_event(GuidedRunEvent::Attempted(attempt.clone()));
    let events = std::iter::once(attempted).chain(output.map(completed_event)).collect();
    let reply = CommandReply::Guided(Box::new(GuidedCommandReply::Attempted(attempt)));
    Ok(Decision { events, reply, ..Decision::default() })
}

/// The position of the answer's node among the branches of its parent. A blocked answer makes no branch:
/// the node stays the answered one.
fn branch_position_of_answer(outcome: &AttemptOutcome, answered_node: &AnsweredNode) -> BranchPosition {
    match outcome {
        AttemptOutcome::Advanced(_) => {
            let index = answered_node.branches;
            BranchPosition { forked: index > 0, index, siblings: index.saturating_add(1) }
        }
        AttemptOutcome::Blocked(_) => answered_node.branch,
    }
}

fn completes_branch(outcome: &AttemptOutcome) -> bool {
    matches!(outcome, AttemptOutcome::Advanced(node) if node.pending.is_none())
}

/// Removes from a new node the large facts that the answered node already has: the new node refers to the
/// event that holds them. That event holds the value itself, so a reader follows only one reference.
fn replace_large_facts_by_references(node: &mut GuidedNode, answered_node: &AnsweredNode) {
    let mut context_refs = BTreeMap::new();
    for (name, value) in &node.context {
        if answered_node.context.get(name) == Some(value) && is_large_fact(value) {
            context_refs.insert(
                name.clone(),
                answered_node.node.context_refs.get(name).copied().unwrap_or(answered_node.seq),
            );
        }
    }
    if context_refs.values().collect::<BTreeSet<_>>().len() > REFERENCED_EVENTS_MAX {
        return;
    }
    for name in context_refs.keys() {
        // Null keeps the position, so that the order of the names stays the same.
        node.context.insert(name.clone(), Value::Null);
    }
    node.context_refs = context_refs;
}

fn is_large_fact(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
        Value::String(text) => text.len() >= REFERENCED_FACT_BYTES_MIN,
        Value::Array(_) | Value::Object(_) => value.to_string().len() >= REFERENCED_FACT_BYTES_MIN,
    }
}

fn confirmation_declined_block(pending: &PendingStep) -> BlockReason {
    BlockReason {
        code: "confirmation-declined".into(),
        message: format!("The user did not agree to {:?}; nothing was advanced.", pending.title),
        needs: vec![InputRequirement {
            pointer: "/ackToken".into(),
            message: "Ask the user what to change. When they agree, send the same call with the \
                      ackToken of this answer."
                .into(),
            ..InputRequirement::default()
        }],
    }
}

/// The node's id is derived from the event that makes it, if the run's id is a compact one.
fn new_node_id(run: RunId, seq: Seq, env: DecisionEnv<'_>) -> NodeId {
    NodeId::node_id_from_event_number(run, seq).unwrap_or_else(|| NodeId::new((env.ids)()))
}

fn new_ack_id(env: DecisionEnv<'_>) -> AckId {
    AckId::compact_from_uuid((env.ids)())
}

fn checkpoint_event(node: Option<NodeId>, notes: String) -> Event {
    guided_event(GuidedRunEvent::Checkpointed(CheckpointNotes { node, notes }))
}

fn completed_event(output: Value) -> Event {
    Event::Completed { output, message_id: None }
}

fn guided_event(guided: GuidedRunEvent) -> Event {
    Event::Guided(Box::new(guided))
}

#[cfg(test)]
mod tests;
