//! Answers a node, and inspects one.
//!
//! An answer costs one read (the node with its run, and whether this same answer is recorded), a second read
//! if the definition is not in memory, and one append. The cost is the same in a run of ten events and in one
//! of ten thousand, with one branch or a hundred. An empty output costs one more read. A repetition costs
//! only the one read. An inspection costs the same, plus the definition.

use serde_json::Value;
use trackway_domain::{
    Access, AckId, AnsweredNode, BlockReason, BranchPosition, ConsentStatus, GuidedRunCommand, NodeAnswer,
    NodeId, Object, ReplyRenderStamp, RunId, StateName,
};
use trackway_engine::{CommandRefusal, GuidedCommandReply, check_guided_run_accepts_events};
use trackway_ports::AttemptKey;

use super::{
    GuidedAdvanceRequest, GuidedAdvanceResponse, GuidedNodeView, GuidedRunError, GuidedRuns,
    attempt_input_digest::digest_attempt_inputs,
    guided_command_execution::{
        AppendPinsAndClaim, GuidedCommandOutcome, guided_error_from_refusal, guided_run_from_row,
    },
    input_size_limits,
    node_context::NodeContext,
    node_view::{self, NodeInspection},
};

/// Lost races in a row before an answer is given up. Each race is lost to an append of another caller, so the
/// run advances in any case. To lose this often takes as many agents on one run.
/// Limit (Sessions): lost races before an answer is refused.
pub(super) const TRIES_MAX: usize = 50;

impl GuidedRuns {
    /// Answers a node. The same answer again returns the same response.
    pub async fn advance_guided_run(
        &self,
        access: &Access,
        mut advance: GuidedAdvanceRequest,
    ) -> Result<GuidedAdvanceResponse, GuidedRunError> {
        input_size_limits::check_attempt_input_sizes(&advance.inputs)?;
        advance.inputs.notes = advance.inputs.notes.take().and_then(trim_notes);
        if is_empty_object(advance.inputs.output.as_ref())
            && !self.node_expects_output(access, &advance).await?
        {
            advance.inputs.output = None;
        }
        let GuidedAdvanceRequest { run, node, ack, .. } = advance;
        let key = AttemptKey { run, node, ack, digest: digest_attempt_inputs(&advance.inputs) };
        for _ in 0..TRIES_MAX {
            let (node_context, recorded) = self.load_node_and_earlier_attempt(access, &key).await?;
            if let Some((node, attempt)) = recorded {
                let again = node_view::node_view_from_attempt(&node_context.row, &node, attempt);
                return Ok(GuidedAdvanceResponse::Node(Box::new(again)));
            }
            match check_guided_run_accepts_events(node_context.row.state, node_context.is_unadopted) {
                // A run that was not adopted can be inspected if it is complete.
                Err(CommandRefusal::NotAdopted) if node_context.node.pending.is_none() => {}
                accepts => accepts.map_err(|refusal| guided_error_from_refusal(run, refusal))?,
            }
            if node_context.node.pending.is_none() {
                let seen = self.inspect_loaded_node(node_context, advance.stamp).await?;
                return Ok(GuidedAdvanceResponse::Node(Box::new(seen)));
            }
            if let Some(advanced) = self.try_advance_guided_run(node_context, &advance, &key).await? {
                return Ok(advanced);
            }
        }
        Err(run_contention_error(run))
    }

    /// Whether an empty output means something at this node. If no output is expected, it is the same answer
    /// as one without an output.
    async fn node_expects_output(
        &self,
        access: &Access,
        request: &GuidedAdvanceRequest,
    ) -> Result<bool, GuidedRunError> {
        let node_context = self.load_node_context(access, request.run, request.node).await?;
        Ok(node_context.node.pending.is_some_and(|pending| pending.output.is_some()))
    }

