//! What an answer to a node leads to. Pure: what was read comes in, what is to be written goes out.

use std::collections::BTreeMap;

use serde_json::Value;
use trackway_definition::Standing;
use trackway_domain::{
    Answer, Attempt, AttemptOutcome, Block, Branch, Event, Guided, Need, Node, NodeId, Pending,
    Seq, StateName, Submission, Timestamp, Warning,
};
use trackway_ports::RunRow;
use uuid::Uuid;

use super::{Advance, Consent};

/// The first answer to a node, and the start of a run.
pub(super) const ONLY_BRANCH: Branch = Branch { forked: false, index: 0, siblings: 1 };

/// What is known of the node when an answer to it comes in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) node: &'a Node,
    /// How many branches have grown from it.
    pub(super) branches: u32,
    /// Which branch it was when it was made.
    pub(super) came_as: Branch,
    pub(super) row: &'a RunRow,
}

/// What a decision needs of the world.
#[derive(Clone, Copy)]
pub(super) struct World<'a> {
    pub(super) now: Timestamp,
    /// A fresh id with each call.
    pub(super) ids: &'a dyn Fn() -> Uuid,
    /// The id of the node that the decision may make.
    pub(super) node: NodeId,
}

/// Why an answer is not even looked at. One that was recorded is answered from its record before this
/// is asked: what was said once is said again, whatever became of the run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Closed {
    /// Somebody ended the run. A run that completed is not closed: another branch may grow.
    Ended(StateName),
    /// The workflow is complete at this node.
    Complete,
}

pub(super) fn closed(asked: Asked<'_>) -> Option<Closed> {
    ended(asked.row.state)
        .map(Closed::Ended)
        .or_else(|| asked.node.pending.is_none().then_some(Closed::Complete))
}

/// The state, where nothing more is recorded in such a run.
pub(super) fn ended(state: StateName) -> Option<StateName> {
    Some(state).filter(|state| state.is_terminal() && *state != StateName::Completed)
}

/// What is to be done about an answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Verdict {
    /// It would advance a step that wants a person's agreement, which the door can get.
    AskFirst(Pending),
    Record(Box<Recorded>),
}

/// What is written for an answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Recorded {
    pub(super) attempt: Attempt,
    pub(super) completes: Option<Completion>,
}

/// The first branch that gets to its end completes the run.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Completion {
    pub(super) output: Value,
    pub(super) row: RunRow,
}

impl Recorded {
    pub(super) fn events(&self) -> Vec<Event> {
        let attempted = Event::Guided(Box::new(Guided::Attempted(self.attempt.clone())));
        let completed = self.completes.as_ref().map(|completion| Event::Completed {
            output: completion.output.clone(),
            message_id: None,
        });
        [attempted].into_iter().chain(completed).collect()
    }
}

/// Judges an answer by what the interpreter made of it.
pub(super) fn answered(
    asked: Asked<'_>,
    advance: &Advance,
    digest: String,
    came_to: Result<Standing, Block>,
    drift: Option<Warning>,
    world: World<'_>,
) -> Verdict {
    let wants_agreement = asked.node.pending.as_ref().filter(|pending| pending.confirm);
    let came_to = match (came_to, wants_agreement, advance.consent) {
        (Ok(_), Some(pending), Consent::ToBeAsked) => return Verdict::AskFirst(pending.clone()),
        (Ok(_), Some(pending), Consent::Given(false)) => Err(declined(pending)),
        (came_to, _, _) => came_to,
    };
    let (outcome, documents, said) = match came_to {
        Err(block) => (AttemptOutcome::Blocked(block), Vec::new(), Vec::new()),
        Ok(standing) => {
            let Standing { walk, context, pending, documents, warnings } = standing;
            let node = Node {
                id: world.node,
                parent: Some(asked.node.id),
                definition: asked.node.definition.clone(),
                walk,
                context,
                kept: BTreeMap::new(),
                pending,
            };
            (AttemptOutcome::Advanced(node), documents, warnings)
        }
    };
    let complete = is_complete(&outcome);
    let answer = Answer {
        ack: (!complete).then(|| fresh_ack(world)),
        branch: branch(&outcome, asked),
        warnings: drift.into_iter().chain(said).collect(),
        seal: advance.seal.clone(),
    };
    let first = complete && asked.row.state == StateName::Working;
    let completes = first.then(|| Completion {
        output: advance.inputs.output.clone().unwrap_or_default(),
        row: RunRow { state: StateName::Completed, status_at: world.now, ..asked.row.clone() },
    });
    let attempt = Attempt {
        node: asked.node.id,
        ack: advance.ack,
        digest,
        inputs: advance.inputs.clone(),
        outcome,
        answer,
        documents,
    };
    Verdict::Record(Box::new(Recorded { attempt, completes }))
}

