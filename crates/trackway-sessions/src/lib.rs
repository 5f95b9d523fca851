//! Sessions for people: what a store holds of them, read, exported, imported and removed without an
//! engine. Everything that is shown is a fold of the log ([`trackway_engine::SessionView`]).

mod bundle;
mod error;
mod export;
mod import;
mod key;
pub mod log;
mod markdown;
mod prune;
mod reader;
mod shapes;

pub use bundle::BadBundle;
pub use error::SessionsError;
pub use import::Imported;
pub use key::{BadSigner, SignedBy, fingerprint};
pub use prune::{Prune, Pruned};
pub use reader::SessionsReader;
pub use shapes::{
    GraphDamage, GraphEdge, GraphNode, SessionDetail, SessionDocument, SessionGraph, SessionRun,
    SessionSummary, SessionUsage,
};

#[cfg(test)]
mod tests;
