//! What a step can show and ask while it is under way.
//!
//! A step is done again when the process ends before its outcome is recorded. What it showed until then
//! stays in the log; whoever shows a growing thing begins it anew. A question that it put is found again
//! with its answer.

use serde_json::Value;
use trackway_domain::{ArtifactChunk, Command, Failure, InterruptReason, Op, OpKind, Part, Yield};

use super::{Answer, Stage, StepAttempt};

impl Stage {
    /// A piece of an artifact, from within the step of that name. Returns when it is ordered.
    pub async fn emit_artifact_from_step(&self, step: &Op, chunk: ArtifactChunk) {
        self.decide_and_append(Command::Yield { op: step.clone(), what: Yield::Artifact(chunk) }).await;
    }

    /// Whether the step of that name has shown anything of that artifact, in this process or in one before.
    pub fn has_step_artifact(&self, step: &Op, artifact: &str) -> bool {
        self.0.replay_state().has_step_artifact(step, artifact)
    }

    /// Whether the log holds a question that the step of that name has asked, and that was not asked for
    /// again yet.
    pub fn has_step_question(&self, step: &Op) -> bool {
        self.0.replay_state().has_next(OpKind::Ask, &step.to_string())
    }

    /// Asks from within the step of that name, which goes on only with the answer. The program stays in
    /// memory with its step, but takes no place from those that are doing something.
    pub async fn ask_from_step(&self, step: &Op, prompt: Vec<Part>, schema: Value) -> Answer {
        let reason = InterruptReason::InputRequired;
        let what = Yield::Interrupted { reason, prompt, schema, artifact: None, answer_type: None };
        self.0.release_program_permit();
        let answer = self.ask_with_key(&step.to_string(), what, None).await.1;
        if let Some((core, _)) = self.0.live_run()
            && let Ok(room) = core.program_permits.clone().acquire_owned().await
        {
            self.0.hold_program_permit(room);
        }
        answer
    }

    /// Calls a tool of this process from within a step. A run is parked where there is no such tool.
    pub async fn call_tool(
        &self,
        name: &str,
        arguments: Value,
        attempt: StepAttempt,
    ) -> Result<Value, Failure> {
        let Some((core, _)) = self.0.live_run() else {
            return std::future::pending().await;
        };
        core.options.tools.call_tool(self, name, arguments, attempt).await
    }
}
