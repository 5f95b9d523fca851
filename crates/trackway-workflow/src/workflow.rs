//! The trait that authors implement.

use std::{future::Future, sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use trackway_runtime::{Extension, ProgramInfo};

use trackway_domain::{Message, Part};

use crate::{Ctx, Stop};

/// A workflow in Rust.
///
/// `run` is called again from its start after every question, sleep, child and crash, and finds what
/// it already did in the log. So whatever it does to the world must go through its [`Ctx`]: a clock,
/// a random number, a file or a request outside a step would differ the next time, and a run whose
/// code does not ask for what its log holds is parked. `Server::replay_check` of the crate
/// `trackway` finds such changes before a deployment.
pub trait Workflow: Send + Sync + 'static {
    /// Part of addresses and tool names: letters, digits, `-` and `_`.
    const NAME: &'static str;
    /// Runs keep the version they began with. Raise it when the order of recorded things changes, and
    /// register the old one beside the new until its runs have ended.
    const VERSION: &'static str = "1";
    /// What it does, for people and models that choose.
    const DESCRIPTION: &'static str;
    const TAGS: &'static [&'static str] = &[];
    /// Things a person could say to have it run.
    const EXAMPLES: &'static [&'static str] = &[];
    /// Media types of the parts that it takes; a message with a part of another type is refused.
    /// Patterns such as `image/*` and `*/*` are allowed.
    const INPUT_MODES: &'static [&'static str] = &ProgramInfo::MODES_DEFAULT;
    /// Media types of the parts that it gives.
    const OUTPUT_MODES: &'static [&'static str] = &ProgramInfo::MODES_DEFAULT;
    /// Protocol extensions that it knows. Callers that do not ask for a required one are refused.
    const EXTENSIONS: &'static [Extension] = &[];
    /// A run that has not ended this long after its start fails.
    const DEADLINE: Option<Duration> = None;

    /// How long an agent that dispatches it waits for its first answer; as the workspace says unless given.
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
    /// follow from the message alone: no run is made of it and nothing is recorded. Most workflows have
    /// none, and every message starts a run.
    fn answer(&self, message: &Message) -> Option<Vec<Part>> {
        let _ = message;
        None
    }
}
