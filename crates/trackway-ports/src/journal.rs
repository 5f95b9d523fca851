//! The journal: the one durable log, and the rows that are kept beside it for finding things.

use std::fmt;

use trackway_domain::{Access, Caller, NodeId, Pos, RunId, Seq, SessionId, Timestamp};

use crate::{
    Append, AppendError, AppendId, AskedPlace, AttemptKey, Claim, ClaimKey, Done, FeedCursor,
    FeedPage, Hook, Leases, Lineage, LineageLimits, NodePlace, OutboxId, OutboxRow, PortFuture,
    ReadError, Receipt, Removal, RunFilter, RunPage, RunQuery, RunRow, SessionRow, Stored,
};

/// An append-only log of events per run, with its indexes.
///
/// What a caller may assume after a crash: an append whose `done` was called with `Ok` is there, whole; one
/// whose `done` was not called is there whole or not at all. Appends of one run that are handed in one after
/// the other commit in that order. Nothing is promised about the order of different runs.
///
/// A failure says what to do about it: [`AppendError`] and [`ReadError`]. Appends of one run that were
/// handed in after one that failed are refused as conflicts.
///
/// Reads see every append whose `done` was called before the read began.
///
/// A journal has the [`Leases`] too, since an append is checked against them.
pub trait Journal: Leases + Send + Sync + fmt::Debug {
    /// Hands in an append and returns at once. Many appends share one commit. Callers bound how many
    /// they have under way; the journal does not.
    fn append(&self, append: Append, done: Done);

    /// Appends to several runs, each of which is named once: all of it in one transaction, or nothing
    /// and the reason why the first of them was refused.
    fn append_all(&self, appends: Vec<Append>) -> PortFuture<'_, Result<(), AppendError>>;

    /// Whether the append of that id is there, which followed event `expected` of the run and had at least
    /// one event. What it says of hooks may be true though none is due.
    fn receipt(
        &self,
        run: RunId,
        expected: Seq,
        id: AppendId,
    ) -> PortFuture<'_, Result<Option<Receipt>, ReadError>>;

    /// What is covered of the log behind the cursor, at most `limit` events and fewer where they are large.
    /// The empty cursor is the beginning. An event that cannot be read is passed over. A cursor that is not
    /// this store's own is [`ReadError::Broken`].
    fn feed(
        &self,
        access: Access,
        after: FeedCursor,
        limit: usize,
    ) -> PortFuture<'_, Result<FeedPage, ReadError>>;

    /// The run's events after `after`, oldest first, at most `limit` of them and fewer where they are
    /// large: only an empty list says that there are no more. An event that cannot be read ends the list
    /// too: the events before it are returned, and a call that begins at it is [`ReadError::Damaged`].
    fn events(
        &self,
        run: RunId,
        after: Seq,
        limit: usize,
    ) -> PortFuture<'_, Result<Vec<Stored>, ReadError>>;

    /// The run's events whose position is greater than `after`; for the rest as [`Self::events`].
    fn events_after_pos(
        &self,
        run: RunId,
        after: Pos,
        limit: usize,
    ) -> PortFuture<'_, Result<Vec<Stored>, ReadError>>;

    /// The run's newest events, newest first, at most `limit` of them. One that cannot be read is passed
    /// over and counts towards the limit.
    fn newest_events(
        &self,
        run: RunId,
        limit: usize,
    ) -> PortFuture<'_, Result<Vec<Stored>, ReadError>>;

    fn run(&self, run: RunId) -> PortFuture<'_, Result<Option<RunRow>, ReadError>>;

    /// Runs that match, newest first, at most `limit`, beginning after `before` where given.
    fn runs(
        &self,
        filter: RunFilter,
        before: Option<RunId>,
        limit: usize,
    ) -> PortFuture<'_, Result<Vec<RunRow>, ReadError>>;

    /// A page of the tenant's runs in the order of their status times, and how many match in all. A run
    /// whose status changes meanwhile moves to the front: who follows pages misses no other one.
    fn runs_by_status(&self, query: RunQuery) -> PortFuture<'_, Result<RunPage, ReadError>>;

    /// Runs of the session that wait for an answer, of one workflow or of any; at most `limit`.
    fn waiting(
        &self,
        caller: Caller,
        session: SessionId,
        workflow: Option<String>,
        limit: usize,
    ) -> PortFuture<'_, Result<Vec<RunId>, ReadError>>;

    fn claim(&self, key: ClaimKey) -> PortFuture<'_, Result<Option<Claim>, ReadError>>;

