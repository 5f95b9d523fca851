//! The SQL of the writer: every statement is prepared once, and one append is written with them.

use rusqlite::{Connection, OptionalExtension as _, Statement, params};
use trackway_ports::{
    AppendError, AppendFence, AppendReceipt, FORMAT_LATEST, MessageClaim, RunRow, TimerChange,
};

use crate::{
    checksum::{EventChecksumKey, RUN_COLUMNS, new_run_checksum_sql, updated_run_checksum_sql},
    json,
    read::{format_worker_key, parse_worker_key},
    write_jobs::{EncodedAppend, EncodedEvent, EncodedMessageClaim, EncodedOutboxChange},
    writer::{
        WriteOutcome,
        artifact_writes::ArtifactStatements,
        guided_index_writes::GuidedIndexStatements,
        head_cache::{CachedRunHead, RunHeadCache},
        hook_writes::{HookChangeContext, HookStatements},
    },
};

pub(crate) struct WriterStatements<'conn> {
    begin: Statement<'conn>,
    commit: Statement<'conn>,
    rollback: Statement<'conn>,
    data_version: Statement<'conn>,
    newest_pos: Statement<'conn>,
    frames: Statement<'conn>,
    head: Statement<'conn>,
    add_event: Statement<'conn>,
    put_run: Statement<'conn>,
    move_run: Statement<'conn>,
    lengthen_run: Statement<'conn>,
    take_run: Statement<'conn>,
    set_timer: Statement<'conn>,
    clear_timer: Statement<'conn>,
    clear_timers: Statement<'conn>,
    add_outbox: Statement<'conn>,
    remove_outbox: Statement<'conn>,
    find_claim: Statement<'conn>,
    add_claim: Statement<'conn>,
    hooks: HookStatements<'conn>,
    guided: GuidedIndexStatements<'conn>,
    artifacts: ArtifactStatements<'conn>,
}

impl<'conn> WriterStatements<'conn> {
    pub(crate) fn prepare_writer_statements(conn: &'conn Connection) -> rusqlite::Result<Self> {
        Ok(Self {
            begin: conn.prepare("BEGIN IMMEDIATE")?,
            commit: conn.prepare("COMMIT")?,
            rollback: conn.prepare("ROLLBACK")?,
            data_version: conn.prepare("PRAGMA data_version")?,
            // If the newest events were removed, their positions are not reused.
            newest_pos: conn.prepare(
                "SELECT max(ifnull((SELECT max(pos) FROM events), 0),
                            ifnull((SELECT CAST(value AS INTEGER) FROM meta
                                    WHERE name = 'positions-used'), 0))",
            )?,
            frames: conn.prepare("PRAGMA wal_checkpoint(NOOP)")?,
            // If a damaged key hides the newest events, the run's row still counts them: no second event
            // may get the same number.
            head: conn.prepare(
                "SELECT max(ifnull((SELECT max(seq) FROM events WHERE run = ?1), 0),
                            ifnull(known.head, 0)),
                        EXISTS (SELECT 1 FROM hooks WHERE run = ?1),
                        ifnull(known.epoch, 0), known.driver
                 FROM (SELECT 1) LEFT JOIN runs AS known ON known.id = ?1",
            )?,
            add_event: conn.prepare(
                "INSERT INTO events (pos, run, seq, at, kind, format, crc, body, blob, append)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            )?,
            // The names and the owner of a run never change, so an update touches only the indexes on
            // its state.
            put_run: conn.prepare(&format!(
                "INSERT INTO runs ({RUN_COLUMNS}, crc, epoch, driver)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, {}, ?14, ?15)
                 ON CONFLICT (id) DO UPDATE
                 SET state = ?8, runnable = ?9, parked = ?10, status_at = ?12, head = ?13,
                     crc = {}, epoch = ?14, driver = ?15",
                new_run_checksum_sql(),
                updated_run_checksum_sql(&[
                    ("state", "?8"),
                    ("runnable", "?9"),
                    ("parked", "?10"),
                    ("status_at", "?12"),
                    ("head", "?13"),
                ]),
            ))?,
            // A new status in the same state, the most frequent change of all: only one index is
            // touched.
            move_run: conn.prepare(&format!(
                "UPDATE runs SET status_at = ?2, head = ?6, crc = {}
                 WHERE id = ?1 AND state = ?3 AND runnable = ?4 AND parked = ?5",
                updated_run_checksum_sql(&[("status_at", "?2"), ("head", "?6")]),
            ))?,
            // The length of a guided run's log, and the time of its newest event.
            lengthen_run: conn.prepare(&format!(
                "UPDATE runs SET head = ?2, status_at = ?3, crc = {} WHERE id = ?1",
                updated_run_checksum_sql(&[("head", "?2"), ("status_at", "?3")]),
            ))?,
            take_run: conn.prepare("UPDATE runs SET epoch = ?2, driver = ?3 WHERE id = ?1")?,
            set_timer: conn.prepare(
                "INSERT INTO timers (run, timer, due) VALUES (?1, ?2, ?3)
                 ON CONFLICT (run, timer) DO UPDATE SET due = ?3, worker = NULL",
            )?,
            clear_timer: conn.prepare("DELETE FROM timers WHERE run = ?1 AND timer = ?2")?,
            clear_timers: conn.prepare("DELETE FROM timers WHERE run = ?1")?,
            add_outbox: conn.prepare(
                "INSERT INTO outbox (id, body, worker) VALUES (?1, ?2, ?3)
                 ON CONFLICT (id) DO UPDATE SET body = ?2, worker = ?3",
            )?,
            remove_outbox: conn.prepare("DELETE FROM outbox WHERE id = ?1")?,
            find_claim: conn.prepare(
                "SELECT run, digest, reply FROM claims
                 WHERE tenant = ?1 AND user = ?2 AND message = ?3",
            )?,
            add_claim: conn.prepare(
                "INSERT INTO claims (tenant, user, message, run, digest, reply)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?,
            hooks: HookStatements::prepare_hook_statements(conn)?,
            guided: GuidedIndexStatements::prepare_guided_index_statements(conn)?,
            artifacts: ArtifactStatements::prepare_artifact_statements(conn)?,
        })
    }

