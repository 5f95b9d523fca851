//! What a decision may know of the world: handed in, so that the same inputs decide the same.

use serde_json::Value;
use trackway_domain::{Problem, Timestamp};
use uuid::Uuid;

/// The world at the moment of a decision.
#[derive(Clone, Copy)]
pub struct Env<'a> {
    pub now: Timestamp,
    /// A fresh UUIDv7 with each call.
    pub ids: &'a dyn Fn() -> Uuid,
    pub schemas: &'a dyn Schemas,
}

/// Checks a value against a JSON Schema. Pure, but heavy to build, so it is implemented elsewhere.
pub trait Schemas {
    /// Everything that is wrong with `value`; empty when it satisfies `schema`.
    fn check(&self, schema: &Value, value: &Value) -> Vec<Problem>;
}

impl std::fmt::Debug for Env<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Env").field("now", &self.now).finish_non_exhaustive()
    }
}
