//! Helpers of the A2A tests: a real server, a client over real sockets, and expected events of streams.

mod client;
mod driven_task;
mod expected_events;
mod message;
mod open_file_limit;
mod protocol_binding;
mod server;
mod stream;

use std::time::Duration;

pub(crate) use client::{A2aClient, JsonRpcError, read_json_body};
pub(crate) use driven_task::{DrivenTask, all_methods_and_crashes};
pub(crate) use expected_events::{
    data_part, expected_artifact, expected_end, expected_question, expected_resumed, expected_status_message,
    expected_submitted_task, expected_working, normalize_events, text_part,
};
pub(crate) use message::{Message, data_message, text_message};
pub(crate) use open_file_limit::allow_connections;
pub(crate) use protocol_binding::{AgentRequest, ProtocolBinding, event_summary};
pub(crate) use server::CrashableServer;
pub(crate) use stream::{EventStream, StreamEvent};

/// Far longer than anything here takes, also on a busy machine: only a hang reaches it.
pub(crate) const TEST_TIMEOUT: Duration = Duration::from_secs(60);

/// Waits for one answer.
pub(crate) async fn with_test_timeout<F: Future>(what: &str, future: F) -> F::Output {
    match tokio::time::timeout(TEST_TIMEOUT, future).await {
        Ok(output) => output,
        Err(_) => panic!("{what}: nothing within {TEST_TIMEOUT:?}"),
    }
}
