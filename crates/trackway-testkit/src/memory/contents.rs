//! The contents of a journal in memory, and the simplest implementation of every read and write.
//! Events are stored as their records, so that reads return what a store on disk would return.

use std::{
    collections::{BTreeMap, HashMap},
    ops::Bound,
};

use super::{artifacts::ArtifactTable, guided_index::GuidedIndex, hooks::HookTable, leases::MemoryWorkers};
use trackway_domain::{Access, Caller, Event, Position, RunId, Seq, SessionId, TimerKey, Timestamp};
use trackway_ports::{
    Append, AppendError, AppendId, AppendReceipt, FORMAT_LATEST, FeedCursor, FeedEvent, FeedPage,
    MessageClaim, MessageClaimKey, OutboxChange, OutboxId, OutboxItem, OutboxRow, ReadError, RunFilter,
    RunPage, RunRow, StatusTimeQuery, StoredEvent, TimerChange, decode_event, encode_event,
};

#[derive(Debug, Default)]
pub(super) struct MemoryContents {
    newest: Position,
    pub(super) logs: HashMap<RunId, Vec<StoredRecord>>,
    pub(super) rows: BTreeMap<RunId, RunRow>,
    pub(super) timers: BTreeMap<(RunId, TimerKey), Timestamp>,
    pub(super) outbox: BTreeMap<OutboxId, OutboxItem>,
    pub(super) claims: HashMap<MessageClaimKey, MessageClaim>,
    pub(super) index: GuidedIndex,
    pub(super) hooks: HookTable,
    pub(super) workers: MemoryWorkers,
    pub(super) artifacts: ArtifactTable,
}

#[derive(Debug)]
pub(super) struct StoredRecord {
    pos: Position,
    pub(super) at: Timestamp,
    body: String,
    /// The append whose first event it is.
    append: Option<AppendId>,
}

impl MemoryContents {
    pub(super) fn append(&mut self, mut append: Append) -> Result<AppendReceipt, AppendError> {
        self.check_append(&append)?;
        let first = if append.events.is_empty() { 0 } else { self.newest + 1 };
        for (place, event) in append.events.iter().enumerate() {
            self.newest += 1;
            let log = self.logs.entry(append.run).or_default();
            log.push(StoredRecord {
                pos: self.newest,
                at: append.event_times.get(place).copied().unwrap_or(append.at),
                body: encode_event(event),
                append: append.id.filter(|_| place == 0),
            });
            self.index.index_event(append.run, log.len() as Seq, event);
        }
        let mut starts = Vec::new();
        for start in std::mem::take(&mut append.started_runs) {
            starts.push(self.append(start)?.first_position);
        }
        for pin in std::mem::take(&mut append.pins) {
            self.index.pin_definition(append.run, pin);
        }
        for entry in &append.artifacts {
            self.artifacts.write_index_entry(append.run, entry, append.event_time(entry.seq));
        }
        let newest = self.logs.get(&append.run).map_or(0, Vec::len) as Seq;
        let mut hooks = false;
        if append.notifies_hooks && !append.events.is_empty() {
            hooks |= self.hooks.mark_idle_hooks_due(append.run, append.at);
        }
        for change in std::mem::take(&mut append.hook_changes) {
            hooks |= self.hooks.apply_hook_change(append.run, change, newest, append.at);
        }
        let hooks_of_run = self.hooks.hooks_of_run(append.run);
        self.workers.hooks.retain(|(run, id), _| {
            let is_due = hooks_of_run.iter().any(|hook| hook.id == *id && hook.due.is_some());
            *run != append.run || is_due
        });
        self.workers.update_driver(&append);
        self.write_index_rows(append);
        Ok(AppendReceipt { first_position: first, start_positions: starts, has_due_hook: hooks })
    }

    /// All of them, or none.
    pub(super) fn append_all(&mut self, appends: Vec<Append>) -> Result<(), AppendError> {
        appends.iter().try_for_each(|append| self.check_append(append))?;
        appends.into_iter().try_for_each(|append| self.append(append).map(drop))
    }

