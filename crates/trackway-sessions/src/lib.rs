//! Sessions for people: read, exported, imported and removed without an engine. Every view is a fold of the
//! log ([`trackway_engine::SessionView`]).

mod bundle;
mod error;
mod export;
mod import;
mod markdown;
mod prune;
mod reader;
pub mod run_log;
mod signing_key;
mod views;

pub use bundle::BundleError;
pub use error::SessionsError;
pub use import::BundleImportReport;
pub use prune::{PruneRequest, PrunedSession};
pub use reader::SessionsReader;
pub use signing_key::{ExpectedSigner, ParseSignerError, public_key_fingerprint};
pub use views::{
    DamagedGraphRun, SessionDetail, SessionDocument, SessionGraph, SessionGraphEdge, SessionGraphNode,
    SessionRun, SessionSummary, SessionUsage,
};

#[cfg(test)]
mod tests;