    pub(crate) fn begin_transaction(&mut self) -> rusqlite::Result<()> {
        self.begin.execute([]).map(drop)
    }

    pub(crate) fn commit_transaction(&mut self) -> rusqlite::Result<()> {
        self.commit.execute([]).map(drop)
    }

    pub(crate) fn roll_back_transaction(&mut self) -> rusqlite::Result<()> {
        self.rollback.execute([]).map(drop)
    }

    /// Changes when another connection has committed.
    pub(crate) fn sqlite_data_version(&mut self) -> rusqlite::Result<i64> {
        self.data_version.query_row([], |row| row.get(0))
    }

    pub(crate) fn newest_position(&mut self) -> rusqlite::Result<i64> {
        self.newest_pos.query_row([], |row| row.get(0))
    }

    /// The stored head of the run.
    pub(super) fn load_run_head(&mut self, run: &str) -> rusqlite::Result<CachedRunHead> {
        self.head.query_row([run], |row| {
            let (seq, hooked, epoch) = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok(CachedRunHead { seq, may_have_hooks: hooked, epoch, driver: parse_worker_key(row.get(3)?) })
        })
    }

    /// Pages in the write-ahead log that a checkpoint still has to move.
    pub(crate) fn count_unmoved_wal_frames(&mut self) -> rusqlite::Result<i64> {
        self.frames.query_row([], |row| Ok(row.get::<_, i64>(1)? - row.get::<_, i64>(2)?))
    }

