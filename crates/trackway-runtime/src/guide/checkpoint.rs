//! Notes without an advance. What was noted is claimed as a caller's message is, so that the same notes
//! again are recognised without reading the log.

use serde_json::Value;
use sha2::{Digest, Sha256};
use trackway_domain::{
    Access, Caller, Checkpoint, Event, Guided, MessageId, NodeId, RunId, Seal, Seq, SessionId,
    StateName, Submission,
};
use trackway_ports::{Append, AppendError, Claim, ClaimKey};

use super::{
    Checkpointed, Guide, GuideError,
    advance::{TRIES_MAX, too_busy},
    bounds, decide, session,
    store::{guided, unreadable, unwritable},
};
use crate::submit::hex;

impl Guide {
    pub(super) async fn note(
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
            let repeated = match decide::ended(place.row.state) {
                // Nothing more is recorded in it, but what was is still answered.
                Some(state) => match self.is_claimed(&claim).await? {
                    true => Some(true),
                    false => return Err(GuideError::Ended { run, state }),
                },
                None if place.is_unadopted => {
                    return Err(GuideError::NotAdopted { run });
                }
                None => {
                    let mut append = Append::new(run, place.head, self.now());
                    append.events = vec![noted(Some(node), notes)];
                    append.claim = Some(claim);
                    self.claiming(append).await?
                }
            };
            if let Some(repeated) = repeated {
                let position = self.seen(place, seal).await?;
                return Ok(Checkpointed { position, repeated });
            }
        }
        Err(too_busy(run))
    }

    pub(super) async fn note_session(
        &self,
        access: &Access,
        session: &SessionId,
        notes: &str,
    ) -> Result<bool, GuideError> {
        bounds::notes(notes)?;
        let notes = notes.trim_end();
        let run = session::notes_run(&access.caller, session);
        for _ in 0..TRIES_MAX {
            let now = self.now();
            let head = self.head(run).await?;
            if head > 0 {
                self.own_notebook(access, session, run).await?;
            }
            let mut append = Append::new(run, head, now);
            if head == 0 {
                let submission = notebook(&access.caller, session, run);
                append.row = Some(decide::row(&submission, StateName::Completed, now));
                append.events = vec![
                    Event::Submitted(Box::new(submission)),
                    Event::Started,
                    Event::Completed { output: Value::Null, message_id: None },
                ];
            }
            append.events.push(noted(None, notes));
            append.claim = Some(claim(&access.caller, run, None, notes));
            if let Some(repeated) = self.claiming(append).await? {
                return Ok(repeated);
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
    ) -> Result<(), GuideError> {
        let row = self.row(&Access::own(access.caller.clone()), run).await?;
        match row.session == *session && row.workflow == session::notes_workflow() {
            true => Ok(()),
            false => Err(GuideError::UnknownRun { run }),
        }
    }

    /// Whether the same had been recorded before. None where the race was lost.
    async fn claiming(&self, append: Append) -> Result<Option<bool>, GuideError> {
        match self.commit(append).await {
            Ok(()) => Ok(Some(false)),
            Err(AppendError::Claimed(_)) => Ok(Some(true)),
            Err(AppendError::Conflict { .. }) => Ok(None),
            Err(error) => Err(unwritable(&error)),
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

fn noted(node: Option<NodeId>, notes: &str) -> Event {
    guided(Guided::Checkpointed(Checkpoint { node, notes: notes.to_owned() }))
}

/// The run that holds a session's own notes. It has no steps, and is complete from its start.
fn notebook(caller: &Caller, session: &SessionId, run: RunId) -> Submission {
    Submission {
        run,
        session: session.clone(),
        workflow: session::notes_workflow(),
        caller: caller.clone(),
        input: Value::Null,
        message: None,
        parent: None,
        deadline: None,
        guided: true,
        exit: None,
        forked_from: None,
        awaited: false,
    }
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
