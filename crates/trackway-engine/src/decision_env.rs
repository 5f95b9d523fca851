//! What a decision knows about the world. It is passed in, so that equal inputs give equal decisions.

use serde_json::Value;
use trackway_domain::{Question, Timestamp, ValidationError, WorkflowRef};
use uuid::Uuid;

/// The world at the moment of a decision.
#[derive(Clone, Copy)]
pub struct DecisionEnv<'a> {
    pub now: Timestamp,
    /// A fresh UUIDv7 with each call.
    pub ids: &'a dyn Fn() -> Uuid,
    pub schemas: &'a dyn SchemaChecker,
}

/// Checks a value against a JSON Schema. Pure, but heavy to build, so it is implemented elsewhere.
pub trait SchemaChecker {
    /// What is wrong with `value`, within the bounds of [`trackway_domain::limit_validation_errors`]; empty
    /// when it satisfies `schema`.
    fn check_against_schema(&self, schema: &Value, value: &Value) -> Vec<ValidationError>;

    /// What is wrong with an answer to a question of that workflow: first by the schema, then by the
    /// type that the workflow parses it into, if that is known.
    fn check_question_answer(
        &self,
        workflow: &WorkflowRef,
        question: &Question,
        answer: &Value,
    ) -> Vec<ValidationError> {
        let _ = workflow;
        self.check_against_schema(&question.schema, answer)
    }
}

impl std::fmt::Debug for DecisionEnv<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Env").field("now", &self.now).finish_non_exhaustive()
    }
}
