//! Notes without an advance. What was noted is claimed as a caller's message is, so that the same notes
//! again are recognised without reading the log.

use serde_json::Value;
use sha2::{Digest, Sha256};
use trackway_domain::{
    Access, Caller, GuidedCommand, MessageId, NodeId, RunId, Seal, Seq, SessionId, Submission,
};
use trackway_ports::{Claim, ClaimKey, RunRow};

use super::{
    Checkpointed, Guide, GuideError,
    advance::{TRIES_MAX, too_busy},
    bounds,
    execute::{Executed, With, indexed},
    session,
    store::unreadable,
};
use crate::submit::hex;

impl Guide {
    /// Records notes on a node; the same notes on the same node are recorded once.
    pub async fn checkpoint(
        &self,
        access: &Access,
        run: RunId,
        node: NodeId,
        notes: &str,
        seal: Seal,
    ) -> Result<Checkpointed, GuideError> {
        bounds::notes(notes)?;
        let notes = notes.trim_end();
        for _ in 0..TRIES_MAX {
            let place = self.place(access, run, node).await?;
            let claim = claim(&access.caller, run, Some(node), notes);
            let run = indexed(&place.row, place.head, place.is_unadopted);
            let notes = notes.to_owned();
            let command = GuidedCommand::Checkpoint { node: Some(node), notes };
            let with = With { claim: Some(claim.clone()), ..With::default() };
            let repeated = match self.execute(place.row.id, Some(run), command, with).await {
                Ok(Executed::Done(_)) => Some(false),
                Ok(Executed::Repeated) => Some(true),
                Ok(Executed::Lost) => None,
                // Nothing more is recorded in it, but what was is still answered.
                Err(GuideError::Ended { .. }) if self.is_claimed(&claim).await? => Some(true),
                Err(error) => return Err(error),
            };
            if let Some(repeated) = repeated {
                let position = self.seen(place, seal).await?;
                return Ok(Checkpointed { position, repeated });
            }
        }
        Err(too_busy(run))
    }

    /// Records notes on a session, which is made where there is none of that id. True where the same
    /// notes had been recorded before.
    pub async fn checkpoint_session(
        &self,
        access: &Access,
        session: &SessionId,
        notes: &str,
    ) -> Result<bool, GuideError> {
        bounds::notes(notes)?;
        let notes = notes.trim_end();
        let run = session::notes_run(&access.caller, session);
        let claim = claim(&access.caller, run, None, notes);
        let with = || With { claim: Some(claim.clone()), ..With::default() };
        for _ in 0..TRIES_MAX {
            let seq = self.head(run).await?;
            let notes = notes.to_owned();
            let (known, command) = if seq > 0 {
                let row = self.own_notebook(access, session, run).await?;
                let command = GuidedCommand::Checkpoint { node: None, notes };
                (Some(indexed(&row, seq, false)), command)
            } else {
                let submission = Box::new(notebook(&access.caller, session, run));
                (None, GuidedCommand::OpenNotes { submission, notes })
            };
            match self.execute(run, known, command, with()).await? {
                Executed::Done(_) => return Ok(false),
                Executed::Repeated => return Ok(true),
                Executed::Lost => {}
            }
        }
        Err(too_busy(run))
    }

    /// The run's id follows from caller and session, but a bundle may bring a run of any id: nobody's
    /// notes go into a run that is another's, or that is no notebook.
    pub(super) async fn own_notebook(
        &self,
        access: &Access,
        session: &SessionId,
        run: RunId,
    ) -> Result<RunRow, GuideError> {
        let row = self.row(&Access::own(access.caller.clone()), run).await?;
        match row.session == *session && row.workflow == session::notes_workflow() {
            true => Ok(row),
            false => Err(GuideError::UnknownRun { run }),
        }
    }

    async fn is_claimed(&self, claim: &Claim) -> Result<bool, GuideError> {
        let known = self.options.journal.claim(claim.key.clone()).await;
        Ok(known.map_err(|error| unreadable(claim.run, error))?.is_some())
    }

    /// Number of the last event of a run without nodes: probed in doubling steps and then halved, which
    /// takes a dozen reads of one event where there are a thousand.
    async fn head(&self, run: RunId) -> Result<Seq, GuideError> {
        let (mut there, mut step) = (0, 1);
        while self.has(run, there + step).await? {
            there += step;
            step *= 2;
        }
        while step > 1 {
            step /= 2;
            if self.has(run, there + step).await? {
                there += step;
            }
        }
        Ok(there)
    }

    async fn has(&self, run: RunId, seq: Seq) -> Result<bool, GuideError> {
        let found = self.options.journal.events(run, seq - 1, 1).await;
        Ok(!found.map_err(|error| unreadable(run, error))?.is_empty())
    }
}

/// The run that holds a session's own notes. It has no steps, and is complete from its start.
fn notebook(caller: &Caller, session: &SessionId, run: RunId) -> Submission {
    let (session, caller) = (session.clone(), caller.clone());
    let submission = Submission::new(run, session, session::notes_workflow(), caller, Value::Null);
    Submission { guided: true, ..submission }
}

fn claim(caller: &Caller, run: RunId, node: Option<NodeId>, notes: &str) -> Claim {
    let mut hash = Sha256::new();
    hash.update(run.uuid().as_bytes());
    // The run's own notes are those of no node; no node has the id of zeros.
    hash.update(node.map(|node| *node.uuid().as_bytes()).unwrap_or_default());
    hash.update(notes);
    let digest = hex(&hash.finalize());
    // Longer than any id that a caller could mean by accident.
    let message = MessageId::new(&format!("checkpoint-{digest}"));
    let message = message.unwrap_or_else(|_| MessageId::made(run.uuid()));
    let key = ClaimKey { caller: caller.clone(), message };
    Claim { key, run, digest, reply: Value::Null }
}
