//! The tools that agents have without an MCP server.
//!
//! `artifacts` lists, reads and writes what the runs of a conversation have produced (`shelf` finds it in
//! their logs), `clock` tells the time, and `fetch` reads a page of the web, which `page` turns into text.

mod artifacts;
mod clock;
mod fetch;
mod page;
mod shelf;

use std::sync::Arc;

use trackway_outgoing::AddressPolicy;
use trackway_ports::Clock;
use trackway_runtime::Tool;

use artifacts::{ArtifactList, ArtifactRead, ArtifactWrite};
use clock::TimeNow;
use fetch::HttpFetch;

/// What the built-in tools need.
#[derive(Debug, Clone)]
pub struct BuiltIn {
    /// Which addresses a model may have read.
    pub addresses: AddressPolicy,
    pub clock: Arc<dyn Clock>,
}

impl BuiltIn {
    /// The tool that tells the time. It needs nothing of a conversation, so that the steps of written
    /// workflows have it too.
    pub fn time_now(clock: Arc<dyn Clock>) -> Arc<dyn Tool> {
        Arc::new(TimeNow::new(clock))
    }

    pub fn tools(self) -> Vec<Arc<dyn Tool>> {
        vec![
            Arc::new(ArtifactList::new()),
            Arc::new(ArtifactRead::new()),
            Arc::new(ArtifactWrite::new()),
            Arc::new(HttpFetch::new(self.addresses)),
            Self::time_now(self.clock),
        ]
    }
}
