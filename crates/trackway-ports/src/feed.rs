//! The whole log of a tenant, for pages that show everything.

use trackway_domain::RunId;

use crate::Stored;

/// How much of the log somebody has seen. Only the store that made it knows what is in it; it can be kept
/// and given to the next process.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct FeedCursor(pub String);

/// One event of the feed.
#[derive(Debug, Clone, PartialEq)]
pub struct FeedEvent {
    pub run: RunId,
    pub stored: Stored,
}

/// A page of the feed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FeedPage {
    /// The events of one run are in their order. Nothing is promised about those of different runs.
    pub events: Vec<FeedEvent>,
    /// Where the next page begins.
    pub next: FeedCursor,
    /// There may be more already. A page can be empty and not the last: others' events are passed over.
    pub more: bool,
}
