//! What a call of a peer keeps in the log before its outcome: enough to find the remote task again.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use trackway_a2a_client::{Message, TaskStatus};

/// Longest id of a remote task. Ids are part of addresses; a longer one is not an id.
/// Limit (Mesh): id of a remote task, in bytes.
pub(super) const TASK_ID_BYTES_MAX: usize = 512;

/// Questions of one remote task that a person is asked.
/// Limit (Mesh): questions in one call of a peer.
pub(super) const QUESTIONS_MAX: usize = 32;

/// Largest message that is kept in a note; a note has other fields and a limit of its own.
/// Limit (Mesh): message of a call that is kept until its task is known, in bytes.
const NOTED_MESSAGE_BYTES_MAX: usize = 12 * 1024;

/// The note of a call. It is stored: see `docs/formats.md`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct PeerCallNote {
    /// The peer, as the caller's tenant calls it.
    #[serde(rename = "peerCall")]
    pub(super) peer: String,
    /// None while the message may or may not have arrived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) task: Option<String>,
    /// The message while its task is not known. A repetition must be the same message to the last byte: an
    /// address that is signed again differs, and a newer version of an artifact is another input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<Message>,
    /// The id of a message that is too large to be kept here.
    #[serde(default, rename = "messageId", skip_serializing_if = "Option::is_none")]
    message_id: Option<String>,
    /// Parameters that were ignored, for the result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) ignored: Vec<String>,
    /// The remote questions that were asked here, by key, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) questions: Vec<String>,
    /// The state in which the remote task ended after its time was over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) late: Option<String>,
    /// Why the call was given up: its result, whatever becomes of the remote task, which is owed a cancel.
    #[serde(default, rename = "givenUp", skip_serializing_if = "Option::is_none")]
    pub(super) given_up: Option<String>,
}

impl PeerCallNote {
    /// The note before the message is sent. A message that is too large for it is written again for a
    /// repetition.
    pub(super) fn new(peer: &str, message: &Message, ignored: Vec<String>) -> Self {
        let bytes = serde_json::to_string(message).map_or(usize::MAX, |text| text.len());
        let is_kept = bytes <= NOTED_MESSAGE_BYTES_MAX;
        Self {
            peer: peer.to_owned(),
            task: None,
            message: is_kept.then(|| message.clone()),
            message_id: (!is_kept).then(|| message.id.as_str().to_owned()),
            ignored,
            questions: Vec::new(),
            late: None,
            given_up: None,
        }
    }

    /// The id of the message, while its task is not known.
    pub(super) fn message_id(&self) -> Option<&str> {
        let kept = self.message.as_ref().map(|message| message.id.as_str());
        kept.or(self.message_id.as_deref())
    }

    /// From now on the task is enough.
    pub(super) fn set_task(&mut self, task: String) {
        self.task = Some(task);
        (self.message, self.message_id) = (None, None);
    }

    /// The note, if it is one of a peer's call.
    pub(super) fn from_value(note: Value) -> Option<Self> {
        serde_json::from_value(note).ok()
    }

    pub(super) fn to_value(&self) -> Value {
        // Texts can always be serialized.
        serde_json::to_value(self).unwrap_or_default()
    }
}

/// What recognises a question of a remote task when it is seen again. A question that is repeated after a
/// refused answer is another one.
pub(super) fn question_key(status: &TaskStatus) -> String {
    let mut hasher = Sha256::new();
    match &status.message {
        Some(Message { id, .. }) => hasher.update(id.as_str()),
        None => hasher.update(status.timestamp.map(|at| at.millis()).unwrap_or_default().to_be_bytes()),
    }
    hasher.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
