//! The journal: the one durable log, and the rows that are kept beside it for finding things.

use std::fmt;

use trackway_domain::{Access, Caller, NodeId, Pos, RunId, Seq, SessionId, Timestamp};

use crate::{
    Append, AppendId, AskedPlace, AttemptKey, Claim, ClaimKey, Done, FeedCursor, FeedPage, Hook,
    Leases, Lineage, LineageLimits, NodePlace, OutboxId, OutboxRow, PortFuture, ReadFuture,
    Receipt, Removal, RunFilter, RunPage, RunQuery, RunRow, SessionRow, Stored, StoredRun,
    WriteFuture,
};

/// An append-only log of events per run, with its indexes.
///
/// What a caller may assume after a crash: an append whose `done` was called with `Ok` is there, whole; one
/// whose `done` was not called is there whole or not at all. Appends of one run that are handed in one after
/// the other commit in that order. Nothing is promised about the order of different runs.
///
/// A failure says what to do about it: [`crate::AppendError`] and [`crate::ReadError`]. Appends of one run that were
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
    fn append_all(&self, appends: Vec<Append>) -> WriteFuture<'_>;

    /// Whether the append of that id is there, which followed event `expected` of the run and had at least
    /// one event. What it says of hooks may be true though none is due.
    fn receipt(&self, run: RunId, expected: Seq, id: AppendId) -> ReadFuture<'_, Option<Receipt>>;

    /// What is covered of the log behind the cursor, at most `limit` events and fewer where they are large.
    /// The empty cursor is the beginning. An event that cannot be read is passed over. A cursor that is not
    /// this store's own is [`crate::ReadError::Broken`].
    fn feed(&self, access: Access, after: FeedCursor, limit: usize) -> ReadFuture<'_, FeedPage>;

    /// The run's events after `after`, oldest first, at most `limit` of them and fewer where they are
    /// large: only an empty list says that there are no more. An event that cannot be read ends the list
    /// too: the events before it are returned, and a call that begins at it is [`crate::ReadError::Damaged`].
    fn events(&self, run: RunId, after: Seq, limit: usize) -> ReadFuture<'_, Vec<Stored>>;

    /// What a run is loaded from: what [`Self::events`] from its beginning with this limit, [`Self::run`] and
    /// [`Leases::run_lease`] say. A store that can look at all of it at once does.
    fn stored_run(&self, run: RunId, limit: usize) -> ReadFuture<'_, StoredRun> {
        Box::pin(async move {
            let events = self.events(run, 0, limit).await?;
            let newest = events.last().map_or(0, |stored| stored.seq);
            // What is wrong with the rest is told to who reads it.
            let rest = self.events(run, newest, 1).await;
            let is_whole = rest.is_ok_and(|rest| rest.is_empty());
            let row = self.run(run).await;
            let lease = self.run_lease(run).await;
            Ok(StoredRun { events, is_whole, row, lease })
        })
    }

    /// The run's events whose position is greater than `after`; for the rest as [`Self::events`].
    fn events_after_pos(&self, run: RunId, after: Pos, limit: usize)
    -> ReadFuture<'_, Vec<Stored>>;

    /// The run's newest events, newest first, at most `limit` of them. One that cannot be read is passed
    /// over and counts towards the limit.
    fn newest_events(&self, run: RunId, limit: usize) -> ReadFuture<'_, Vec<Stored>>;

    fn run(&self, run: RunId) -> ReadFuture<'_, Option<RunRow>>;

    /// Runs that match, newest first, at most `limit`, beginning after `before` where given.
    fn runs(
        &self,
        filter: RunFilter,
        before: Option<RunId>,
        limit: usize,
    ) -> ReadFuture<'_, Vec<RunRow>>;

    /// A page of the tenant's runs in the order of their status times, and how many match in all. A run
    /// whose status changes meanwhile moves to the front: who follows pages misses no other one.
    fn runs_by_status(&self, query: RunQuery) -> ReadFuture<'_, RunPage>;

    /// Runs of the session that wait for an answer, of one workflow or of any; at most `limit`.
    fn waiting(
        &self,
        caller: Caller,
        session: SessionId,
        workflow: Option<String>,
        limit: usize,
    ) -> ReadFuture<'_, Vec<RunId>>;

    fn claim(&self, key: ClaimKey) -> ReadFuture<'_, Option<Claim>>;

    /// When the newest event of the whole log was recorded; none where there is no event.
    fn newest_time(&self) -> ReadFuture<'_, Option<Timestamp>>;

    /// When the next timer after `now` is due.
    fn next_timer(&self, now: Timestamp) -> ReadFuture<'_, Option<Timestamp>>;

    /// Outbox rows in order of id, after `after`, at most `limit`, for looking at.
    fn outbox(&self, after: Option<OutboxId>, limit: usize) -> ReadFuture<'_, Vec<OutboxRow>>;

    fn hook(&self, run: RunId, id: String) -> ReadFuture<'_, Option<Hook>> {
        Box::pin(async move { Ok(self.hooks(run).await?.into_iter().find(|hook| hook.id == id)) })
    }

    /// The hooks of the run in the order in which they were added.
    fn hooks(&self, run: RunId) -> ReadFuture<'_, Vec<Hook>>;

    /// When the next hook after `now` is due.
    fn next_hook(&self, now: Timestamp) -> ReadFuture<'_, Option<Timestamp>>;

    /// The node of the run, found without reading the run's log. None says that there is no such node:
    /// where the index is damaged the log is read, and where that leaves a doubt the run is
    /// [`crate::ReadError::Damaged`].
    fn node(&self, run: RunId, node: NodeId) -> ReadFuture<'_, Option<NodePlace>>;

    /// The event that recorded this attempt, found without reading the run's log. None says that it was
    /// never made: where the index is damaged the log is read, and where that leaves a doubt the run is
    /// [`crate::ReadError::Damaged`].
    fn attempt(&self, key: AttemptKey) -> ReadFuture<'_, Option<Stored>>;

    /// The node that an answer is for, and the record of that very answer where there is one: what
    /// [`Self::node`] and after it [`Self::attempt`] say. A store that can look at both at once does.
    fn asked(&self, key: AttemptKey) -> ReadFuture<'_, Option<AskedPlace>> {
        Box::pin(async move {
            let Some(place) = self.node(key.run, key.node).await? else { return Ok(None) };
            Ok(Some(AskedPlace { place, attempt: self.attempt(key).await? }))
        })
    }

    /// What lies around a node, found without reading the run's log unless the index is damaged. What
    /// cannot be read is left out and named in the answer. Empty where there is no such node.
    fn lineage(&self, run: RunId, node: NodeId, limits: LineageLimits) -> ReadFuture<'_, Lineage>;

    /// The definition of that hash, as it was pinned.
    fn pinned(&self, hash: String) -> ReadFuture<'_, Option<String>>;

    /// The sessions that are covered, those that something was recorded in last coming first, at most
    /// `limit`. Users who gave their sessions the same id are one session to somebody who may see both.
    fn sessions(&self, access: Access, limit: usize) -> ReadFuture<'_, Vec<SessionRow>>;

    /// The runs in that session that are covered, newest first: all of them, whatever indexes say, or
    /// [`crate::ReadError::Damaged`] where the row of one is damaged.
    fn session_runs(&self, access: Access, session: SessionId) -> ReadFuture<'_, Vec<RunRow>>;

    /// Removes runs with everything that belongs to them alone, all in one transaction. Where a log has
    /// gone on, or the session has another run, it is [`crate::AppendError::Conflict`] about that run and
    /// nothing is removed. A run whose row is `runnable` or not of a final state and not guided is
    /// refused by the caller, not here. A run that is not there is no error. Positions in the log are
    /// not used again.
    fn remove(&self, removal: Removal) -> WriteFuture<'_>;

    /// Writes what is still buffered and ends. Appends handed in before are committed first; later
    /// ones fail. Calling it twice is no error.
    fn close(&self) -> PortFuture<'_, ()>;
}