    /// Why the append is refused.
    fn check_append(&self, append: &Append) -> Result<(), AppendError> {
        if let Some(claim) = &append.message_claim
            && let Some(earlier) = self.claims.get(&claim.key)
        {
            return Err(AppendError::Claimed(Box::new(earlier.clone())));
        }
        append.started_runs.iter().try_for_each(|start| self.check_append(start))?;
        if self.newest_seq(append.run) != append.expected {
            return Err(AppendError::Conflict { run: append.run, expected: append.expected });
        }
        self.workers.check_fence(append)
    }

    pub(super) fn newest_seq(&self, run: RunId) -> Seq {
        self.logs.get(&run).map_or(0, Vec::len) as Seq
    }

    fn write_index_rows(&mut self, append: Append) {
        let guided = append.events.iter().any(|event| matches!(event, Event::Guided(_)));
        if append.row.is_none()
            && guided
            && let Some(row) = self.rows.get_mut(&append.run)
        {
            row.status_at = append.event_times.last().copied().unwrap_or(append.at);
        }
        if let Some(row) = append.row {
            let kept = self.rows.entry(row.id).or_insert_with(|| row.clone());
            kept.state = row.state;
            kept.runnable = row.runnable;
            kept.parked = row.parked;
            kept.status_at = row.status_at;
        }
        for change in append.timer_changes {
            match change {
                TimerChange::Set(timer, due) => {
                    self.workers.timers.remove(&(append.run, timer.clone()));
                    self.timers.insert((append.run, timer), due);
                }
                TimerChange::Clear(timer) => {
                    self.workers.timers.remove(&(append.run, timer.clone()));
                    self.timers.remove(&(append.run, timer));
                }
                TimerChange::ClearAll => {
                    self.workers.timers.retain(|(run, _), _| *run != append.run);
                    self.timers.retain(|(run, _), _| *run != append.run);
                }
            }
        }
        for change in append.outbox_changes {
            match change {
                OutboxChange::Add(id, item) => {
                    self.outbox.insert(id, item);
                    self.workers.errands.extend(append.worker.map(|worker| (id, worker)));
                }
                OutboxChange::Remove(id) => {
                    self.outbox.remove(&id);
                    self.workers.errands.remove(&id);
                }
            }
        }
        if let Some(claim) = append.message_claim {
            self.claims.insert(claim.key.clone(), claim);
        }
    }

    pub(super) fn damage_event(&mut self, run: RunId, seq: Seq) {
        let log = self.logs.get_mut(&run);
        let index = usize::try_from(seq).unwrap_or(usize::MAX).wrapping_sub(1);
        if let Some(record) = log.and_then(|log| log.get_mut(index)) {
            record.body = "damaged".to_owned();
        }
    }

    pub(super) fn list_events(
        &self,
        run: RunId,
        after: Seq,
        limit: usize,
    ) -> Result<Vec<StoredEvent>, ReadError> {
        let log = self.logs.get(&run).map_or(&[][..], Vec::as_slice);
        let begin = usize::try_from(after).unwrap_or(usize::MAX);
        let mut found = Vec::new();
        for (record, seq) in log.iter().skip(begin).take(limit).zip(after.saturating_add(1)..) {
            match decode_event(FORMAT_LATEST, &record.body) {
                Ok(event) => found.push(StoredEvent { pos: record.pos, seq, at: record.at, event }),
                Err(_) if !found.is_empty() => break,
                Err(error) => {
                    let reason = error.to_string();
                    return Err(ReadError::Damaged { run, seq, reason });
                }
            }
        }
        Ok(found)
    }

    pub(super) fn list_events_after_position(
        &self,
        run: RunId,
        after: Position,
        limit: usize,
    ) -> Result<Vec<StoredEvent>, ReadError> {
        let log = self.logs.get(&run).map_or(&[][..], Vec::as_slice);
        let begin = log.partition_point(|record| record.pos <= after);
        self.list_events(run, begin as Seq, limit)
    }

    pub(super) fn find_run(&self, run: RunId) -> Option<RunRow> {
        self.rows.get(&run).cloned()
    }

    pub(super) fn list_runs(&self, filter: &RunFilter, before: Option<RunId>, limit: usize) -> Vec<RunRow> {
        let older = (Bound::Unbounded, before.map_or(Bound::Unbounded, Bound::Excluded));
        self.rows
            .range(older)
            .rev()
            .map(|(_, row)| row)
            .filter(|row| matches_filter(filter, row))
            .take(limit)
            .cloned()
            .collect()
    }

