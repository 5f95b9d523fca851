//! Batches on a stream: the messages of a batch are handled one by one, and their answers are collected
//! until none is missing.

use rmcp::{
    RoleServer,
    model::{JsonRpcMessage, RequestId},
    service::RxJsonRpcMessage,
};
use serde_json::Value;

use super::line_transport::invalid_message_answer;

/// The batches that are not answered yet.
#[derive(Debug, Default)]
pub(super) struct UnansweredBatches {
    open: Vec<UnansweredBatch>,
}

#[derive(Debug, Default)]
struct UnansweredBatch {
    /// The requests whose answers are missing.
    waiting: Vec<RequestId>,
    answers: Vec<Value>,
}

impl UnansweredBatches {
    /// Splits a batch: the messages to handle, and the answer if none of them needs more work.
    pub(super) fn split_batch_into_messages(
        &mut self,
        batch: Vec<Value>,
    ) -> (Vec<RxJsonRpcMessage<RoleServer>>, Option<Value>) {
        let mut messages = Vec::with_capacity(batch.len());
        let mut new = UnansweredBatch::default();
        for sent in batch {
            match serde_json::from_value::<RxJsonRpcMessage<RoleServer>>(sent.clone()) {
                Ok(JsonRpcMessage::Request(request)) if self.is_request_id_in_use(&request.id, &new) => {
                    new.answers.extend(invalid_message_answer(&sent, "another message has the same id"));
                }
                Ok(message) => {
                    if let JsonRpcMessage::Request(request) = &message {
                        new.waiting.push(request.id.clone());
                    }
                    messages.push(message);
                }
                Err(_) => new.answers.extend(invalid_message_answer(&sent, "the message is not of its form")),
            }
        }
        if new.waiting.is_empty() {
            return (messages, new.into_batch_answer());
        }
        self.open.push(new);
        (messages, None)
    }

    fn is_request_id_in_use(&self, id: &RequestId, new: &UnansweredBatch) -> bool {
        self.is_awaited_by_batch(id) || new.waiting.contains(id)
    }

    /// Whether the answer to this request belongs to a batch.
    pub(super) fn is_awaited_by_batch(&self, id: &RequestId) -> bool {
        self.open.iter().any(|batch| batch.waiting.contains(id))
    }

    /// Adds an answer to its batch. Returns the whole answer if this was the last one.
    pub(super) fn add_answer_to_batch(&mut self, id: &RequestId, answer: Value) -> Option<Value> {
        self.finish_batch_request(id, Some(answer))
    }

    /// The request was cancelled: it gets no answer, and its batch no longer waits for it.
    pub(super) fn cancel_batch_request(&mut self, id: &RequestId) -> Option<Value> {
        self.finish_batch_request(id, None)
    }

    fn finish_batch_request(&mut self, id: &RequestId, answer: Option<Value>) -> Option<Value> {
        let at = self.open.iter().position(|batch| batch.waiting.contains(id))?;
        let batch = &mut self.open[at];
        batch.waiting.retain(|waiting| waiting != id);
        batch.answers.extend(answer);
        if batch.waiting.is_empty() { self.open.remove(at).into_batch_answer() } else { None }
    }
}

impl UnansweredBatch {
    /// A batch without requests is not answered.
    fn into_batch_answer(self) -> Option<Value> {
        (!self.answers.is_empty()).then_some(Value::Array(self.answers))
    }
}
