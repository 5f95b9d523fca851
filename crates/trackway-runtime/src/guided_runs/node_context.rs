//! Loads a node, for a caller that may see its run.

use trackway_domain::{
    Access, AttemptOutcome, BranchPosition, Event, GuidedNode, GuidedRunEvent, NodeAttempt, NodeId, RunId,
    Seq,
};
use trackway_ports::{AttemptKey, RunRow, StoredEvent, StoredNode, attempt_in_event, node_in_event};

use super::{
    GuidedRunError, GuidedRuns,
    run_and_definition_loading::{EventVisitControl, guided_error_from_read},
};

/// A node, and what is needed to answer it.
#[derive(Debug)]
pub(super) struct NodeContext {
    pub(super) node: GuidedNode,
    /// Number of the event that created it, or moved it to another definition last.
    pub(super) created_seq: Seq,
    /// Number of the run's last event.
    pub(super) last_seq: Seq,
    /// The run was imported and not adopted.
    pub(super) is_unadopted: bool,
    pub(super) row: RunRow,
    /// How many branches have grown from it.
    pub(super) branch_count: u32,
    /// How many answers to it were blocked.
    pub(super) blocked_count: u32,
    /// Which branch it was when it was created. None if it was moved to another definition since: then the
    /// log has it.
    pub(super) branch_at_creation: Option<BranchPosition>,
}

impl GuidedRuns {
    /// The node, for its caller. For any other caller there is no such run.
    pub(super) async fn load_node_context(
        &self,
        access: &Access,
        run: RunId,
        node: NodeId,
    ) -> Result<NodeContext, GuidedRunError> {
        let found = self.options.journal.find_node(run, node).await;
        match found.map_err(|error| guided_error_from_read(run, error))? {
            Some(found) => authorize_stored_node(access, run, node, found),
            None => {
                self.load_accessible_run_row(access, run).await?;
                Err(GuidedRunError::UnknownNode { run, node })
            }
        }
    }

    /// The node that an answer is for, and the record of this same answer, if there is one, with the node as
    /// it was then.
    pub(super) async fn load_node_and_earlier_attempt(
        &self,
        access: &Access,
        key: &AttemptKey,
    ) -> Result<(NodeContext, Option<(GuidedNode, NodeAttempt)>), GuidedRunError> {
        let AttemptKey { run, node, .. } = *key;
        let journal = &self.options.journal;
        let (node_context, stored) = match journal.find_node_and_attempt(key.clone()).await {
            Ok(Some(asked)) => (authorize_stored_node(access, run, node, asked.node)?, asked.attempt),
            // Something is wrong or missing. One read after the other: access to the run is checked before
            // damage in it is reported. The node is read before the attempt: an answer that is recorded
            // between the two reads is found by the second, and one that is recorded after it makes the
            // append fail.
            Ok(None) | Err(_) => {
                let node_context = self.load_node_context(access, run, node).await?;
                let stored = journal.find_attempt(key.clone()).await;
                (node_context, stored.map_err(|error| guided_error_from_read(run, error))?)
            }
        };
        let recorded = match stored {
            Some(stored) => Some(self.load_recorded_attempt(&node_context, key, &stored).await?),
            None => None,
        };
        Ok((node_context, recorded))
    }

    pub(super) async fn load_accessible_run_row(
        &self,
        access: &Access,
        run: RunId,
    ) -> Result<RunRow, GuidedRunError> {
        let row = self.options.journal.find_run(run).await;
        let row = row.map_err(|error| guided_error_from_read(run, error))?;
        row.filter(|row| access.covers_owner(&row.caller)).ok_or(GuidedRunError::UnknownRun { run })
    }

    /// Which branch the node was when it was created. A caller that inspects it or is blocked at it gets the
    /// same value as the caller that created it.
    pub(super) async fn branch_position_at_creation(
        &self,
        node_context: &NodeContext,
    ) -> Result<BranchPosition, GuidedRunError> {
        if let Some(branch) = node_context.branch_at_creation {
            return Ok(branch);
        }
        let mut found = None;
        self.for_each_run_event(node_context.row.id, |stored| {
            found = branch_position_created_by(&stored.event, node_context.node.id);
            if found.is_some() { EventVisitControl::Stop } else { EventVisitControl::Continue }
        })
        .await?;
        Ok(found.unwrap_or(BranchPosition::FIRST))
    }

    /// The node as it was in the log before that event.
    async fn load_node_before_seq(
        &self,
        run: RunId,
        id: NodeId,
        before: Seq,
    ) -> Result<GuidedNode, GuidedRunError> {
        let mut found = None;
        self.for_each_run_event(run, |stored| {
            if stored.seq >= before {
                return EventVisitControl::Stop;
            }
            if let Some(node) = node_in_event(&stored.event).filter(|node| node.id == id) {
                found = Some(node.clone());
            }
            EventVisitControl::Continue
        })
        .await?;
        found.ok_or(GuidedRunError::UnknownNode { run, node: id })
    }

    /// The recorded attempt, with the node as it was then.
    async fn load_recorded_attempt(
        &self,
        node_context: &NodeContext,
        key: &AttemptKey,
        stored: &StoredEvent,
    ) -> Result<(GuidedNode, NodeAttempt), GuidedRunError> {
        let attempt = attempt_in_event(&stored.event).filter(|attempt| attempt_matches_key(attempt, key));
        let Some(attempt) = attempt else {
            return Err(GuidedRunError::Damaged { run: key.run, reason: "its index is wrong".into() });
        };
        // The node was moved to another definition since: the response showed the step of the first one.
        let node = match node_context.created_seq > stored.seq {
            true => self.load_node_before_seq(key.run, node_context.node.id, stored.seq).await?,
            false => node_context.node.clone(),
        };
        Ok((node, attempt.clone()))
    }
}

/// The loaded node, for its caller. For any other caller there is no such run.
fn authorize_stored_node(
    access: &Access,
    run: RunId,
    node: NodeId,
    found: StoredNode,
) -> Result<NodeContext, GuidedRunError> {
    if !access.covers_owner(&found.row.caller) {
        return Err(GuidedRunError::UnknownRun { run });
    }
    let StoredNode {
        defining_event: made,
        head,
        is_unadopted,
        row,
        branch_count: branches,
        blocked_count: blocked,
    } = found;
    let made_seq = made.seq;
    match node_in_event(&made.event).filter(|found| found.id == node) {
        Some(node) => {
            let came_as = branch_position_created_by(&made.event, node.id);
            let node = node.clone();
            let made = made_seq;
            Ok(NodeContext {
                node,
                created_seq: made,
                last_seq: head,
                is_unadopted,
                row,
                branch_count: branches,
                blocked_count: blocked,
                branch_at_creation: came_as,
            })
        }
        None => Err(GuidedRunError::Damaged { run, reason: "its index is wrong".into() }),
    }
}

/// The branch position in the event that created the node.
fn branch_position_created_by(event: &Event, id: NodeId) -> Option<BranchPosition> {
    let Event::Guided(guided) = event else { return None };
    match &**guided {
        GuidedRunEvent::Opened { node, reply, .. } if node.id == id => Some(reply.branch),
        GuidedRunEvent::Attempted(NodeAttempt { outcome: AttemptOutcome::Advanced(node), reply, .. })
            if node.id == id =>
        {
            Some(reply.branch)
        }
        _ => None,
    }
}

fn attempt_matches_key(attempt: &NodeAttempt, key: &AttemptKey) -> bool {
    attempt.node == key.node && attempt.ack == key.ack && attempt.digest == key.digest
}
