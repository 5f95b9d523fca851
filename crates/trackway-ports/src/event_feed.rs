//! The whole log of a tenant, for pages that show everything.

use trackway_domain::RunId;

use crate::StoredEvent;

/// How much of the log a reader has read. Only the store that made it knows its content. It can be stored
/// and passed to the next process.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct FeedCursor(pub String);

/// One event of the feed.
#[derive(Debug, Clone, PartialEq)]
pub struct FeedEvent {
    pub run: RunId,
    pub stored: StoredEvent,
}

/// A page of the feed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FeedPage {
    /// The events of one run are in order. The order across different runs is not defined.
    pub events: Vec<FeedEvent>,
    /// Where the next page begins.
    pub next: FeedCursor,
    /// There may be more events already. An empty page is not always the last one: events that are not
    /// covered are skipped.
    pub has_more: bool,
}