    /// One attempt. None if another caller was faster, so that the node must be read again.
    async fn try_advance_guided_run(
        &self,
        node_context: NodeContext,
        advance: &GuidedAdvanceRequest,
        key: &AttemptKey,
    ) -> Result<Option<GuidedAdvanceResponse>, GuidedRunError> {
        let (run, node) = (key.run, &node_context.node);
        let workflow = &node_context.row.workflow.name;
        let definition = self.load_pinned_definition(run, workflow, &node.definition).await?;
        let context = self.load_full_node_context(run, node).await?;
        let result =
            trackway_definition::advance_guided_run(&definition, &node.position, &context, &advance.inputs);
        if let Ok(step) = &result {
            input_size_limits::check_context_size(&step.context)?;
        }
        let mut warning = self.definition_drift_warning(workflow, &node.definition).await;
        if warning.is_none() && node_context.branch_count > 0 {
            warning = self.damaged_branch_warning(run, node.id).await?;
        }
        // The branch is reported only if the answer does not advance, because it may have to be read.
        let stays = result.is_err() || advance.consent == ConsentStatus::Answered(false);
        let branch = if stays {
            self.branch_position_at_creation(&node_context).await?
        } else {
            BranchPosition::FIRST
        };
        let at = AnsweredNode {
            node: node.clone(),
            context,
            seq: node_context.created_seq,
            branches: node_context.branch_count,
            blocked: node_context.blocked_count,
            branch,
        };
        let answer = NodeAnswer {
            at,
            ack: key.ack,
            digest: key.digest.clone(),
            inputs: advance.inputs.clone(),
            consent: advance.consent,
            stamp: advance.stamp.clone(),
            result,
            warning,
        };
        let command = GuidedRunCommand::Answer(Box::new(answer));
        let indexed =
            guided_run_from_row(&node_context.row, node_context.last_seq, node_context.is_unadopted);
        let executed =
            self.execute_guided_command(run, Some(indexed), command, AppendPinsAndClaim::default()).await?;
        let GuidedCommandOutcome::Done(Some(reply)) = executed else { return Ok(None) };
        Ok(match *reply {
            GuidedCommandReply::Attempted(attempt) => {
                let position = node_view::node_view_from_attempt(&node_context.row, node, attempt);
                Some(GuidedAdvanceResponse::Node(Box::new(position)))
            }
            GuidedCommandReply::ConsentNeeded(pending) => Some(GuidedAdvanceResponse::ConsentNeeded(pending)),
            GuidedCommandReply::Opened { .. } => None,
        })
    }

    /// The node again, with a fresh ack. Records nothing.
    pub async fn inspect_node(
        &self,
        access: &Access,
        run: RunId,
        node: NodeId,
        stamp: ReplyRenderStamp,
    ) -> Result<GuidedNodeView, GuidedRunError> {
        let node_context = self.load_node_context(access, run, node).await?;
        self.inspect_loaded_node(node_context, stamp).await
    }

    /// The node as it is, with a fresh ack.
    pub(super) async fn inspect_loaded_node(
        &self,
        node_context: NodeContext,
        stamp: ReplyRenderStamp,
    ) -> Result<GuidedNodeView, GuidedRunError> {
        let branch = self.branch_position_at_creation(&node_context).await?;
        let over = match check_guided_run_accepts_events(node_context.row.state, node_context.is_unadopted) {
            Ok(()) => None,
            Err(CommandRefusal::Ended { state }) => Some(ended_run_block_reason(node_context.row.id, state)),
            Err(_) => Some(unadopted_run_block_reason(node_context.row.id)),
        };
        let NodeContext { node, row, .. } = node_context;
        let workflow = &row.workflow.name;
        let definition = self.load_pinned_definition(row.id, workflow, &node.definition).await?;
        let look = NodeInspection {
            ack: AckId::compact_from_uuid(self.options.ids.new_uuid()),
            branch,
            end_reason: over,
            warnings: self.definition_drift_warning(workflow, &node.definition).await.into_iter().collect(),
            guidance: self.render_workflow_rules(&definition).await,
            stamp,
        };
        Ok(node_view::node_view_from_inspection(&row, node, look))
    }
}

/// Notes that differ only in trailing white space are the same; notes with only white space are none.
fn trim_notes(mut notes: String) -> Option<String> {
    notes.truncate(notes.trim_end().len());
    Some(notes).filter(|notes| !notes.is_empty())
}

fn is_empty_object(output: Option<&Value>) -> bool {
    output.and_then(Value::as_object).is_some_and(Object::is_empty)
}

/// The block reason for a run that was ended. It is not an error: there is something to see.
fn ended_run_block_reason(run: RunId, state: StateName) -> BlockReason {
    let ended = GuidedRunError::Ended { run, state };
    let message = format!("{ended}: nothing can be answered any more. Begin another with workflow_start.");
    BlockReason { code: ended.code().as_str().to_owned(), message, needs: Vec::new() }
}

/// The same for an imported run.
fn unadopted_run_block_reason(run: RunId) -> BlockReason {
    let refused = GuidedRunError::NotAdopted { run };
    let message = format!("{refused}: `trackway runs adopt {run}` lets it go on here.");
    BlockReason { code: refused.code().as_str().to_owned(), message, needs: Vec::new() }
}

pub(super) fn run_contention_error(run: RunId) -> GuidedRunError {
    let reason = format!("{run} is changed by too many callers at once; send the same call again");
    GuidedRunError::Unavailable { reason }
}
