//! Builds responses from what is recorded. The response to a repetition is built from the record alone.

use trackway_domain::{
    AckId, Attempt, AttemptOutcome, AttemptReply, BlockReason, BranchPosition, Node, RenderStamp, RunId,
    SessionId, Submission, Warning,
};
use trackway_ports::RunRow;

use super::NodeView;

/// The result of an answer to `node`.
pub(super) fn view_from_attempt(row: &RunRow, node: &Node, attempt: Attempt) -> NodeView {
    let Attempt { outcome, reply, .. } = attempt;
    match outcome {
        AttemptOutcome::Advanced(next) => NodeView { advanced: true, ..view_with_reply(row, next, reply) },
        // Nothing was advanced: the same step is pending.
        AttemptOutcome::Blocked(block) => {
            NodeView { blocked: Some(block), ..view_with_reply(row, node.clone(), reply) }
        }
    }
}

/// The first node of a run, with the workflow's rules.
pub(super) fn view_from_opening(
    submission: &Submission,
    node: Node,
    reply: AttemptReply,
    guidance: Vec<String>,
) -> NodeView {
    let Submission { run, session, workflow, .. } = submission;
    NodeView { guidance, ..build_view(*run, session, &workflow.name, node, reply) }
}

/// A node as it is, for a caller that inspects it.
#[derive(Debug)]
pub(super) struct Inspection {
    pub(super) ack: AckId,
    pub(super) branch: BranchPosition,
    /// Why it cannot be answered, if the run was ended.
    pub(super) end_reason: Option<BlockReason>,
    pub(super) warnings: Vec<Warning>,
    pub(super) guidance: Vec<String>,
    pub(super) stamp: RenderStamp,
}

pub(super) fn view_from_inspection(row: &RunRow, node: Node, look: Inspection) -> NodeView {
    let Inspection { ack, branch, end_reason: over, warnings, guidance, stamp } = look;
    let ack = (node.pending.is_some() && over.is_none()).then_some(ack);
    let reply = AttemptReply { ack, branch, warnings, stamp };
    NodeView { guidance, blocked: over, ..view_with_reply(row, node, reply) }
}

fn view_with_reply(row: &RunRow, node: Node, reply: AttemptReply) -> NodeView {
    build_view(row.id, &row.session, &row.workflow.name, node, reply)
}

fn build_view(run: RunId, session: &SessionId, workflow: &str, node: Node, reply: AttemptReply) -> NodeView {
    let AttemptReply { ack, branch, warnings, stamp } = reply;
    NodeView {
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
        stamp,
    }
}