    /// Writes one append, or refuses it. Every reason for a refusal is checked before the first write,
    /// so a refused append leaves nothing behind.
    pub(crate) fn check_and_write_append(
        &mut self,
        append: &EncodedAppend,
        heads: &mut RunHeadCache,
        newest: &mut i64,
    ) -> rusqlite::Result<WriteOutcome> {
        if let Some(write) = &append.claim
            && let Some(earlier) = self.find_earlier_message_claim(&write.claim)?
        {
            return Ok(Err(AppendError::Claimed(Box::new(earlier))));
        }
        let head = match heads.cached_run_head(append.run) {
            Some(head) => head,
            None => self.load_run_head(&append.key)?,
        };
        if i64::try_from(append.expected) != Ok(head.seq) {
            heads.cache_run_head(append.run, head);
            return Ok(Err(AppendError::Conflict { run: append.run, expected: append.expected }));
        }
        if !passes_append_fence(append.fence, head) {
            heads.cache_run_head(append.run, head);
            return Ok(Err(AppendError::Fenced { run: append.run }));
        }
        for start in &append.started_runs {
            if self.load_run_head(&start.key)?.seq != 0 {
                return Ok(Err(AppendError::Conflict { run: start.run, expected: 0 }));
            }
        }
        let mut receipt = self.insert_checked_append(append, head, heads, newest)?;
        for start in &append.started_runs {
            receipt.start_positions.push(
                self.insert_checked_append(start, CachedRunHead::default(), heads, newest)?.first_position,
            );
        }
        Ok(Ok(receipt))
    }

    /// Writes an append that passed all checks, after the existing events of its run.
    fn insert_checked_append(
        &mut self,
        append: &EncodedAppend,
        head: CachedRunHead,
        heads: &mut RunHeadCache,
        newest: &mut i64,
    ) -> rusqlite::Result<AppendReceipt> {
        let first = if append.records.is_empty() { 0 } else { *newest + 1 };
        let mut seq = head.seq;
        for record in &append.records {
            let id = append.id.filter(|_| seq == head.seq);
            seq += 1;
            *newest += 1;
            self.insert_event(append, seq, *newest, record, id)?;
            if let Some(marks) = &record.index_entries {
                self.guided.write_event_index_entries(&append.key, seq, marks)?;
            }
        }
        for pin in &append.pins {
            self.guided.write_pinned_definition(&append.key, pin)?;
        }
        for (entry, at) in &append.artifacts {
            self.artifacts.write_index_entry(append.run, entry, *at)?;
        }
        let hooked = head.may_have_hooks || !append.hooks.is_empty();
        let head = CachedRunHead { seq, may_have_hooks: hooked, ..run_head_with_new_driver(append, head) };
        heads.cache_run_head(append.run, head);
        self.write_index_rows(append, head)?;
        let hooks = hooked && self.write_hook_changes_and_check_due(append, seq)?;
        Ok(AppendReceipt {
            first_position: first.unsigned_abs(),
            start_positions: Vec::new(),
            has_due_hook: hooks,
        })
    }

    fn insert_event(
        &mut self,
        append: &EncodedAppend,
        seq: i64,
        pos: i64,
        record: &EncodedEvent,
        append_id: Option<i64>,
    ) -> rusqlite::Result<()> {
        let blob = record.blob.map(|hash| hash.to_string());
        let place = EventChecksumKey { run: &append.key, seq, pos, at: record.at, format: FORMAT_LATEST };
        let body = blob.is_none().then_some(&record.body);
        self.add_event
            .execute(params![
                pos,
                append.key,
                seq,
                record.at,
                record.kind,
                FORMAT_LATEST,
                place.event_checksum_with_content(record.crc),
                body,
                blob,
                append_id
            ])
            .map(drop)
    }

    /// `head` is the head of the run after the append.
    fn write_index_rows(&mut self, append: &EncodedAppend, head: CachedRunHead) -> rusqlite::Result<()> {
        let newest = head.seq;
        let takes = matches!(append.fence, AppendFence::TakeOver(_));
        match &append.row {
            Some(row)
                if append.expected == 0 || takes || !self.try_update_only_status_time(row, newest)? =>
            {
                self.upsert_run_row(row, head)?;
            }
            None if takes => {
                let driver = head.driver.map(format_worker_key);
                self.take_run.execute(params![append.key, head.epoch, driver])?;
            }
            None if append.records.iter().any(|record| record.guided) => {
                let at = append.records.last().map_or(append.at, |record| record.at);
                self.lengthen_run.execute(params![append.key, newest, at])?;
            }
            Some(_) | None => {}
        }
        for change in &append.timers {
            match change {
                TimerChange::Set(timer, due) => {
                    self.set_timer.execute(params![append.key, timer.to_string(), due.millis()])?
                }
                TimerChange::Clear(timer) => {
                    self.clear_timer.execute(params![append.key, timer.to_string()])?
                }
                TimerChange::ClearAll => self.clear_timers.execute([&append.key])?,
            };
        }
        for change in &append.outbox {
            match change {
                EncodedOutboxChange::Add { id, body } => {
                    self.add_outbox.execute(params![id, body, append.worker_key])?
                }
                EncodedOutboxChange::Remove { id } => self.remove_outbox.execute([id])?,
            };
        }
        if let Some(EncodedMessageClaim { claim, reply }) = &append.claim {
            self.add_claim.execute(params![
                claim.key.caller.tenant,
                claim.key.caller.user,
                claim.key.message.as_str(),
                claim.run.to_string(),
                claim.digest,
                reply
            ])?;
        }
        Ok(())
    }