    pub(super) fn list_runs_by_status_time(&self, query: &StatusTimeQuery) -> RunPage {
        let mut rows: Vec<&RunRow> = self.rows.values().filter(|row| matches_query(query, row)).collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.status_time_cursor()));
        let total = rows.len() as u64;
        let behind = |row: &&RunRow| query.after.is_none_or(|after| row.status_time_cursor() < after);
        let rows = rows.into_iter().filter(behind).take(query.limit).cloned().collect();
        RunPage { rows, total }
    }

    pub(super) fn list_waiting_runs(
        &self,
        caller: &Caller,
        session: &SessionId,
        workflow: Option<&str>,
        limit: usize,
    ) -> Vec<RunId> {
        self.rows
            .values()
            .filter(|row| row.state.is_interrupted())
            .filter(|row| row.caller == *caller && row.session == *session)
            .filter(|row| workflow.is_none_or(|name| name == row.workflow.name))
            .map(|row| row.id)
            .take(limit)
            .collect()
    }

    pub(super) fn find_receipt(&self, run: RunId, expected: Seq, id: AppendId) -> Option<AppendReceipt> {
        let index = usize::try_from(expected).ok()?;
        let first = self.logs.get(&run)?.get(index)?;
        (first.append == Some(id)).then(|| AppendReceipt {
            first_position: first.pos,
            start_positions: Vec::new(),
            has_due_hook: true,
        })
    }

    pub(super) fn list_feed(
        &self,
        access: &Access,
        after: &FeedCursor,
        limit: usize,
    ) -> Result<FeedPage, ReadError> {
        let foreign = |_| ReadError::Broken { reason: "the cursor is not of this store".into() };
        let after: Position = if after.0.is_empty() { 0 } else { after.0.parse().map_err(foreign)? };
        let is_covered = |run: &RunId| self.rows.get(run).is_some_and(|row| access.covers_owner(&row.caller));
        let logs = self.logs.keys().filter(|run| is_covered(run));
        let mut events: Vec<FeedEvent> = logs
            .flat_map(|run| {
                let stored =
                    self.list_events_after_position(*run, after, limit.saturating_add(1)).unwrap_or_default();
                stored.into_iter().map(|stored| FeedEvent { run: *run, stored })
            })
            .collect();
        events.sort_by_key(|event| event.stored.pos);
        let more = events.len() > limit;
        events.truncate(limit);
        let next = match (more, events.last()) {
            (true, Some(last)) => last.stored.pos,
            _ => self.newest.max(after),
        };
        Ok(FeedPage { events, next: FeedCursor(next.to_string()), has_more: more })
    }

    pub(super) fn newest_event_time(&self) -> Option<Timestamp> {
        let newest = self.logs.values().filter_map(|log| log.last()).max_by_key(|last| last.pos);
        newest.map(|last| last.at)
    }

    pub(super) fn next_timer_due(&self, now: Timestamp) -> Option<Timestamp> {
        self.timers.values().copied().filter(|due| *due > now).min()
    }

    pub(super) fn list_outbox(&self, after: Option<OutboxId>, limit: usize) -> Vec<OutboxRow> {
        let later = (after.map_or(Bound::Unbounded, Bound::Excluded), Bound::Unbounded);
        self.outbox
            .range(later)
            .take(limit)
            .map(|(id, item)| OutboxRow { id: *id, item: item.clone() })
            .collect()
    }
}

fn matches_query(query: &StatusTimeQuery, row: &RunRow) -> bool {
    let StatusTimeQuery { access, session, workflow, state, since, after: _, limit: _ } = query;
    access.covers_owner(&row.caller)
        && session.as_ref().is_none_or(|name| *name == row.session)
        && workflow.as_ref().is_none_or(|name| *name == row.workflow.name)
        && state.is_none_or(|state| state == row.state)
        && since.is_none_or(|since| row.status_at >= since)
}

fn matches_filter(filter: &RunFilter, row: &RunRow) -> bool {
    let RunFilter { access, session, workflow, states } = filter;
    access.as_ref().is_none_or(|access| access.covers_owner(&row.caller))
        && session.as_ref().is_none_or(|name| *name == row.session)
        && workflow.as_ref().is_none_or(|name| *name == row.workflow.name)
        && (states.is_empty() || states.contains(&row.state))
}
