//! Answers a node, and inspects one.
//!
//! An answer costs one read (the node with its run, and whether this same answer is recorded), a second read
//! if the definition is not in memory, and one append. The cost is the same in a run of ten events and in one
//! of ten thousand, with one branch or a hundred. An empty output costs one more read. A repetition costs
//! only the one read. An inspection costs the same, plus the definition.

use serde_json::Value;
use trackway_domain::{
    Access, AckId, AnsweredNode, BlockReason, BranchPosition, Consent, GuidedCommand, NodeAnswer, NodeId,
    Object, RenderStamp, RunId, StateName,
};
use trackway_engine::{GuidedReply, Refusal, guided_run_accepts};
use trackway_ports::AttemptKey;

use super::{
    AdvanceRequest, AdvanceResponse, GuidedRunError, GuidedRuns, NodeView,
    execute::{AppendExtras, ExecuteOutcome, error_from_refusal, run_from_row},
    input_digest::digest_inputs,
    node_context::NodeContext,
    node_view::{self, Inspection},
    size_limits,
};

/// Lost races in a row before an answer is given up. Each race is lost to an append of another caller, so the
/// run advances in any case. To lose this often takes as many agents on one run.
/// Limit (Sessions): lost races before an answer is refused.
pub(super) const TRIES_MAX: usize = 50;

impl GuidedRuns {
    /// Answers a node. The same answer again returns the same response.
    pub async fn advance(
        &self,
        access: &Access,
        mut advance: AdvanceRequest,
    ) -> Result<AdvanceResponse, GuidedRunError> {
        size_limits::check_inputs(&advance.inputs)?;
        advance.inputs.notes = advance.inputs.notes.take().and_then(trim_notes);
        if is_empty_object(advance.inputs.output.as_ref()) && !self.expects_output(access, &advance).await? {
            advance.inputs.output = None;
        }
        let AdvanceRequest { run, node, ack, .. } = advance;
        let key = AttemptKey { run, node, ack, digest: digest_inputs(&advance.inputs) };
        for _ in 0..TRIES_MAX {
            let (node_context, recorded) = self.load_node_and_attempt(access, &key).await?;
            if let Some((node, attempt)) = recorded {
                let again = node_view::view_from_attempt(&node_context.row, &node, attempt);
                return Ok(AdvanceResponse::Node(Box::new(again)));
            }
            match guided_run_accepts(node_context.row.state, node_context.is_unadopted) {
                // A run that was not adopted can be inspected if it is complete.
                Err(Refusal::NotAdopted) if node_context.node.pending.is_none() => {}
                accepts => accepts.map_err(|refusal| error_from_refusal(run, refusal))?,
            }
            if node_context.node.pending.is_none() {
                let seen = self.inspect_loaded(node_context, advance.stamp).await?;
                return Ok(AdvanceResponse::Node(Box::new(seen)));
            }
            if let Some(advanced) = self.try_advance(node_context, &advance, &key).await? {
                return Ok(advanced);
            }
        }
        Err(too_busy_error(run))
    }

    /// Whether an empty output means something at this node. If no output is expected, it is the same answer
    /// as one without an output.
    async fn expects_output(&self, access: &Access, at: &AdvanceRequest) -> Result<bool, GuidedRunError> {
        let node_context = self.load_node(access, at.run, at.node).await?;
        Ok(node_context.node.pending.is_some_and(|pending| pending.output.is_some()))
    }

    /// One attempt. None if another caller was faster, so that the node must be read again.
    async fn try_advance(
        &self,
        node_context: NodeContext,
        advance: &AdvanceRequest,
        key: &AttemptKey,
    ) -> Result<Option<AdvanceResponse>, GuidedRunError> {
        let (run, node) = (key.run, &node_context.node);
        let workflow = &node_context.row.workflow.name;
        let definition = self.load_definition(run, workflow, &node.definition).await?;
        let context = self.load_full_context(run, node).await?;
        let result = trackway_definition::advance(&definition, &node.position, &context, &advance.inputs);
        if let Ok(step) = &result {
            size_limits::check_context(&step.context)?;
        }
        let mut warning = self.drift_warning(workflow, &node.definition).await;
        if warning.is_none() && node_context.branch_count > 0 {
            warning = self.damage_warning(run, node.id).await?;
        }
        // The branch is reported only if the answer does not advance, because it may have to be read.
        let stays = result.is_err() || advance.consent == Consent::Answered(false);
        let branch =
            if stays { self.branch_at_creation(&node_context).await? } else { BranchPosition::FIRST };
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
        let command = GuidedCommand::Answer(Box::new(answer));
        let indexed = run_from_row(&node_context.row, node_context.last_seq, node_context.is_unadopted);
        let executed = self.execute(run, Some(indexed), command, AppendExtras::default()).await?;
        let ExecuteOutcome::Done(Some(reply)) = executed else { return Ok(None) };
        Ok(match *reply {
            GuidedReply::Attempted(attempt) => {
                let position = node_view::view_from_attempt(&node_context.row, node, attempt);
                Some(AdvanceResponse::Node(Box::new(position)))
            }
            GuidedReply::ConsentNeeded(pending) => Some(AdvanceResponse::ConsentNeeded(pending)),
            GuidedReply::Opened { .. } => None,
        })
    }

    /// The node again, with a fresh ack. Records nothing.
    pub async fn inspect_node(
        &self,
        access: &Access,
        run: RunId,
        node: NodeId,
        stamp: RenderStamp,
    ) -> Result<NodeView, GuidedRunError> {
        let node_context = self.load_node(access, run, node).await?;
        self.inspect_loaded(node_context, stamp).await
    }

    /// The node as it is, with a fresh ack.
    pub(super) async fn inspect_loaded(
        &self,
        node_context: NodeContext,
        stamp: RenderStamp,
    ) -> Result<NodeView, GuidedRunError> {
        let branch = self.branch_at_creation(&node_context).await?;
        let over = match guided_run_accepts(node_context.row.state, node_context.is_unadopted) {
            Ok(()) => None,
            Err(Refusal::Ended { state }) => Some(ended_block(node_context.row.id, state)),
            Err(_) => Some(unadopted_block(node_context.row.id)),
        };
        let NodeContext { node, row, .. } = node_context;
        let workflow = &row.workflow.name;
        let definition = self.load_definition(row.id, workflow, &node.definition).await?;
        let look = Inspection {
            ack: AckId::compact_from_uuid(self.options.ids.new_uuid()),
            branch,
            end_reason: over,
            warnings: self.drift_warning(workflow, &node.definition).await.into_iter().collect(),
            guidance: self.render_rules(&definition).await,
            stamp,
        };
        Ok(node_view::view_from_inspection(&row, node, look))
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
fn ended_block(run: RunId, state: StateName) -> BlockReason {
    let ended = GuidedRunError::Ended { run, state };
    let message = format!("{ended}: nothing can be answered any more. Begin another with workflow_start.");
    BlockReason { code: ended.code().as_str().to_owned(), message, needs: Vec::new() }
}

/// The same for an imported run.
fn unadopted_block(run: RunId) -> BlockReason {
    let refused = GuidedRunError::NotAdopted { run };
    let message = format!("{refused}: `trackway runs adopt {run}` lets it go on here.");
    BlockReason { code: refused.code().as_str().to_owned(), message, needs: Vec::new() }
}

pub(super) fn too_busy_error(run: RunId) -> GuidedRunError {
    let reason = format!("{run} is changed by too many callers at once; send the same call again");
    GuidedRunError::Unavailable { reason }
}