    /// Runs that are `runnable` or parked, whoever drives them, for looking at. In order of id, after
    /// `after`, at most `limit`.
    fn runnable(
        &self,
        after: Option<RunId>,
        limit: usize,
    ) -> PortFuture<'_, Result<Vec<RunId>, ReadError>>;

    /// When the newest event of the whole log was recorded; none where there is no event.
    fn newest_time(&self) -> PortFuture<'_, Result<Option<Timestamp>, ReadError>>;

    /// When the next timer after `now` is due.
    fn next_timer(&self, now: Timestamp) -> PortFuture<'_, Result<Option<Timestamp>, ReadError>>;

    /// Outbox rows in order of id, after `after`, at most `limit`, for looking at.
    fn outbox(
        &self,
        after: Option<OutboxId>,
        limit: usize,
    ) -> PortFuture<'_, Result<Vec<OutboxRow>, ReadError>>;

    fn hook(&self, run: RunId, id: String) -> PortFuture<'_, Result<Option<Hook>, ReadError>>;

    /// The hooks of the run in the order in which they were added.
    fn hooks(&self, run: RunId) -> PortFuture<'_, Result<Vec<Hook>, ReadError>>;

    /// When the next hook after `now` is due.
    fn next_hook(&self, now: Timestamp) -> PortFuture<'_, Result<Option<Timestamp>, ReadError>>;

    /// The node of the run, found without reading the run's log. None where the index does not have it,
    /// or leads to an event that is another node's: then the log itself has to be read. If it is there,
    /// [`Self::reindex`] makes it be found again.
    fn node(
        &self,
        run: RunId,
        node: NodeId,
    ) -> PortFuture<'_, Result<Option<NodePlace>, ReadError>>;

    /// The event that recorded this attempt, found without reading the run's log. None says that it was
    /// never made: where the index is damaged the log is read, and where that leaves a doubt the run is
    /// [`ReadError::Damaged`].
    fn attempt(&self, key: AttemptKey) -> PortFuture<'_, Result<Option<Stored>, ReadError>>;

    /// The node that an answer is for, and the record of that very answer where there is one: what
    /// [`Self::node`] and after it [`Self::attempt`] say. A store that can look at both at once does.
    fn asked(&self, key: AttemptKey) -> PortFuture<'_, Result<Option<AskedPlace>, ReadError>> {
        Box::pin(async move {
            let Some(place) = self.node(key.run, key.node).await? else { return Ok(None) };
            Ok(Some(AskedPlace { place, attempt: self.attempt(key).await? }))
        })
    }

    /// What lies around a node, found without reading the run's log. What cannot be read is left out and
    /// named in the answer. Empty where the index does not have the node.
    fn lineage(
        &self,
        run: RunId,
        node: NodeId,
        limits: LineageLimits,
    ) -> PortFuture<'_, Result<Lineage, ReadError>>;

    /// The definition of that hash, as it was pinned.
    fn pinned(&self, hash: String) -> PortFuture<'_, Result<Option<String>, ReadError>>;

    /// The sessions that are covered, those that something was recorded in last coming first, at most
    /// `limit`. Users who gave their sessions the same id are one session to somebody who may see both.
    fn sessions(
        &self,
        access: Access,
        limit: usize,
    ) -> PortFuture<'_, Result<Vec<SessionRow>, ReadError>>;

    /// The runs in that session that are covered, newest first: all of them, whatever indexes say, or
    /// [`ReadError::Damaged`] where the row of one is damaged.
    fn session_runs(
        &self,
        access: Access,
        session: SessionId,
    ) -> PortFuture<'_, Result<Vec<RunRow>, ReadError>>;

    /// Removes runs with everything that belongs to them alone, all in one transaction. Where a log has
    /// gone on, or the session has another run, it is [`AppendError::Conflict`] about that run and
    /// nothing is removed. A run whose row is `runnable` or not of a final state and not guided is
    /// refused by the caller, not here. A run that is not there is no error. Positions in the log are
    /// not used again.
    fn remove(&self, removal: Removal) -> PortFuture<'_, Result<(), AppendError>>;

    /// Makes the indexes of the run anew from its events, as they were made when these were appended. An
    /// event that cannot be read is passed over; what lies behind it is found again.
    fn reindex(&self, run: RunId) -> PortFuture<'_, Result<(), AppendError>>;

    /// Writes what is still buffered and ends. Appends handed in before are committed first; later
    /// ones fail. Calling it twice is no error.
    fn close(&self) -> PortFuture<'_, ()>;
}
