//! Guided runs: an outside agent drives from node to node, and every answer is recorded once.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use trackway_domain::{
    AckId, AnsweredNode, Attempt, AttemptOutcome, AttemptReply, BlockReason, BranchPosition, Checkpoint,
    Consent, Event, GuidedCommand, GuidedEvent, InputRequirement, Node, NodeAnswer, NodeId, PendingStep,
    RenderStamp, RunId, Seq, StateName, StepState, Submission,
};

use crate::{CommandReply, Decision, DecisionEnv, GuidedReply, Refusal, Run};

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
pub(super) fn decide_creation(command: GuidedCommand, env: DecisionEnv<'_>) -> Result<Decision, Refusal> {
    match command {
        GuidedCommand::Open { submission, step, stamp } => Ok(open_run(submission, *step, stamp, env)),
        // The run has no steps, so it is complete from its start.
        GuidedCommand::OpenNotes { submission, notes } => Ok(Decision {
            events: vec![
                Event::Submitted(submission),
                Event::Started,
                completed_event(Value::Null),
                checkpoint_event(None, notes),
            ],
            ..Decision::default()
        }),
        GuidedCommand::Answer(_) | GuidedCommand::Checkpoint { .. } | GuidedCommand::Repin { .. } => {
            Err(Refusal::NotSubmitted)
        }
    }
}

pub(super) fn decide_guided(
    run: &Run,
    command: GuidedCommand,
    env: DecisionEnv<'_>,
) -> Result<Decision, Refusal> {
    guided_run_accepts(run.state.name(), run.imported)?;
    let events = match command {
        GuidedCommand::Open { .. } | GuidedCommand::OpenNotes { .. } => {
            return Err(Refusal::AlreadySubmitted);
        }
        GuidedCommand::Answer(sent) => return answer_node(run, *sent, env),
        GuidedCommand::Checkpoint { node, notes } => vec![checkpoint_event(node, notes)],
        GuidedCommand::Repin { nodes } => {
            nodes.into_iter().map(|node| guided_event(GuidedEvent::Repinned { node })).collect()
        }
    };
    Ok(Decision { events, ..Decision::default() })
}

/// Whether a guided run accepts more events. A completed run does: an agent that goes back to an earlier
/// node adds another branch.
pub fn guided_run_accepts(state: StateName, imported: bool) -> Result<(), Refusal> {
    if state.is_terminal() && state != StateName::Completed {
        return Err(Refusal::Ended { state });
    }
    if imported { Err(Refusal::NotAdopted) } else { Ok(()) }
}

/// Starts a run. If its workflow has no steps, the run is complete from its start.
fn open_run(
    submission: Box<Submission>,
    step: StepState,
    stamp: RenderStamp,
    env: DecisionEnv<'_>,
) -> Decision {
    let StepState { position, context, pending, documents, warnings } = step;
    let is_complete = pending.is_none();
    let node = Node {
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
    let opened = GuidedEvent::Opened { node: node.clone(), reply: reply.clone(), documents };
    let mut events = vec![Event::Submitted(submission), Event::Started, guided_event(opened)];
    events.extend(is_complete.then(|| completed_event(Value::Null)));
    let reply = CommandReply::Guided(Box::new(GuidedReply::Opened { node, reply }));
    Decision { events, reply, ..Decision::default() }
}

/// Decides an answer by the interpreter's result.
fn answer_node(run: &Run, sent: NodeAnswer, env: DecisionEnv<'_>) -> Result<Decision, Refusal> {
    let NodeAnswer { at, ack, digest, inputs, consent, stamp, result, warning } = sent;
    let wants_agreement = at.node.pending.as_ref().filter(|pending| pending.confirm);
    let result = match (result, wants_agreement, consent) {
        (Ok(_), Some(pending), Consent::NotAskedYet) => {
            let reply = CommandReply::Guided(Box::new(GuidedReply::ConsentNeeded(pending.clone())));
            return Ok(Decision { reply, ..Decision::default() });
        }
        (Ok(_), Some(pending), Consent::Answered(false)) => Err(confirmation_declined(pending)),
        (result, _, _) => result,
    };
    let (outcome, documents, warnings) = match result {
        Err(block) if at.blocked >= BLOCKED_ATTEMPTS_MAX => {
            return Err(Refusal::TooManyAttempts(Box::new(block)));
        }
        Err(block) => (AttemptOutcome::Blocked(block), Vec::new(), Vec::new()),
        Ok(StepState { position, context, pending, documents, warnings }) => {
            let mut node = Node {
                id: new_node_id(run.id(), run.seq + 1, env),
                parent: Some(at.node.id),
                definition: at.node.definition.clone(),
                position,
                context,
                context_refs: BTreeMap::new(),
                pending,
            };
            reference_large_facts(&mut node, &at);
            (AttemptOutcome::Advanced(node), documents, warnings)
        }
    };
    let is_complete = completes_branch(&outcome);
    let reply = AttemptReply {
        ack: (!is_complete).then(|| new_ack_id(env)),
        branch: branch_position(&outcome, &at),
        warnings: warning.into_iter().chain(warnings).collect(),
        stamp,
    };
    // The first branch that reaches its end completes the run.
    let completes = is_complete && run.state.name() == StateName::Working;
    let output = completes.then(|| inputs.output.clone().unwrap_or_default());
    let attempt = Attempt { node: at.node.id, ack, digest, inputs, outcome, reply, documents };
    let attempted = guided_event(GuidedEvent::Attempted(attempt.clone()));
    let events = std::iter::once(attempted).chain(output.map(completed_event)).collect();
    let reply = CommandReply::Guided(Box::new(GuidedReply::Attempted(attempt)));
    Ok(Decision { events, reply, ..Decision::default() })
}

/// The position of the answer's node among the branches of its parent. A blocked answer makes no branch:
/// the node stays the answered one.
fn branch_position(outcome: &AttemptOutcome, at: &AnsweredNode) -> BranchPosition {
    match outcome {
        AttemptOutcome::Advanced(_) => {
            let index = at.branches;
            BranchPosition { forked: index > 0, index, siblings: index.saturating_add(1) }
        }
        AttemptOutcome::Blocked(_) => at.branch,
    }
}

fn completes_branch(outcome: &AttemptOutcome) -> bool {
    matches!(outcome, AttemptOutcome::Advanced(node) if node.pending.is_none())
}

/// Removes from a new node the large facts that the answered node already has: the new node refers to the
/// event that holds them. That event holds the value itself, so a reader follows only one reference.
fn reference_large_facts(node: &mut Node, at: &AnsweredNode) {
    let mut context_refs = BTreeMap::new();
    for (name, value) in &node.context {
        if at.context.get(name) == Some(value) && is_large_fact(value) {
            context_refs.insert(name.clone(), at.node.context_refs.get(name).copied().unwrap_or(at.seq));
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

fn confirmation_declined(pending: &PendingStep) -> BlockReason {
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
    NodeId::from_event_number(run, seq).unwrap_or_else(|| NodeId::new((env.ids)()))
}

fn new_ack_id(env: DecisionEnv<'_>) -> AckId {
    AckId::compact_from_uuid((env.ids)())
}

fn checkpoint_event(node: Option<NodeId>, notes: String) -> Event {
    guided_event(GuidedEvent::Checkpointed(Checkpoint { node, notes }))
}

fn completed_event(output: Value) -> Event {
    Event::Completed { output, message_id: None }
}

fn guided_event(guided: GuidedEvent) -> Event {
    Event::Guided(Box::new(guided))
}

#[cfg(test)]
mod tests;
