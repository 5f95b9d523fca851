//! Durable workflows for AI agents.
//!
//! A workflow is an `async fn` over a [`Ctx`]. Trackway records its messages, questions and steps.
//! After a crash or a restart the workflow continues where it was, and no recorded step is done twice.
//! Every workflow of a [`Server`] is also an A2A agent with a task lifecycle.
//!
//! ```no_run
//! use std::sync::Arc;
//! use trackway::{Ctx, Server, Stop, Workflow, reject};
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Order { item: String, count: u32 }
//!
//! #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
//! struct Approval { approved: bool }
//!
//! struct Purchase;
//!
//! impl Workflow for Purchase {
//!     const NAME: &'static str = "purchase";
//!     const DESCRIPTION: &'static str = "Buys something once a person has approved it.";
//!     type Input = Order;
//!     type Output = String;
//!
//!     async fn run(self: Arc<Self>, ctx: Ctx, order: Order) -> Result<String, Stop> {
//!         if order.count == 0 {
//!             reject("nothing to buy")?;
//!         }
//!         ctx.status(format!("{} × {}", order.count, order.item)).await;
//!         let answer: Approval = ctx.ask("Shall I buy it?").await;
//!         if !answer.approved {
//!             reject("not approved")?;
//!         }
//!         let receipt = ctx
//!             .step("buy", |attempt| async move { Ok::<_, std::io::Error>(attempt.idempotency_key) })
//!             .await?;
//!         Ok(receipt)
//!     }
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<(), trackway::ServerError> {
//!     Server::new().workflow(Purchase).data("trackway-data").serve().await
//! }
//! ```

mod auth;
mod server;
pub mod workspace;

pub use auth::{
    ApiKey, ApiKeyConfigError, ApiKeyHash, ApiKeys, ApiKeysError, Auth, AuthError, JwksSource, JwtOptions,
    JwtOptionsError, NewKey, Secret, StoredKey,
};
pub use server::{
    AgentSet, BoundServer, ConnectionLimits, DataFolder, DataFolderError, DoorContext, EngineGuard,
    McpOptions, ReplayCheckResult, Server, ServerError,
};
pub use trackway_a2a::{CardSigner, SigningKeyError};
/// Runs in the shape of the REST API, for programs that call it or embed the engine.
pub use trackway_api as api;
/// Artifacts: what users attach and store, and what runs make.
pub use trackway_artifacts as artifacts;
pub use trackway_domain::{ParseScopeError, Scopes};
pub use trackway_http::ProtocolDoor;
pub use trackway_runtime::ChildLimits;
pub use trackway_sessions as sessions;
#[doc(inline)]
pub use trackway_workflow::{
    AgentFailed, Artifact, ArtifactChunk, ArtifactId, Ask, Caller, Child, ChildFailed, ChildOutcome, Ctx,
    Either, File, FileSource, IntoParts, Message, MessageId, MessagePartContent, MessageRole, Part,
    ProtocolExtension, ReplayMismatch, RetryPolicy, RunId, StateName, Step, StepAttempt, StepFailed, Stop,
    Timestamp, Workflow, WorkflowRef, program, reject,
};
pub use workspace::WorkspaceError;