/// Where the node of the answer stands among those that its parent went on to. One that is blocked goes
/// nowhere: the node is the one that was answered, and no fork was made.
fn branch(outcome: &AttemptOutcome, asked: Asked<'_>) -> Branch {
    match outcome {
        AttemptOutcome::Advanced(_) => {
            let index = asked.branches;
            Branch { forked: index > 0, index, siblings: index.saturating_add(1) }
        }
        AttemptOutcome::Blocked(_) => asked.came_as,
    }
}

fn is_complete(outcome: &AttemptOutcome) -> bool {
    matches!(outcome, AttemptOutcome::Advanced(node) if node.pending.is_none())
}

fn declined(pending: &Pending) -> Block {
    Block {
        code: "confirmation-declined".into(),
        message: format!("The user did not agree to {:?}; nothing was advanced.", pending.title),
        needs: vec![Need {
            pointer: "/ackToken".into(),
            message: "Ask the user what to change. When they agree, send the same call with the \
                      ackToken of this answer."
                .into(),
            ..Need::default()
        }],
    }
}

/// A run that begins: everything that is written for it, and its first node.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Opening {
    pub(super) node: Node,
    pub(super) answer: Answer,
    pub(super) events: Vec<Event>,
    pub(super) row: RunRow,
}

/// Number of the event that makes the first node: it is submitted and started before.
pub(super) const OPENED_AT: Seq = 3;

/// Begins a run. One whose workflow has nothing to do is complete from its start.
pub(super) fn opened(
    submission: Submission,
    standing: Standing,
    seal: trackway_domain::Seal,
    world: World<'_>,
) -> Opening {
    let Standing { walk, context, pending, documents, warnings } = standing;
    let complete = pending.is_none();
    let node = Node {
        id: world.node,
        parent: None,
        definition: submission.workflow.version.clone(),
        walk,
        context,
        kept: BTreeMap::new(),
        pending,
    };
    let ack = (!complete).then(|| fresh_ack(world));
    let answer = Answer { ack, branch: ONLY_BRANCH, warnings, seal };
    let state = if complete { StateName::Completed } else { StateName::Working };
    let row = row(&submission, state, world.now);
    let guided = Guided::Opened { node: node.clone(), answer: answer.clone(), documents };
    let mut events = vec![
        Event::Submitted(Box::new(submission)),
        Event::Started,
        Event::Guided(Box::new(guided)),
    ];
    if complete {
        events.push(Event::Completed { output: Value::Null, message_id: None });
    }
    Opening { node, answer, events, row }
}

/// The row of a guided run that begins now. The engine never drives it.
pub(super) fn row(submission: &Submission, state: StateName, now: Timestamp) -> RunRow {
    RunRow {
        id: submission.run,
        session: submission.session.clone(),
        caller: submission.caller.clone(),
        workflow: submission.workflow.clone(),
        parent: submission.parent,
        state,
        runnable: false,
        parked: false,
        created_at: now,
        status_at: now,
    }
}

fn fresh_ack(world: World<'_>) -> trackway_domain::AckId {
    trackway_domain::AckId::compact((world.ids)())
}

#[cfg(test)]
mod tests;
