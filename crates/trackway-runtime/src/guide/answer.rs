//! From what is recorded to what is said. A repetition is made of the record alone.

use trackway_domain::{
    AckId, Answer, Attempt, AttemptOutcome, Block, Branch, Node, RunId, Seal, SessionId,
    Submission, Warning,
};
use trackway_ports::RunRow;

use super::Position;

/// What an answer to `node` came to.
pub(super) fn of_attempt(row: &RunRow, node: &Node, attempt: Attempt) -> Position {
    let Attempt { outcome, answer, .. } = attempt;
    match outcome {
        AttemptOutcome::Advanced(next) => Position { advanced: true, ..told(row, next, answer) },
        // Nothing was advanced: the same step is pending.
        AttemptOutcome::Blocked(block) => {
            Position { blocked: Some(block), ..told(row, node.clone(), answer) }
        }
    }
}

/// The first node of a run, with the workflow's rules.
pub(super) fn of_opening(
    submission: &Submission,
    node: Node,
    answer: Answer,
    guidance: Vec<String>,
) -> Position {
    let Submission { run, session, workflow, .. } = submission;
    Position { guidance, ..position(*run, session, &workflow.name, node, answer) }
}

/// A node as it is, for somebody who looks at it again.
#[derive(Debug)]
pub(super) struct Look {
    pub(super) ack: AckId,
    pub(super) branch: Branch,
    /// Why nothing can be answered, where somebody ended the run.
    pub(super) over: Option<Block>,
    pub(super) warnings: Vec<Warning>,
    pub(super) guidance: Vec<String>,
    pub(super) seal: Seal,
}

pub(super) fn of_look(row: &RunRow, node: Node, look: Look) -> Position {
    let Look { ack, branch, over, warnings, guidance, seal } = look;
    let ack = (node.pending.is_some() && over.is_none()).then_some(ack);
    let answer = Answer { ack, branch, warnings, seal };
    Position { guidance, blocked: over, ..told(row, node, answer) }
}

fn told(row: &RunRow, node: Node, answer: Answer) -> Position {
    position(row.id, &row.session, &row.workflow.name, node, answer)
}

fn position(
    run: RunId,
    session: &SessionId,
    workflow: &str,
    node: Node,
    answer: Answer,
) -> Position {
    let Answer { ack, branch, warnings, seal } = answer;
    Position {
        run,
        session: session.clone(),
        workflow: workflow.to_owned(),
        hash: node.definition,
        node: node.id,
        ack,
        pending: node.pending,
        guidance: Vec::new(),
        advanced: false,
        branch,
        warnings,
        blocked: None,
        seal,
    }
}
