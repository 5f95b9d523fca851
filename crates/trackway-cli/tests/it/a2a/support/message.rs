//! Messages to send. Each has a new id unless a test repeats one on purpose.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Message(Value);

/// A message of one data part.
pub(crate) fn data_message(data: Value) -> Message {
    Message::from_part(json!({ "kind": "data", "data": data }))
}

/// A message of one text part.
pub(crate) fn text_message(text: &str) -> Message {
    Message::from_part(json!({ "kind": "text", "text": text }))
}

impl Message {
    fn from_part(part: Value) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let id = format!("sent-{}", NEXT.fetch_add(1, Ordering::Relaxed));
        Self(json!({ "kind": "message", "messageId": id, "role": "user", "parts": [part] }))
    }

    /// The same for a task.
    pub(crate) fn for_task(self, task: &Value) -> Self {
        self.with_field("taskId", task["id"].clone())
    }

    /// The same in a context.
    pub(crate) fn in_context(self, context: &Value) -> Self {
        self.with_field("contextId", context.clone())
    }

    pub(crate) fn with_field(mut self, field: &str, value: Value) -> Self {
        self.0[field] = value;
        self
    }

    /// The same words under a new id.
    pub(crate) fn with_new_id(&self) -> Self {
        let fresh = Self::from_part(Value::Null).0["messageId"].clone();
        self.clone().with_field("messageId", fresh)
    }

    pub(crate) fn json(&self) -> &Value {
        &self.0
    }
}
