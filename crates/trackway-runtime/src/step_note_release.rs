//! Releases what unfinished steps of ended runs began elsewhere: an errand that is owed to the outside.
//!
//! The errand is recorded with the end of the run, so an acknowledged cancel is never without it. It stays in
//! the outbox until the handler has released the note, has refused it, or the time for it is over. A peer that
//! is away is no failure of this process, so `/readyz` does not name it.

use std::{sync::Arc, time::Duration};

use serde_json::Value;
use trackway_domain::{Caller, Op, RunId, Timestamp};
use trackway_ports::{OutboxId, StepNoteHandler, StepNoteReleaseError};

use crate::{Error, runtime_core::RuntimeCore, task_supervisor::TaskSupervisor};

/// Pause after the first failure; each further one doubles it. A peer that is being restarted is back within
/// seconds.
///
/// Limit (Runtime): pause after the first failed release of a step's note; it doubles each time.
const PAUSE_FIRST: Duration = Duration::from_secs(1);

/// A peer that comes back is released within this time.
///
/// Limit (Runtime): pause between two attempts to release a step's note.
const PAUSE_MAX: Duration = Duration::from_secs(60);

/// As long as an update is tried at a hook. A peer that is away for longer has lost or ended its task.
///
/// Limit (Runtime): time after a run's end for which a step's note is tried to be released.
const GIVE_UP_AFTER: Duration = Duration::from_secs(24 * 60 * 60);

/// Long enough for a slow peer; a handler that does not end must not keep its slot.
///
/// Limit (Runtime): time of one attempt to release a step's note.
const ATTEMPT_TIME_MAX: Duration = Duration::from_secs(30);

/// A run with many steps must not open as many connections at once.
///
/// Limit (Runtime): releases of steps' notes under way at once.
pub(crate) const RELEASES_MAX: usize = 32;

/// What a step of an ended run left elsewhere.
#[derive(Debug)]
pub(crate) struct UnreleasedNote {
    pub(crate) run: RunId,
    pub(crate) op: Op,
    pub(crate) owner: Caller,
    pub(crate) note: Value,
    pub(crate) ended_at: Timestamp,
}

impl RuntimeCore {
    /// Releases it in the background: recovery and other errands do not wait for a peer.
    pub(crate) fn release_step_note_in_background(self: &Arc<Self>, id: OutboxId, left: UnreleasedNote) {
        let core = self.clone();
        self.tokio.spawn(async move {
            if core.release_step_note_with_retry(&left).await {
                core.settle_step_note_release(id).await;
            }
        });
    }

    /// True if nothing more is to be done for it.
    async fn release_step_note_with_retry(&self, left: &UnreleasedNote) -> bool {
        let UnreleasedNote { run, op, ended_at, .. } = left;
        let Some(handler) = self.options.step_notes.as_deref() else {
            // A tool that only reads or cancels leaves it to the server.
            if self.options.resume_unfinished {
                tracing::warn!(%run, %op, "nothing here can release what the step began elsewhere");
            }
            return self.options.resume_unfinished;
        };
        let end = *ended_at + GIVE_UP_AFTER;
        let mut pause = PAUSE_FIRST;
        loop {
            let reason = match self.try_release_step_note(handler, left).await {
                Ok(()) => return true,
                Err(StepNoteReleaseError::Refused { reason }) => {
                    tracing::warn!(%run, %op, reason, "what the step began elsewhere cannot be released");
                    return true;
                }
                Err(StepNoteReleaseError::Transient { reason }) => reason,
            };
            let now = self.now();
            if now >= end {
                tracing::warn!(%run, %op, reason, "what the step began elsewhere is given up");
                return true;
            }
            tracing::info!(%run, %op, reason, "what the step began elsewhere is released later");
            // The row stays, and the next start tries again.
            if self.sleep_unless_stopping(Some((now + pause).min(end))).await.is_break() {
                return false;
            }
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    async fn try_release_step_note(
        &self,
        handler: &dyn StepNoteHandler,
        left: &UnreleasedNote,
    ) -> Result<(), StepNoteReleaseError> {
        // Never closed, so acquiring cannot fail.
        let _slot = self.release_slots.acquire().await;
        self.reach_fault_point("release:before");
        let released = tokio::select! {
            biased;
            released = handler.release(&left.owner, &left.note) => released,
            () = self.options.clock.sleep_until(self.now() + ATTEMPT_TIME_MAX) => {
                Err(StepNoteReleaseError::Transient { reason: "it took too long".to_owned() })
            }
        };
        self.reach_fault_point("release:after");
        released
    }

    /// Removes the errand. If the store cannot be written, it stays and is done again.
    async fn settle_step_note_release(self: &Arc<Self>, id: OutboxId) {
        let mut supervisor = TaskSupervisor::new(self, "errands");
        loop {
            match self.remove_errand_without_run(id).await {
                Ok(()) | Err(Error::Stopping) => return,
                Err(error) if error.is_transient() => {
                    if supervisor.back_off_after_failure(&error).await.is_break() {
                        return;
                    }
                }
                Err(error) => return tracing::warn!(%error, "a released note stays in the outbox"),
            }
        }
    }
}
