//! Finds the agents of other nodes and carries A2A requests to them over NATS.
//!
//! [`NatsNode`] is one node of a mesh. It keeps the cards of its agents in a bucket and tells a
//! [`DiscoveryListener`] about those of others. A request is the JSON-RPC request of A2A with its headers; the
//! node that takes it hands it to its own doors, so that everything that holds over HTTP holds here.

mod answer_reader;
mod discovery;
mod envelope;
mod mesh_subjects;
mod message_keys;
mod nats_connection;
mod nats_error;
mod nats_node;
mod nats_transport;
mod request_execution;
mod task_locations;
mod work_intake;

pub use self::{
    nats_error::NatsError,
    nats_node::{DiscoveredAgent, DiscoveryListener, NatsNode, NatsNodeParts, NatsOptions, OfferedAgents},
};
