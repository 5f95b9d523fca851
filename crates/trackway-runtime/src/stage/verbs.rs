//! What a program can say and ask: status, artifact, question, sleep, time, chance.

use std::time::Duration;

use serde_json::Value;
use trackway_domain::{
    Artifact, ArtifactChunk, Command, Object, Op, OpKind, Part, Reason, RunId, Timestamp, Yield,
};

use super::{Answer, Fact, Stage, guard};
use crate::ValueType;

impl Stage {
    /// Progress. Returns when it is ordered.
    pub async fn status(&self, parts: Vec<Part>) {
        self.say(OpKind::Status, "", Yield::Status { parts }).await;
    }

    /// A piece of an artifact. Returns when it is ordered.
    pub async fn artifact(&self, chunk: ArtifactChunk) {
        let key = chunk.artifact.id.as_str().to_owned();
        self.say(OpKind::Artifact, &key, Yield::Artifact(chunk)).await;
    }

    /// Progress that speaks of another run. Returns when it is ordered.
    pub async fn reference(&self, run: RunId, parts: Vec<Part>, metadata: Object) {
        self.say(OpKind::Status, "", Yield::Reference { run, parts, metadata }).await;
    }

    /// What a run that waits for the first answer is told. Returns when it is ordered.
    pub async fn first_answer(&self, parts: Vec<Part>) {
        self.say(OpKind::Answer, "", Yield::Answer { parts }).await;
    }

    async fn say(&self, kind: OpKind, key: &str, what: Yield) {
        let op = self.0.book().claim(kind, key);
        if !self.0.book().knows(&op) {
            self.go_live(&op).await;
            self.order(Command::Yield { op: op.clone(), what }).await;
        }
        self.fact(&op).await;
    }

    /// Asks, and waits for an answer that satisfies the schema. The artifact is shown first.
    ///
    /// A run has one open question at a time: a second one, asked beside it, is put when the first is
    /// answered. A question whose future is dropped unanswered is withdrawn.
    pub async fn ask(
        &self,
        reason: Reason,
        prompt: Vec<Part>,
        schema: Value,
        artifact: Option<Artifact>,
    ) -> (Op, Answer) {
        let what = Yield::Interrupted { reason, prompt, schema, artifact, answer_type: None };
        self.ask_as("", what, None).await
    }

    /// As [`Stage::ask`], for an answer that is read into that type. What cannot be read is refused
    /// before it is recorded.
    pub async fn ask_typed(
        &self,
        reason: Reason,
        prompt: Vec<Part>,
        schema: Value,
        artifact: Option<Artifact>,
        answer: ValueType,
    ) -> (Op, Answer) {
        let answer_type = Some(answer.name().to_owned());
        let what = Yield::Interrupted { reason, prompt, schema, artifact, answer_type };
        self.ask_as("", what, Some(answer)).await
    }

    /// Puts the question under that key. Questions from within a step have the step's name as theirs.
    pub(super) async fn ask_as(
        &self,
        key: &str,
        what: Yield,
        answer_type: Option<ValueType>,
    ) -> (Op, Answer) {
        // Before the question can be answered.
        if let Some(answer_type) = answer_type {
            self.0.learn(answer_type);
        }
        let op = self.0.book().claim(OpKind::Ask, key);
        let question = guard::OpenQuestion::at(self.0.clone(), op.clone());
        if !self.0.book().knows(&op) {
            self.go_live(&op).await;
            let command = Command::Yield { op: op.clone(), what };
            self.order_when(command, |run| run.state.question().is_none()).await;
        }
        self.fact(&op).await;
        loop {
            if let Fact::Answer(answer) = self.wait(&op).await {
                question.answered();
                return (op, *answer);
            }
        }
    }

    /// Sleeps, durably: the program is dropped and taken up again when the time has come.
    pub async fn sleep(&self, span: Duration) {
        let op = self.0.book().claim(OpKind::Sleep, "");
        if !self.0.book().knows(&op) {
            self.go_live(&op).await;
            let due = self.now_for_real() + span;
            self.order(Command::Sleep { op: op.clone(), due }).await;
        }
        self.fact(&op).await;
        self.wait(&op).await;
    }

    /// The moment, the same on every replay.
    pub async fn now(&self) -> Timestamp {
        let drawn = self.draw(OpKind::Now, |stage| stage.now_for_real().millis().into()).await;
        Timestamp::from_millis(drawn.as_i64().unwrap_or_default())
    }

    /// A random number, the same on every replay.
    pub async fn random(&self) -> u64 {
        let random = |stage: &Self| stage.0.live().map_or(0, |(core, _)| core.options.ids.random());
        let drawn = self.draw(OpKind::Random, |stage| random(stage).into()).await;
        drawn.as_u64().unwrap_or_default()
    }

    async fn draw(&self, kind: OpKind, value: impl FnOnce(&Self) -> Value) -> Value {
        let op = self.0.book().claim(kind, "");
        if !self.0.book().knows(&op) {
            self.go_live(&op).await;
            let value = value(self);
            self.order(Command::Draw { op: op.clone(), value }).await;
        }
        match self.fact(&op).await {
            Fact::Drawn(value) => value,
            _ => Value::Null,
        }
    }
}
