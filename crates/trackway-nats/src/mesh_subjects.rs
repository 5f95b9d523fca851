//! The names of subjects, streams, consumers and buckets of one namespace.
//!
//! A name of an agent or a task may have any characters; what becomes part of a subject has only letters,
//! digits, `-` and `_`, so that no name can reach into another subject.

use std::sync::Arc;

use crate::NatsError;

/// A name that becomes part of several others, each of which NATS limits to 255 bytes.
/// Limit (Mesh): bytes of the namespace; `[mesh] namespace`.
const NAMESPACE_BYTES_MAX: usize = 64;

/// The names of one namespace. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MeshSubjects {
    encoded: Arc<str>,
}

impl MeshSubjects {
    pub(crate) fn new(namespace: &str) -> Result<Self, NatsError> {
        if namespace.is_empty() || namespace.len() > NAMESPACE_BYTES_MAX {
            let bytes_max = NAMESPACE_BYTES_MAX;
            return Err(NatsError::InvalidNamespace { namespace: namespace.to_owned(), bytes_max });
        }
        Ok(Self { encoded: encode_token(namespace).into() })
    }

    /// Requests that wait until a node takes them.
    pub(crate) fn work_stream(&self) -> String {
        format!("trackway-{}-work", self.encoded)
    }

    /// Answers, which can be read again.
    pub(crate) fn answer_stream(&self) -> String {
        format!("trackway-{}-answers", self.encoded)
    }

    pub(crate) fn cards_bucket(&self) -> String {
        format!("trackway-{}-cards", self.encoded)
    }

    pub(crate) fn tasks_bucket(&self) -> String {
        format!("trackway-{}-tasks", self.encoded)
    }

    pub(crate) fn all_work(&self) -> String {
        format!("trackway.{}.work.>", self.encoded)
    }

    /// Work for whichever node offers the agent.
    pub(crate) fn work_for_agent(&self, agent: &str) -> String {
        format!("trackway.{}.work.agent.{}", self.encoded, encode_token(agent))
    }

    /// Work for an agent of one node.
    pub(crate) fn work_for_node(&self, node: &str, agent: &str) -> String {
        format!("trackway.{}.work.node.{}.{}", self.encoded, encode_token(node), encode_token(agent))
    }

    pub(crate) fn all_work_for_node(&self, node: &str) -> String {
        format!("trackway.{}.work.node.{}.>", self.encoded, encode_token(node))
    }

    /// Requests that are worth nothing later, for whichever node offers the agent.
    pub(crate) fn call_to_agent(&self, agent: &str) -> String {
        format!("trackway.{}.call.agent.{}", self.encoded, encode_token(agent))
    }

    /// The same for one node.
    pub(crate) fn call_to_node(&self, node: &str, agent: &str) -> String {
        format!("trackway.{}.call.node.{}.{}", self.encoded, encode_token(node), encode_token(agent))
    }

    pub(crate) fn all_calls_to_node(&self, node: &str) -> String {
        format!("trackway.{}.call.node.{}.>", self.encoded, encode_token(node))
    }

    pub(crate) fn all_answers(&self) -> String {
        format!("trackway.{}.answers.>", self.encoded)
    }

    /// The answer to one request. Keys consist of letters, digits and `-`.
    pub(crate) fn answers(&self, key: &str) -> String {
        format!("trackway.{}.answers.{key}", self.encoded)
    }

    /// Where the reader of a long answer is asked whether it is still there.
    pub(crate) fn heartbeats(&self, key: &str) -> String {
        format!("trackway.{}.heartbeats.{key}", self.encoded)
    }

    /// The agent in a subject of work or calls.
    pub(crate) fn agent_of_subject(&self, subject: &str) -> Option<String> {
        decode_token(subject.rsplit('.').next()?)
    }

    /// The durable consumer that the nodes of an agent share.
    pub(crate) fn agent_consumer(agent: &str) -> String {
        format!("agent-{}", encode_token(agent))
    }

    pub(crate) fn node_consumer(node: &str) -> String {
        format!("node-{}", encode_token(node))
    }

    /// The key of a card: one for each node that offers the agent.
    pub(crate) fn card_key(agent: &str, node: &str) -> String {
        format!("{}.{}", encode_token(agent), encode_token(node))
    }

    /// The agent and the node of a card.
    pub(crate) fn parse_card_key(key: &str) -> Option<(String, String)> {
        let (agent, node) = key.split_once('.')?;
        Some((decode_token(agent)?, decode_token(node)?))
    }

    /// The key that says which node took a message.
    pub(crate) fn claim_key(claim: &str) -> String {
        format!("message.{}", encode_token(claim))
    }

    /// The key that says which node has a task.
    pub(crate) fn location_key(agent: &str, task: &str) -> String {
        format!("task.{}.{}", encode_token(agent), encode_token(task))
    }

    /// The address that stands for an agent in cards and lists.
    pub(crate) fn agent_url(&self, agent: &str) -> String {
        format!("{}/{}", self.namespace_url(), encode_token(agent))
    }

    pub(crate) fn namespace_url(&self) -> String {
        format!("nats://{}", self.encoded)
    }
}

/// Any text as one token: bytes other than letters, digits and `-` become `_` and two digits.
pub(crate) fn encode_token(text: &str) -> String {
    let mut token = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || byte == b'-' {
            token.push(char::from(byte));
        } else {
            token.push_str(&format!("_{byte:02x}"));
        }
    }
    if token.is_empty() { "_".to_owned() } else { token }
}

/// The text of a token; `None` if no text has this token.
pub(crate) fn decode_token(token: &str) -> Option<String> {
    if token == "_" {
        return Some(String::new());
    }
    let mut bytes = Vec::with_capacity(token.len());
    let mut rest = token.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'_' {
            let digits = [rest.next()?, rest.next()?];
            let value = u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?;
            bytes.push(value);
        } else {
            bytes.push(byte);
        }
    }
    let text = String::from_utf8(bytes).ok()?;
    (encode_token(&text) == token).then_some(text)
}

#[cfg(test)]
mod tests;
