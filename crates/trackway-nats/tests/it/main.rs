//! Nodes that find and call each other over a real NATS server, which each test starts for itself.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod calls;
mod discovery;
mod failures;
mod nats_server;
mod test_node;

use std::time::Duration;

/// Far longer than any test takes: only a hang reaches it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The result of something that must happen.
pub(crate) async fn soon<T>(what: &str, work: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, work).await.unwrap_or_else(|_| panic!("{what} did not happen"))
}
