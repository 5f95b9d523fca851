//! Builds responses from what is recorded. The response to a repetition is built from the record alone.

use trackway_domain::{
    AckId, AttemptOutcome, AttemptReply, BlockReason, BranchPosition, GuidedNode, GuidedRunWarning,
    NodeAttempt, ReplyRenderStamp, RunId, RunSubmission, SessionId,
};
use trackway_ports::RunRow;

use super::GuidedNodeView;

/// The result of an answer to `node`.
pub(super) fn node_view_from_attempt(
    row: &RunRow,
    node: &GuidedNode,
    attempt: NodeAttempt,
) -> GuidedNodeView {
    let NodeAttempt { outcome, reply, .. } = attempt;
    match outcome {
        AttemptOutcome::Advanced(next) => {
            GuidedNodeView { advanced: true, ..node_view_with_reply(row, next, reply) }
        }
        // Nothing was advanced: the same step is pending.
        AttemptOutcome::Blocked(block) => {
            GuidedNodeView { blocked: Some(block), ..node_view_with_reply(row, node.clone(), reply) }
        }
    }
}

/// The first node of a run, with the workflow's rules.
pub(super) fn node_view_from_opening(
    submission: &RunSubmission,
    node: GuidedNode,
    reply: AttemptReply,
    guidance: Vec<String>,
) -> GuidedNodeView {
    let RunSubmission { run, session, workflow, .. } = submission;
    GuidedNodeView { guidance, ..build_node_view(*run, session, &workflow.name, node, reply) }
}

/// A node as it is, for a caller that inspects it.
#[derive(Debug)]
pub(super) struct NodeInspection {
    pub(super) ack: AckId,
    pub(super) branch: BranchPosition,
    /// Why it cannot be answered, if the run was ended.
    pub(super) end_reason: Option<BlockReason>,
    pub(super) warnings: Vec<GuidedRunWarning>,
    pub(super) guidance: Vec<String>,
    pub(super) stamp: ReplyRenderStamp,
}

pub(super) fn node_view_from_inspection(
    row: &RunRow,
    node: GuidedNode,
    inspection: NodeInspection,
) -> GuidedNodeView {
    let NodeInspection { ack, branch, end_reason: over, warnings, guidance, stamp } = inspection;
    let ack = (node.pending.is_some() && over.is_none()).then_some(ack);
    let reply = AttemptReply { ack, branch, warnings, stamp };
    GuidedNodeView { guidance, blocked: over, ..node_view_with_reply(row, node, reply) }
}

fn node_view_with_reply(row: &RunRow, node: GuidedNode, reply: AttemptReply) -> GuidedNodeView {
    build_node_view(row.id, &row.session, &row.workflow.name, node, reply)
}

fn build_node_view(
    run: RunId,
    session: &SessionId,
    workflow: &str,
    node: GuidedNode,
    reply: AttemptReply,
) -> GuidedNodeView {
    let AttemptReply { ack, branch, warnings, stamp } = reply;
    GuidedNodeView {
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
