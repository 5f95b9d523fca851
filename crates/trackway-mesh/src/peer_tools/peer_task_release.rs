//! Cancels the remote tasks of calls that were given up, and of runs that ended before their calls did.

use std::sync::Arc;

use serde_json::Value;
use trackway_a2a_client::{AgentRefusalKind, Client, ClientError, TaskState};
use trackway_domain::{CallChain, Caller};
use trackway_ports::{PortFuture, StepNoteHandler, StepNoteReleaseError};

use super::{
    PeerCallServices,
    call_note::PeerCallNote,
    peer_call::cancel_task,
    task_search::{MessageFate, find_task_to_cancel},
};
use crate::{PeerError, peer_registry::describe_client_error};

/// Releases the notes of calls of peers.
#[derive(Debug, Clone)]
pub struct PeerTaskReleaser {
    services: Arc<PeerCallServices>,
}

impl PeerTaskReleaser {
    pub(super) fn new(services: Arc<PeerCallServices>) -> Self {
        Self { services }
    }

    async fn cancel_noted_task(&self, owner: &Caller, note: &Value) -> Result<(), StepNoteReleaseError> {
        let refused = |reason: String| StepNoteReleaseError::Refused { reason };
        let transient = |reason: String| StepNoteReleaseError::Transient { reason };
        let note = PeerCallNote::from_value(note.clone())
            .ok_or_else(|| refused("the note is not one of a peer's call".to_owned()))?;
        // Whether it is still a peer decides whether a later attempt makes sense.
        if let Err(error @ PeerError::Unknown { .. }) =
            self.services.registry.connect(&owner.tenant, &note.peer).await
        {
            return Err(refused(error.to_string()));
        }
        let chain = CallChain::default();
        let client = self.services.connect_signed(owner, &note.peer, &chain).await.map_err(transient)?;
        match cancel_noted_call(&client, &note).await {
            Ok(ReleasedCall::Ended { task, state }) => {
                tracing::info!(peer = note.peer, task, %state, "the task of a call that was given up has ended");
                Ok(())
            }
            Ok(ReleasedCall::WithoutTask) => Ok(()),
            Ok(ReleasedCall::Unknown) => Err(refused(format!(
                "the peer {} may have begun a task, which cannot be found: it does not promise to recognise a \
                 repeated message",
                note.peer
            ))),
            Err(error) if error.refusal_kind() == Some(AgentRefusalKind::TaskNotFound) => Ok(()),
            Err(error @ ClientError::Refused(_)) => Err(refused(describe_client_error(&error))),
            Err(error) => Err(transient(describe_client_error(&error))),
        }
    }
}

/// What the release of a call found.
enum ReleasedCall {
    /// The task and its state, which is final.
    Ended {
        task: String,
        state: TaskState,
    },
    WithoutTask,
    Unknown,
}

/// Cancels the task of a call; the one that its message started if the call ended before the task was known.
async fn cancel_noted_call(client: &Client, note: &PeerCallNote) -> Result<ReleasedCall, ClientError> {
    let task = match &note.task {
        Some(task) => task.clone(),
        None => match find_task_to_cancel(client, note).await? {
            MessageFate::Task(task) => task.id,
            MessageFate::Answered => return Ok(ReleasedCall::WithoutTask),
            MessageFate::Unknown => return Ok(ReleasedCall::Unknown),
        },
    };
    let state = cancel_task(client, &task).await?;
    Ok(ReleasedCall::Ended { task, state })
}

impl StepNoteHandler for PeerTaskReleaser {
    fn release<'a>(
        &'a self,
        owner: &'a Caller,
        note: &'a Value,
    ) -> PortFuture<'a, Result<(), StepNoteReleaseError>> {
        Box::pin(self.cancel_noted_task(owner, note))
    }
}
