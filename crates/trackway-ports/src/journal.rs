//! The journal: the one durable log, and the index rows next to it.

use std::fmt;

use trackway_domain::{Access, Caller, NodeId, Position, RunId, Seq, SessionId, Timestamp};

use crate::{
    Append, AppendCallback, AppendId, AppendReceipt, AttemptKey, FeedCursor, FeedPage, Hook, Leases,
    LineageLimits, MessageClaim, MessageClaimKey, NodeLineage, NodeWithAttempt, OutboxId, OutboxRow,
    PortFuture, ReadFuture, RunFilter, RunPage, RunRemoval, RunRow, SessionRow, StatusTimeQuery, StoredEvent,
    StoredNode, StoredRun, WriteFuture,
};

/// An append-only log of events per run, with its indexes.
///
/// What a caller may assume after a crash: an append whose `done` was called with `Ok` is stored completely. An
/// append whose `done` was not called is stored completely or not at all. Appends to one run commit in the
/// order in which they are handed in. The order across different runs is not defined.
///
/// An error tells the caller how to react: [`crate::AppendError`] and [`crate::ReadError`]. If an append to a
/// run fails, later appends to that run that were already handed in are refused as conflicts.
///
/// Reads see every append whose `done` was called before the read started.
///
/// A journal also implements [`Leases`], because appends are checked against them.
pub trait Journal: Leases + Send + Sync + fmt::Debug {
    /// Hands in an append and returns at once. Many appends share one commit. Callers limit the number of their
    /// pending appends; the journal does not.
    fn append(&self, append: Append, done: AppendCallback);

    /// Appends to several different runs in one transaction. If one is refused, nothing is written, and the
    /// error is that of the first refused append.
    fn append_all(&self, appends: Vec<Append>) -> WriteFuture<'_>;

    /// Whether the append of that id is stored. It followed event `expected` of the run and had at least one
    /// event. The receipt may report due hooks although none is due.
    fn find_append_receipt(
        &self,
        run: RunId,
        expected_seq: Seq,
        id: AppendId,
    ) -> ReadFuture<'_, Option<AppendReceipt>>;

    /// The covered events of the log after the cursor, at most `limit`, and fewer if they are large. The empty
    /// cursor is the start of the log. An event that cannot be read is skipped. A cursor of another store is
    /// [`crate::ReadError::Broken`].
    fn list_feed_events(&self, access: Access, after: FeedCursor, limit: usize) -> ReadFuture<'_, FeedPage>;

    /// The run's events after `after`, oldest first, at most `limit`, and fewer if they are large: only an
    /// empty list means that there are no more. An event that cannot be read also ends the list: the events
    /// before it are returned, and a call that starts at it is [`crate::ReadError::Damaged`].
    fn list_events(&self, run: RunId, after: Seq, limit: usize) -> ReadFuture<'_, Vec<StoredEvent>>;

