//! Notes of a step: what it knows about its effect elsewhere while it has no outcome.
//!
//! A step that makes a peer work for it keeps the name of that work in a note. After a crash, a takeover or a
//! question, the step that runs again finds it. If the run ends without the outcome of the step, the runtime
//! hands the note to the [`StepNoteHandler`](trackway_ports::StepNoteHandler), which releases that work.

use serde_json::Value;
use trackway_domain::{Op, RunCommand, StepNoteRefusal, check_step_note};
use trackway_engine::{CommandRefusal, Run};

use super::Stage;
use crate::live_run::DecisionDurability;

impl Stage {
    /// Keeps a note of the step of that name, and returns when it is durable. The newest note counts; `null`
    /// removes it; the step's outcome removes it too. Record what identifies an effect before you cause it:
    /// if the process ends or the run is cancelled in between, only the note is known. The note is part of
    /// the log, so it must not hold secrets.
    pub async fn record_note(&self, step: &Op, note: Value) -> Result<(), StepNoteRefusal> {
        check_step_note(&note)?;
        self.append_note(step, RunCommand::NoteStep { op: step.clone(), note }).await
    }

    /// Gives up what the step began elsewhere: keeps the note, and hands it to the
    /// [`StepNoteHandler`](trackway_ports::StepNoteHandler) as if the run had ended. Say in the note that it was
    /// given up: a step that runs again after a crash finds it and must not begin anew.
    pub async fn release_note(&self, step: &Op, note: Value) -> Result<(), StepNoteRefusal> {
        check_step_note(&note)?;
        self.append_note(step, RunCommand::ReleaseStepNote { op: step.clone(), note }).await
    }

    async fn append_note(&self, step: &Op, command: RunCommand) -> Result<(), StepNoteRefusal> {
        let Some((_, live)) = self.0.live_run() else {
            return std::future::pending().await;
        };
        // Asked under the head's lock, so a note is never recorded after the outcome of its step.
        let is_running = |_: &Run| self.0.lock_replay_state().running_steps.contains(step);
        match self.append_command_if_allowed(command, is_running).await {
            Some(Ok(_)) => {}
            Some(Err(CommandRefusal::StepNote(refusal))) => return Err(refusal),
            Some(Err(refusal)) => return self.park_run_on_refusal(&refusal).await,
            None => return Err(StepNoteRefusal::StepNotRunning),
        }
        let seq = live.lock_head().run.as_ref().map_or(0, |run| run.seq);
        if live.wait_until_seq_committed(seq).await != DecisionDurability::Durable {
            // The program is dropped: what it was decided on is void.
            return std::future::pending().await;
        }
        Ok(())
    }

    /// The newest note of the step of that name, also from an earlier attempt or an earlier process. None if
    /// the step has an outcome.
    pub fn load_note(&self, step: &Op) -> Option<Value> {
        self.0.lock_replay_state().step_note(step)
    }
}
