//! What a step can emit and ask while it runs.
//!
//! A step runs again when the process ends before its outcome is recorded. What it emitted until then stays
//! in the log; a step that streams an artifact starts it again. A question that it asked is found again with
//! its answer.

use serde_json::Value;
use trackway_domain::{ArtifactChunk, Failure, InterruptReason, Op, OpKind, Part, RunCommand, Yield};

use super::{Answer, Stage, StepAttempt};

impl Stage {
    /// Emits a piece of an artifact from within the step of that name. Returns when it is appended.
    pub async fn emit_artifact_from_step(&self, step: &Op, chunk: ArtifactChunk) {
        self.decide_and_append(RunCommand::Yield { op: step.clone(), what: Yield::Artifact(chunk) }).await;
    }

    /// Reports progress from within the step of that name. Returns when it is appended. A status without parts
    /// says nothing and is not recorded.
    pub async fn report_status_from_step(&self, step: &Op, parts: Vec<Part>) {
        if !parts.is_empty() {
            let what = Yield::Status { parts };
            self.decide_and_append(RunCommand::Yield { op: step.clone(), what }).await;
        }
    }

    /// Whether the step of that name has emitted a part of that artifact, in this process or in an earlier
    /// one.
    pub fn has_recorded_step_artifact(&self, step: &Op, artifact: &str) -> bool {
        self.0.lock_replay_state().has_recorded_step_artifact(step, artifact)
    }

    /// Whether the log holds a question of the step of that name that the step has not requested again yet.
    pub fn has_recorded_step_question(&self, step: &Op) -> bool {
        self.0.lock_replay_state().has_record_of_next_op(OpKind::Ask, &step.to_string())
    }

    /// Asks for input from within the step of that name: see [`Stage::ask_question_from_step_with_reason`].
    pub async fn ask_question_from_step(&self, step: &Op, prompt: Vec<Part>, schema: Value) -> Answer {
        let reason = InterruptReason::InputRequired;
        self.ask_question_from_step_with_reason(step, reason, prompt, schema).await
    }

    /// Asks from within the step of that name, which continues only with the answer. The program stays in
    /// memory with its step, but takes no slot from active programs.
    pub async fn ask_question_from_step_with_reason(
        &self,
        step: &Op,
        reason: InterruptReason,
        prompt: Vec<Part>,
        schema: Value,
    ) -> Answer {
        let what = Yield::Interrupted { reason, prompt, schema, artifact: None, answer_type: None };
        self.0.release_program_permit();
        let answer = self.ask_question_with_key(&step.to_string(), what, None).await.1;
        if let Some((core, _)) = self.0.live_run()
            && let Ok(room) = core.program_permits.clone().acquire_owned().await
        {
            self.0.hold_program_permit(room);
        }
        answer
    }

    /// Calls a tool of this process from within a step. The run is parked if there is no such tool.
    pub async fn call_tool_in_step(
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
