//! The trait that authors implement.

use std::{future::Future, sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use trackway_runtime::{ProgramInfo, ProtocolExtension};

use trackway_domain::{Message, Part};

use crate::{Ctx, Stop};

/// A workflow in Rust.
///
/// `run` is called again from its start after every question, sleep, child and crash, and finds its earlier
/// results in the log. Every side effect must therefore go through its [`Ctx`]: a clock, a random number, a
/// file or a request outside a step would differ the next time, and a run whose code does not match its log
/// is parked. `Server::replay_check` of the crate `trackway` finds such changes before a deployment.
pub trait Workflow: Send + Sync + 'static {
    /// Part of addresses and tool names: letters, digits, `-` and `_`.
    const NAME: &'static str;
    /// Runs keep the version that they started with. Increase it when the order of recorded operations
    /// changes, and register the old version together with the new one until its runs have ended.
    const VERSION: &'static str = "1";
    /// What it does, for people and models that choose a workflow.
    const DESCRIPTION: &'static str;
    const TAGS: &'static [&'static str] = &[];
    /// Example requests that a person could make to start it.
    const EXAMPLES: &'static [&'static str] = &[];
    /// Media types of the accepted parts; a message with a part of another type is refused. Patterns such
    /// as `image/*` and `*/*` are allowed.
    const INPUT_MODES: &'static [&'static str] = &ProgramInfo::MODES_DEFAULT;
    /// Media types of the parts in its output.
    const OUTPUT_MODES: &'static [&'static str] = &ProgramInfo::MODES_DEFAULT;
    /// Supported protocol extensions. Callers that do not request a required one are refused.
    const EXTENSIONS: &'static [ProtocolExtension] = &[];
    /// A run that has not ended this long after its start fails.
    const DEADLINE: Option<Duration> = None;

    /// How long an agent that dispatches it waits for its first answer; by default, the setting of the
    /// workspace.
    const FIRST_ANSWER_TIMEOUT: Option<Duration> = None;

    /// Checked against its JSON Schema before a run exists.
    type Input: DeserializeOwned + JsonSchema + Send + 'static;
    type Output: Serialize + DeserializeOwned + JsonSchema + Send + 'static;

    fn run(
        self: Arc<Self>,
        ctx: Ctx,
        input: Self::Input,
    ) -> impl Future<Output = Result<Self::Output, Stop>> + Send;

    /// The answer to a message that needs no run, such as a question about the workflow itself. It must
    /// depend only on the message: no run is created and nothing is recorded. Most workflows have none, and
    /// every message starts a run.
    fn answer_without_run(&self, message: &Message) -> Option<Vec<Part>> {
        let _ = message;
        None
    }
}
