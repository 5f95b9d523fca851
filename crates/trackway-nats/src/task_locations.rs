//! Which node has which message and which task.
//!
//! Nodes share no store, so a task stays on the node that took its first message. That node says so before
//! it starts anything: a message that is delivered again, to whichever node, is led there.

use async_nats::jetstream::kv::CreateErrorKind;
use bytes::Bytes;

use crate::{NatsError, mesh_subjects::MeshSubjects, nats_connection::NatsConnection};

/// Who executes a message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum MessageClaim {
    /// This node, now or since an earlier delivery.
    Ours,
    /// Another one took it before.
    OfNode(String),
}

/// Takes a message for a node, unless another one has it.
pub(crate) async fn claim_message(
    connection: &NatsConnection,
    claim: &str,
    node: &str,
) -> Result<MessageClaim, NatsError> {
    let tasks = &connection.buckets().await?.tasks;
    let key = MeshSubjects::claim_key(claim);
    match tasks.create(&key, Bytes::copy_from_slice(node.as_bytes())).await {
        Ok(_) => return Ok(MessageClaim::Ours),
        Err(error) if error.kind() == CreateErrorKind::AlreadyExists => {}
        Err(error) => return Err(NatsError::request("claiming a message")(error)),
    }
    let owner = tasks.get(key).await.map_err(NatsError::request("reading who has a message"))?;
    match owner {
        Some(owner) if *owner == *node.as_bytes() => Ok(MessageClaim::Ours),
        Some(owner) => Ok(MessageClaim::OfNode(String::from_utf8_lossy(&owner).into_owned())),
        // It expired in between; the next delivery claims it.
        None => Err(NatsError::NobodyThere),
    }
}

/// Says that a node has a task.
pub(crate) async fn store_task_location(
    connection: &NatsConnection,
    agent: &str,
    task: &str,
    node: &str,
) -> Result<(), NatsError> {
    let tasks = &connection.buckets().await?.tasks;
    let key = MeshSubjects::location_key(agent, task);
    let stored = tasks.put(&key, Bytes::copy_from_slice(node.as_bytes())).await;
    stored.map(drop).map_err(NatsError::request("noting where a task is"))
}

/// The node that has a task, if that is known.
pub(crate) async fn find_task_location(
    connection: &NatsConnection,
    agent: &str,
    task: &str,
) -> Result<Option<String>, NatsError> {
    let tasks = &connection.buckets().await?.tasks;
    let node = tasks.get(MeshSubjects::location_key(agent, task)).await;
    let node = node.map_err(NatsError::request("reading where a task is"))?;
    Ok(node.map(|node| String::from_utf8_lossy(&node).into_owned()))
}
