//! What a program can emit and request: status, artifact, question, sleep, time, random numbers.

use std::time::Duration;

use serde_json::Value;
use trackway_domain::{
    Artifact, ArtifactChunk, InterruptReason, Object, Op, OpKind, Part, RunCommand, RunId, Timestamp, Yield,
};

use super::{Answer, RecordedFact, Stage, activity_guards};
use crate::ValueType;

impl Stage {
    /// Reports progress. Returns when it is appended.
    pub async fn report_status(&self, parts: Vec<Part>) {
        self.record_yield(OpKind::Status, "", Yield::Status { parts }).await;
    }

    /// Emits a piece of an artifact. Returns when it is appended.
    pub async fn emit_artifact(&self, chunk: ArtifactChunk) {
        let key = chunk.artifact.id.as_str().to_owned();
        self.record_yield(OpKind::Artifact, &key, Yield::Artifact(chunk)).await;
    }

    /// Reports progress about another run. Returns when it is appended.
    pub async fn report_status_of_other_run(&self, run: RunId, parts: Vec<Part>, metadata: Object) {
        self.record_yield(OpKind::Status, "", Yield::Reference { run, parts, metadata }).await;
    }

    /// Sends the first answer to the run that waits for it. Returns when it is appended.
    pub async fn send_first_answer_to_parent(&self, parts: Vec<Part>) {
        self.record_yield(OpKind::Answer, "", Yield::Answer { parts }).await;
    }

    async fn record_yield(&self, kind: OpKind, key: &str, what: Yield) {
        let op = self.0.lock_replay_state().claim_next_op(kind, key);
        if !self.0.lock_replay_state().has_record_for_op(&op) {
            self.wait_for_replay_end(&op).await;
            self.decide_and_append(RunCommand::Yield { op: op.clone(), what }).await;
        }
        self.next_recorded_fact(&op).await;
    }

    /// Asks, and waits for an answer that satisfies the schema. The artifact is emitted first.
    ///
    /// A run has one open question at a time: a second one is asked when the first is answered. A question
    /// whose future is dropped unanswered is withdrawn.
    pub async fn ask_question(
        &self,
        reason: InterruptReason,
        prompt: Vec<Part>,
        schema: Value,
        artifact: Option<Artifact>,
    ) -> (Op, Answer) {
        let what = Yield::Interrupted { reason, prompt, schema, artifact, answer_type: None };
        self.ask_question_with_key("", what, None).await
    }

    /// As [`Stage::ask_question`], for an answer that is read into that type. An answer that cannot be read
    /// is refused before it is recorded.
    pub async fn ask_typed_question(
        &self,
        reason: InterruptReason,
        prompt: Vec<Part>,
        schema: Value,
        artifact: Option<Artifact>,
        answer: ValueType,
    ) -> (Op, Answer) {
        let answer_type = Some(answer.rust_type_name().to_owned());
        let what = Yield::Interrupted { reason, prompt, schema, artifact, answer_type };
        self.ask_question_with_key("", what, Some(answer)).await
    }

    /// Asks the question under that key. Questions of a step have the step's name as their key.
    pub(super) async fn ask_question_with_key(
        &self,
        key: &str,
        what: Yield,
        answer_type: Option<ValueType>,
    ) -> (Op, Answer) {
        // Must happen before the question can be answered.
        if let Some(answer_type) = answer_type {
            self.0.register_answer_type(answer_type);
        }
        let op = self.0.lock_replay_state().claim_next_op(OpKind::Ask, key);
        let question = activity_guards::OpenQuestionGuard::new(self.0.clone(), op.clone());
        if !self.0.lock_replay_state().has_record_for_op(&op) {
            self.wait_for_replay_end(&op).await;
            let command = RunCommand::Yield { op: op.clone(), what };
            self.append_command_when_allowed(command, |run| run.state.open_question().is_none()).await;
        }
        self.next_recorded_fact(&op).await;
        loop {
            if let RecordedFact::Answer(answer) = self.wait_durably_for_fact(&op).await {
                question.disarm_withdrawal();
                return (op, *answer);
            }
        }
    }

    /// Sleeps durably: the program is dropped, and resumed when the time has come.
    pub async fn sleep_durably(&self, span: Duration) {
        let op = self.0.lock_replay_state().claim_next_op(OpKind::Sleep, "");
        if !self.0.lock_replay_state().has_record_for_op(&op) {
            self.wait_for_replay_end(&op).await;
            let due = self.clock_now() + span;
            self.decide_and_append(RunCommand::Sleep { op: op.clone(), due }).await;
        }
        self.next_recorded_fact(&op).await;
        self.wait_durably_for_fact(&op).await;
    }

    /// The current time, the same on every replay.
    pub async fn recorded_now(&self) -> Timestamp {
        let drawn = self.record_or_replay_value(OpKind::Now, |stage| stage.clock_now().millis().into()).await;
        Timestamp::from_millis(drawn.as_i64().unwrap_or_default())
    }

    /// A random number, the same on every replay.
    pub async fn recorded_random(&self) -> u64 {
        let random = |stage: &Self| stage.0.live_run().map_or(0, |(core, _)| core.options.ids.random_u64());
        let drawn = self.record_or_replay_value(OpKind::Random, |stage| random(stage).into()).await;
        drawn.as_u64().unwrap_or_default()
    }

    async fn record_or_replay_value(&self, kind: OpKind, value: impl FnOnce(&Self) -> Value) -> Value {
        let op = self.0.lock_replay_state().claim_next_op(kind, "");
        if !self.0.lock_replay_state().has_record_for_op(&op) {
            self.wait_for_replay_end(&op).await;
            let value = value(self);
            self.decide_and_append(RunCommand::RecordValue { op: op.clone(), value }).await;
        }
        match self.next_recorded_fact(&op).await {
            RecordedFact::Value(value) => value,
            _ => Value::Null,
        }
    }
}
