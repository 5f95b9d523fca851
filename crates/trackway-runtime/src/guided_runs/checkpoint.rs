//! Notes without an advance. They are claimed like a caller's message, so that the same notes are recognised
//! without reading the log.

use serde_json::Value;
use sha2::{Digest, Sha256};
use trackway_domain::{
    Access, Caller, GuidedCommand, MessageId, NodeId, RenderStamp, RunId, Seq, SessionId, Submission,
};
use trackway_ports::{MessageClaim, MessageClaimKey, RunRow};

use super::{
    CheckpointResponse, GuidedRunError, GuidedRuns,
    advance::{TRIES_MAX, too_busy_error},
    execute::{AppendExtras, ExecuteOutcome, run_from_row},
    loading::error_from_read,
    session, size_limits,
};
use crate::submit::encode_hex;

impl GuidedRuns {
    /// Records notes on a node; the same notes on the same node are recorded once.
    pub async fn checkpoint(
        &self,
        access: &Access,
        run: RunId,
        node: NodeId,
        notes: &str,
        stamp: RenderStamp,
    ) -> Result<CheckpointResponse, GuidedRunError> {
        size_limits::check_notes(notes)?;
        let notes = notes.trim_end();
        for _ in 0..TRIES_MAX {
            let node_context = self.load_node(access, run, node).await?;
            let claim = notes_claim(&access.caller, run, Some(node), notes);
            let run = run_from_row(&node_context.row, node_context.last_seq, node_context.is_unadopted);
            let notes = notes.to_owned();
            let command = GuidedCommand::Checkpoint { node: Some(node), notes };
            let with = AppendExtras { claim: Some(claim.clone()), ..AppendExtras::default() };
            let repeated = match self.execute(node_context.row.id, Some(run), command, with).await {
                Ok(ExecuteOutcome::Done(_)) => Some(false),
                Ok(ExecuteOutcome::Repeated) => Some(true),
                Ok(ExecuteOutcome::LostRace) => None,
                // Nothing more is recorded in it, but a recorded note still gets its response.
                Err(GuidedRunError::Ended { .. }) if self.is_claim_recorded(&claim).await? => Some(true),
                Err(error) => return Err(error),
            };
            if let Some(repeated) = repeated {
                let position = self.inspect_loaded(node_context, stamp).await?;
                return Ok(CheckpointResponse { view: position, is_repeat: repeated });
            }
        }
        Err(too_busy_error(run))
    }

    /// Records notes on a session, which is created if it does not exist. True if the same notes were
    /// recorded before.
    pub async fn checkpoint_session(
        &self,
        access: &Access,
        session: &SessionId,
        notes: &str,
    ) -> Result<bool, GuidedRunError> {
        size_limits::check_notes(notes)?;
        let notes = notes.trim_end();
        let run = session::notes_run_id(&access.caller, session);
        let claim = notes_claim(&access.caller, run, None, notes);
        let with = || AppendExtras { claim: Some(claim.clone()), ..AppendExtras::default() };
        for _ in 0..TRIES_MAX {
            let seq = self.last_seq(run).await?;
            let notes = notes.to_owned();
            let (known, command) = if seq > 0 {
                let row = self.find_session_notes_run(access, session, run).await?;
                let command = GuidedCommand::Checkpoint { node: None, notes };
                (Some(run_from_row(&row, seq, false)), command)
            } else {
                let submission = Box::new(session_notes_submission(&access.caller, session, run));
                (None, GuidedCommand::OpenNotes { submission, notes })
            };
            match self.execute(run, known, command, with()).await? {
                ExecuteOutcome::Done(_) => return Ok(false),
                ExecuteOutcome::Repeated => return Ok(true),
                ExecuteOutcome::LostRace => {}
            }
        }
        Err(too_busy_error(run))
    }

    /// The run's id is derived from caller and session, but an import may bring a run with any id. Notes must
    /// not go into a run of another caller, or into a run that is not a notes run.
    pub(super) async fn find_session_notes_run(
        &self,
        access: &Access,
        session: &SessionId,
        run: RunId,
    ) -> Result<RunRow, GuidedRunError> {
        let row = self.load_run_row(&Access::own_only(access.caller.clone()), run).await?;
        match row.session == *session && row.workflow == session::notes_workflow() {
            true => Ok(row),
            false => Err(GuidedRunError::UnknownRun { run }),
        }
    }

    async fn is_claim_recorded(&self, claim: &MessageClaim) -> Result<bool, GuidedRunError> {
        let known = self.options.journal.find_message_claim(claim.key.clone()).await;
        Ok(known.map_err(|error| error_from_read(claim.run, error))?.is_some())
    }

    /// Number of the last event of a run without nodes: doubling steps, then a binary search. This takes a
    /// dozen reads of one event for a thousand events.
    async fn last_seq(&self, run: RunId) -> Result<Seq, GuidedRunError> {
        let (mut there, mut step) = (0, 1);
        while self.has_event(run, there + step).await? {
            there += step;
            step *= 2;
        }
        while step > 1 {
            step /= 2;
            if self.has_event(run, there + step).await? {
                there += step;
            }
        }
        Ok(there)
    }

    async fn has_event(&self, run: RunId, seq: Seq) -> Result<bool, GuidedRunError> {
        let found = self.options.journal.list_events(run, seq - 1, 1).await;
        Ok(!found.map_err(|error| error_from_read(run, error))?.is_empty())
    }
}

/// The run that holds a session's own notes. It has no steps, and is complete from its start.
fn session_notes_submission(caller: &Caller, session: &SessionId, run: RunId) -> Submission {
    let (session, caller) = (session.clone(), caller.clone());
    let submission = Submission::new(run, session, session::notes_workflow(), caller, Value::Null);
    Submission { guided: true, ..submission }
}

fn notes_claim(caller: &Caller, run: RunId, node: Option<NodeId>, notes: &str) -> MessageClaim {
    let mut hash = Sha256::new();
    hash.update(run.uuid().as_bytes());
    // The run's own notes have no node; no node has the id of zeros.
    hash.update(node.map(|node| *node.uuid().as_bytes()).unwrap_or_default());
    hash.update(notes);
    let digest = encode_hex(&hash.finalize());
    // Longer than any id that a caller could choose by accident.
    let message = MessageId::new(&format!("checkpoint-{digest}"));
    let message = message.unwrap_or_else(|_| MessageId::from_uuid(run.uuid()));
    let key = MessageClaimKey { caller: caller.clone(), message };
    MessageClaim { key, run, digest, reply: Value::Null }
}
