//! Notes without an advance. They are claimed like a caller's message, so that the same notes are recognised
//! without reading the log.

use serde_json::Value;
use sha2::{Digest, Sha256};
use trackway_domain::{
    Access, Caller, GuidedRunCommand, MessageId, NodeId, ReplyRenderStamp, RunId, RunSubmission, Seq,
    SessionId,
};
use trackway_ports::{MessageClaim, MessageClaimKey, RunRow};

use super::{
    GuidedCheckpointResponse, GuidedRunError, GuidedRuns,
    guided_command_execution::{AppendPinsAndClaim, GuidedCommandOutcome, guided_run_from_row},
    input_size_limits,
    node_advance::{TRIES_MAX, run_contention_error},
    run_and_definition_loading::guided_error_from_read,
    session_resolution,
};
use crate::run_submission::encode_hex;

/// Whether notes are new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotesOutcome {
    Recorded,
    /// The same notes were recorded before.
    AlreadyRecorded,
}

impl GuidedRuns {
    /// Records notes on a node; the same notes on the same node are recorded once.
    pub async fn record_node_checkpoint(
        &self,
        access: &Access,
        run: RunId,
        node: NodeId,
        notes: &str,
        stamp: ReplyRenderStamp,
    ) -> Result<GuidedCheckpointResponse, GuidedRunError> {
        input_size_limits::check_notes_size(notes)?;
        let notes = notes.trim_end();
        for _ in 0..TRIES_MAX {
            let node_context = self.load_node_context(access, run, node).await?;
            let claim = build_notes_claim(&access.caller, run, Some(node), notes);
            let run =
                guided_run_from_row(&node_context.row, node_context.last_seq, node_context.is_unadopted);
            let notes = notes.to_owned();
            let command = GuidedRunCommand::Checkpoint { node: Some(node), notes };
            let with = AppendPinsAndClaim { claim: Some(claim.clone()), ..AppendPinsAndClaim::default() };
            let repeated =
                match self.execute_guided_command(node_context.row.id, Some(run), command, with).await {
                    Ok(GuidedCommandOutcome::Done(_)) => Some(false),
                    Ok(GuidedCommandOutcome::Repeated) => Some(true),
                    Ok(GuidedCommandOutcome::LostRace) => None,
                    // Nothing more is recorded in it, but a recorded note still gets its response.
                    Err(GuidedRunError::Ended { .. }) if self.is_notes_claim_recorded(&claim).await? => {
                        Some(true)
                    }
                    Err(error) => return Err(error),
                };
            if let Some(repeated) = repeated {
                let position = self.inspect_loaded_node(node_context, stamp).await?;
                return Ok(GuidedCheckpointResponse { view: position, is_repeat: repeated });
            }
        }
        Err(run_contention_error(run))
    }

    /// Records notes on a session, which is created if it does not exist.
    pub async fn record_session_notes(
        &self,
        access: &Access,
        session: &SessionId,
        notes: &str,
    ) -> Result<NotesOutcome, GuidedRunError> {
        input_size_limits::check_notes_size(notes)?;
        let notes = notes.trim_end();
        let run = session_resolution::session_notes_run_id(&access.caller, session);
        let claim = build_notes_claim(&access.caller, run, None, notes);
        let with = || AppendPinsAndClaim { claim: Some(claim.clone()), ..AppendPinsAndClaim::default() };
        for _ in 0..TRIES_MAX {
            let seq = self.find_last_seq(run).await?;
            let notes = notes.to_owned();
            let (known, command) = if seq > 0 {
                let row = self.find_session_notes_run(access, session, run).await?;
                let command = GuidedRunCommand::Checkpoint { node: None, notes };
                (Some(guided_run_from_row(&row, seq, false)), command)
            } else {
                let submission = Box::new(session_notes_submission(&access.caller, session, run));
                (None, GuidedRunCommand::OpenNotes { submission, notes })
            };
            match self.execute_guided_command(run, known, command, with()).await? {
                GuidedCommandOutcome::Done(_) => return Ok(NotesOutcome::Recorded),
                GuidedCommandOutcome::Repeated => return Ok(NotesOutcome::AlreadyRecorded),
                GuidedCommandOutcome::LostRace => {}
            }
        }
        Err(run_contention_error(run))
    }

    /// The run's id is derived from caller and session, but an import may bring a run with any id. Notes must
    /// not go into a run of another caller, or into a run that is not a notes run.
    pub(super) async fn find_session_notes_run(
        &self,
        access: &Access,
        session: &SessionId,
        run: RunId,
    ) -> Result<RunRow, GuidedRunError> {
        let row = self.load_accessible_run_row(&Access::own_only(access.caller.clone()), run).await?;
        match row.session == *session && row.workflow == session_resolution::session_notes_workflow() {
            true => Ok(row),
            false => Err(GuidedRunError::UnknownRun { run }),
        }
    }

    async fn is_notes_claim_recorded(&self, claim: &MessageClaim) -> Result<bool, GuidedRunError> {
        let known = self.options.journal.find_message_claim(claim.key.clone()).await;
        Ok(known.map_err(|error| guided_error_from_read(claim.run, error))?.is_some())
    }

    /// Number of the last event of a run without nodes: doubling steps, then a binary search. This takes a
    /// dozen reads of one event for a thousand events.
    async fn find_last_seq(&self, run: RunId) -> Result<Seq, GuidedRunError> {
        let (mut there, mut step) = (0, 1);
        while self.has_event_at_seq(run, there + step).await? {
            there += step;
            step *= 2;
        }
        while step > 1 {
            step /= 2;
            if self.has_event_at_seq(run, there + step).await? {
                there += step;
            }
        }
        Ok(there)
    }

    async fn has_event_at_seq(&self, run: RunId, seq: Seq) -> Result<bool, GuidedRunError> {
        let found = self.options.journal.list_events(run, seq - 1, 1).await;
        Ok(!found.map_err(|error| guided_error_from_read(run, error))?.is_empty())
    }
}

/// The run that holds a session's own notes. It has no steps, and is complete from its start.
fn session_notes_submission(caller: &Caller, session: &SessionId, run: RunId) -> RunSubmission {
    let (session, caller) = (session.clone(), caller.clone());
    let submission =
        RunSubmission::new(run, session, session_resolution::session_notes_workflow(), caller, Value::Null);
    RunSubmission { guided: true, ..submission }
}

fn build_notes_claim(caller: &Caller, run: RunId, node: Option<NodeId>, notes: &str) -> MessageClaim {
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