    /// True if one of the run's hooks has something to deliver after this append.
    fn write_hook_changes_and_check_due(
        &mut self,
        append: &EncodedAppend,
        newest: i64,
    ) -> rusqlite::Result<bool> {
        let place = HookChangeContext { run: &append.key, newest, at: append.at };
        let mut due = append.notifies_hooks && self.hooks.make_idle_hooks_due(&place)?;
        for change in &append.hooks {
            due |= self.hooks.apply_hook_change_and_check_due(&place, change)?;
        }
        Ok(due)
    }

    /// Writes the row if only the time of its status has changed. Returns false if more has changed.
    fn try_update_only_status_time(&mut self, row: &RunRow, newest: i64) -> rusqlite::Result<bool> {
        let (id, status_at) = (row.id.to_string(), row.status_at.millis());
        let moved = self.move_run.execute(params![
            id,
            status_at,
            row.state.as_str(),
            row.runnable,
            row.parked,
            newest
        ])?;
        Ok(moved > 0)
    }

    fn upsert_run_row(&mut self, row: &RunRow, head: CachedRunHead) -> rusqlite::Result<()> {
        self.put_run
            .execute(params![
                row.id.to_string(),
                row.session.as_str(),
                row.caller.tenant,
                row.caller.user,
                row.workflow.name,
                row.workflow.version,
                row.parent.map(|parent| parent.to_string()),
                row.state.as_str(),
                row.runnable,
                row.parked,
                row.created_at.millis(),
                row.status_at.millis(),
                head.seq,
                head.epoch,
                head.driver.map(format_worker_key)
            ])
            .map(drop)
    }

    /// The earlier claim of the same key.
    fn find_earlier_message_claim(&mut self, claim: &MessageClaim) -> rusqlite::Result<Option<MessageClaim>> {
        let key = &claim.key;
        self.find_claim
            .query_row(params![key.caller.tenant, key.caller.user, key.message.as_str()], |row| {
                let run: String = row.get(0)?;
                let reply: String = row.get(2)?;
                Ok(MessageClaim {
                    key: key.clone(),
                    // A damaged claim still proves that the message was processed: an incomplete reply
                    // is better than processing it twice.
                    run: run.parse().unwrap_or(claim.run),
                    digest: row.get(1)?,
                    reply: json::parse_json_text(&reply).unwrap_or_default(),
                })
            })
            .optional()
    }
}

/// Whether the fence lets the append pass.
fn passes_append_fence(fence: AppendFence, head: CachedRunHead) -> bool {
    match fence {
        AppendFence::Unfenced => true,
        AppendFence::AtEpoch(epoch) => epoch.0.cast_signed() == head.epoch,
        AppendFence::TakeOver(epoch) => head.driver.is_none() && epoch.0.cast_signed() == head.epoch + 1,
    }
}

/// The driver of the run after the append: none if it needs no driver.
fn run_head_with_new_driver(append: &EncodedAppend, head: CachedRunHead) -> CachedRunHead {
    let (epoch, driver) = match append.fence {
        AppendFence::TakeOver(epoch) => (epoch.0.cast_signed(), append.worker),
        AppendFence::Unfenced | AppendFence::AtEpoch(_) => (head.epoch, head.driver),
    };
    let needs_none = append.row.as_ref().is_some_and(|row| !row.runnable && !row.parked);
    CachedRunHead { epoch, driver: driver.filter(|_| !needs_none), ..head }
}