    /// The state that a run is loaded from: the results of [`Self::list_events`] from the beginning with
    /// this limit, of [`Self::find_run`] and of [`Leases::find_run_lease`]. A store reads all of it at once
    /// if it can.
    fn load_stored_run(&self, run: RunId, limit: usize) -> ReadFuture<'_, StoredRun> {
        Box::pin(async move {
            let events = self.list_events(run, 0, limit).await?;
            let newest = events.last().map_or(0, |stored| stored.seq);
            // A caller that reads the rest finds out what is wrong with it.
            let rest = self.list_events(run, newest, 1).await;
            let is_whole = rest.is_ok_and(|rest| rest.is_empty());
            let row = self.find_run(run).await;
            let lease = self.find_run_lease(run).await;
            Ok(StoredRun { events, is_whole, row, lease })
        })
    }

    /// The run's events whose position is greater than `after`; otherwise as [`Self::list_events`].
    fn list_events_after_position(
        &self,
        run: RunId,
        after: Position,
        limit: usize,
    ) -> ReadFuture<'_, Vec<StoredEvent>>;

    /// The run's newest events, newest first, at most `limit`. An event that cannot be read is skipped and
    /// counts towards the limit.
    fn list_newest_events(&self, run: RunId, limit: usize) -> ReadFuture<'_, Vec<StoredEvent>>;

    fn find_run(&self, run: RunId) -> ReadFuture<'_, Option<RunRow>>;

    /// Runs that match, newest first, at most `limit`, starting after `before` if it is set.
    fn list_runs(
        &self,
        filter: RunFilter,
        before: Option<RunId>,
        limit: usize,
    ) -> ReadFuture<'_, Vec<RunRow>>;

    /// A page of the tenant's runs in the order of their status times, and how many match in total. A run whose
    /// status changes meanwhile moves to the front; a reader that follows the pages misses no other run.
    fn list_runs_by_status_time(&self, query: StatusTimeQuery) -> ReadFuture<'_, RunPage>;

    /// Runs of the session that wait for an answer, of one workflow or of all; at most `limit`.
    fn list_waiting_runs(
        &self,
        caller: Caller,
        session: SessionId,
        workflow: Option<String>,
        limit: usize,
    ) -> ReadFuture<'_, Vec<RunId>>;

    fn find_message_claim(&self, key: MessageClaimKey) -> ReadFuture<'_, Option<MessageClaim>>;

    /// When the newest event of the whole log was recorded; `None` if there is no event.
    fn newest_event_time(&self) -> ReadFuture<'_, Option<Timestamp>>;

    /// When the next timer after `now` is due.
    fn next_timer_due(&self, now: Timestamp) -> ReadFuture<'_, Option<Timestamp>>;

    /// Outbox rows in order of id, after `after`, at most `limit`, for inspection.
    fn list_outbox(&self, after: Option<OutboxId>, limit: usize) -> ReadFuture<'_, Vec<OutboxRow>>;

    fn find_hook(&self, run: RunId, id: String) -> ReadFuture<'_, Option<Hook>> {
        Box::pin(async move { Ok(self.list_hooks(run).await?.into_iter().find(|hook| hook.id == id)) })
    }

    /// The hooks of the run in the order in which they were added.
    fn list_hooks(&self, run: RunId) -> ReadFuture<'_, Vec<Hook>>;

    /// When the next hook after `now` is due.
    fn next_hook_due(&self, now: Timestamp) -> ReadFuture<'_, Option<Timestamp>>;

    /// The node of the run, found without reading the run's log. `None` means that the node does not exist: if
    /// the index is damaged the log is read, and if the log leaves it open the result is
    /// [`crate::ReadError::Damaged`].
    fn find_node(&self, run: RunId, node: NodeId) -> ReadFuture<'_, Option<StoredNode>>;

    /// The event that recorded this attempt, found without reading the run's log. `None` means that the attempt
    /// was never made: if the index is damaged the log is read, and if the log leaves it open the result is
    /// [`crate::ReadError::Damaged`].
    fn find_attempt(&self, key: AttemptKey) -> ReadFuture<'_, Option<StoredEvent>>;

    /// The node that an answer is for, and the record of that same answer, if there is one: the results of
    /// [`Self::find_node`] and then [`Self::find_attempt`]. A store reads both at once if it can.
    fn find_node_and_attempt(&self, key: AttemptKey) -> ReadFuture<'_, Option<NodeWithAttempt>> {
        Box::pin(async move {
            let Some(place) = self.find_node(key.run, key.node).await? else { return Ok(None) };
            Ok(Some(NodeWithAttempt { node: place, attempt: self.find_attempt(key).await? }))
        })
    }

    /// The surroundings of a node, found without reading the run's log unless the index is damaged. Events that
    /// cannot be read are omitted and reported in the result. Empty if the node does not exist.
    fn load_node_lineage(
        &self,
        run: RunId,
        node: NodeId,
        limits: LineageLimits,
    ) -> ReadFuture<'_, NodeLineage>;

    /// The definition of that hash, as pinned.
    fn find_pinned_definition(&self, hash: String) -> ReadFuture<'_, Option<String>>;

    /// The covered sessions, most recently updated first, at most `limit`. If several users chose the same
    /// session id, a caller that may see all of them gets one session.
    fn list_sessions(&self, access: Access, limit: usize) -> ReadFuture<'_, Vec<SessionRow>>;

    /// The covered runs of that session, newest first. The list is complete even if an index is damaged; if the
    /// row of a run is damaged, the result is [`crate::ReadError::Damaged`].
    fn list_session_runs(&self, access: Access, session: SessionId) -> ReadFuture<'_, Vec<RunRow>>;

    /// Removes runs with everything that belongs only to them, in one transaction. If a log has newer events,
    /// or the session has another run, the result is [`crate::AppendError::Conflict`] for that run and nothing
    /// is removed. The caller, not the store, refuses a run whose row is `runnable`, or whose state is not
    /// final and that is not guided. A run that does not exist is no error. Positions in the log are not
    /// reused.
    fn remove_runs(&self, removal: RunRemoval) -> WriteFuture<'_>;

    /// Writes what is still buffered and ends. Appends that were handed in before are committed first; later
    /// ones fail. Calling it twice is no error.
    fn close_store(&self) -> PortFuture<'_, ()>;
}
