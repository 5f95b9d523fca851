//! Durable workflows in Rust, without a server.
//!
//! A workflow is an `async fn` over a [`Ctx`]. Its outputs, questions and side effects are recorded. After
//! a crash or a restart it continues from the last record, and no recorded side effect is executed twice.
//! [`program`] turns it into a program for an engine: `Registry::add` registers it, and `Runtime::start`
//! runs it on a store. The crate `trackway` has all of this under the same names, and serves it.

mod ask;
mod child;
mod ctx;
mod step;
mod typed_program;
mod typed_tool;
mod workflow;
mod workflow_stop;

pub use ask::Ask;
pub use child::{AgentFailed, Child, ChildFailed};
pub use ctx::Ctx;
pub use futures_util::future::Either;
pub use step::{Step, StepFailed};
pub use trackway_domain::{
    Artifact, ArtifactChunk, ArtifactId, Caller, ChildOutcome, File, FileSource, IntoParts, Message,
    MessageId, MessagePartContent, MessageRole, Part, ReplayMismatch, RunId, StateName, Timestamp,
    WorkflowRef,
};
pub use trackway_runtime::{ProtocolExtension, RetryPolicy, StepAttempt};
pub use typed_program::program;
pub use typed_tool::tool;
pub use workflow::Workflow;
pub use workflow_stop::{Stop, reject};
