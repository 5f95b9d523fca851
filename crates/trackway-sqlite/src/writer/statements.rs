//! The SQL of the writer: every statement is prepared once, and one append is written with them.

use rusqlite::{Connection, OptionalExtension as _, Statement, params};
use trackway_ports::{AppendError, Claim, FORMAT_NEWEST, Fence, Receipt, RunRow, TimerChange};

use crate::{
    checksum::{EventPlace, RUN_COLUMNS, run_crc_after, run_crc_new},
    json,
    prepared::{ClaimWrite, OutboxWrite, Prepared, Record},
    read::{worker, worker_key},
    writer::{
        Outcome,
        guided::GuidedStatements,
        heads::{Head, Heads},
        hooks::{HookStatements, Place},
    },
};

pub(crate) struct Statements<'conn> {
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
    guided: GuidedStatements<'conn>,
}

impl<'conn> Statements<'conn> {
    pub(crate) fn prepare(conn: &'conn Connection) -> rusqlite::Result<Self> {
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
                run_crc_new(),
                run_crc_after(&[
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
                run_crc_after(&[("status_at", "?2"), ("head", "?6")]),
            ))?,
            // The length of a guided run's log, and the time of its newest event.
            lengthen_run: conn.prepare(&format!(
                "UPDATE runs SET head = ?2, status_at = ?3, crc = {} WHERE id = ?1",
                run_crc_after(&[("head", "?2"), ("status_at", "?3")]),
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
            hooks: HookStatements::prepare(conn)?,
            guided: GuidedStatements::prepare(conn)?,
        })
    }

    pub(crate) fn begin(&mut self) -> rusqlite::Result<()> {
        self.begin.execute([]).map(drop)
    }

    pub(crate) fn commit(&mut self) -> rusqlite::Result<()> {
        self.commit.execute([]).map(drop)
    }

    pub(crate) fn rollback(&mut self) -> rusqlite::Result<()> {
        self.rollback.execute([]).map(drop)
    }

    /// Changes when another connection has committed.
    pub(crate) fn data_version(&mut self) -> rusqlite::Result<i64> {
        self.data_version.query_row([], |row| row.get(0))
    }

    pub(crate) fn newest_pos(&mut self) -> rusqlite::Result<i64> {
        self.newest_pos.query_row([], |row| row.get(0))
    }

    /// The stored head of the run.
    pub(super) fn head(&mut self, run: &str) -> rusqlite::Result<Head> {
        self.head.query_row([run], |row| {
            let (seq, hooked, epoch) = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok(Head { seq, hooked, epoch, driver: worker(row.get(3)?) })
        })
    }

    /// Pages in the write-ahead log that a checkpoint still has to move.
    pub(crate) fn frames_to_move(&mut self) -> rusqlite::Result<i64> {
        self.frames.query_row([], |row| Ok(row.get::<_, i64>(1)? - row.get::<_, i64>(2)?))
    }

    /// Writes one append, or refuses it. Every reason for a refusal is checked before the first write,
    /// so a refused append leaves nothing behind.
    pub(crate) fn write(
        &mut self,
        append: &Prepared,
        heads: &mut Heads,
        newest: &mut i64,
    ) -> rusqlite::Result<Outcome> {
        if let Some(write) = &append.claim
            && let Some(earlier) = self.claimed(&write.claim)?
        {
            return Ok(Err(AppendError::Claimed(Box::new(earlier))));
        }
        let head = match heads.get(append.run) {
            Some(head) => head,
            None => self.head(&append.key)?,
        };
        if i64::try_from(append.expected) != Ok(head.seq) {
            heads.set(append.run, head);
            return Ok(Err(AppendError::Conflict { run: append.run, expected: append.expected }));
        }
        if !passes(append.fence, head) {
            heads.set(append.run, head);
            return Ok(Err(AppendError::Fenced { run: append.run }));
        }
        for start in &append.starts {
            if self.head(&start.key)?.seq != 0 {
                return Ok(Err(AppendError::Conflict { run: start.run, expected: 0 }));
            }
        }
        let mut receipt = self.put(append, head, heads, newest)?;
        for start in &append.starts {
            receipt.starts.push(self.put(start, Head::default(), heads, newest)?.first);
        }
        Ok(Ok(receipt))
    }

    /// Writes an append that passed all checks, after the existing events of its run.
    fn put(
        &mut self,
        append: &Prepared,
        head: Head,
        heads: &mut Heads,
        newest: &mut i64,
    ) -> rusqlite::Result<Receipt> {
        let first = if append.records.is_empty() { 0 } else { *newest + 1 };
        let mut seq = head.seq;
        for record in &append.records {
            let id = append.id.filter(|_| seq == head.seq);
            seq += 1;
            *newest += 1;
            self.add_event(append, seq, *newest, record, id)?;
            if let Some(marks) = &record.marks {
                self.guided.note(&append.key, seq, marks)?;
            }
        }
        for pin in &append.pins {
            self.guided.pin(&append.key, pin)?;
        }
        let hooked = head.hooked || !append.hooks.is_empty();
        let head = Head { seq, hooked, ..driven_after(append, head) };
        heads.set(append.run, head);
        self.write_rows(append, head)?;
        let hooks = hooked && self.write_hooks(append, seq)?;
        Ok(Receipt { first: first.unsigned_abs(), starts: Vec::new(), hooks })
    }

    fn add_event(
        &mut self,
        append: &Prepared,
        seq: i64,
        pos: i64,
        record: &Record,
        append_id: Option<i64>,
    ) -> rusqlite::Result<()> {
        let blob = record.blob.map(|hash| hash.to_string());
        let place = EventPlace { run: &append.key, seq, pos, at: record.at, format: FORMAT_NEWEST };
        let body = blob.is_none().then_some(&record.body);
        self.add_event
            .execute(params![
                pos,
                append.key,
                seq,
                record.at,
                record.kind,
                FORMAT_NEWEST,
                place.seal(record.crc),
                body,
                blob,
                append_id
            ])
            .map(drop)
    }

    /// `head` is the head of the run after the append.
    fn write_rows(&mut self, append: &Prepared, head: Head) -> rusqlite::Result<()> {
        let newest = head.seq;
        let takes = matches!(append.fence, Fence::Take(_));
        match &append.row {
            Some(row) if append.expected == 0 || takes || !self.move_run(row, newest)? => {
                self.put_run(row, head)?;
            }
            None if takes => {
                let driver = head.driver.map(worker_key);
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
                OutboxWrite::Add { id, body } => {
                    self.add_outbox.execute(params![id, body, append.worker_key])?
                }
                OutboxWrite::Remove { id } => self.remove_outbox.execute([id])?,
            };
        }
        if let Some(ClaimWrite { claim, reply }) = &append.claim {
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
    fn write_hooks(&mut self, append: &Prepared, newest: i64) -> rusqlite::Result<bool> {
        let place = Place { run: &append.key, newest, at: append.at };
        let mut due = append.tells && self.hooks.wake(&place)?;
        for change in &append.hooks {
            due |= self.hooks.change(&place, change)?;
        }
        Ok(due)
    }

    /// Writes the row if only the time of its status has changed. Returns false if more has changed.
    fn move_run(&mut self, row: &RunRow, newest: i64) -> rusqlite::Result<bool> {
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

    fn put_run(&mut self, row: &RunRow, head: Head) -> rusqlite::Result<()> {
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
                head.driver.map(worker_key)
            ])
            .map(drop)
    }

    /// The earlier claim of the same key.
    fn claimed(&mut self, claim: &Claim) -> rusqlite::Result<Option<Claim>> {
        let key = &claim.key;
        self.find_claim
            .query_row(params![key.caller.tenant, key.caller.user, key.message.as_str()], |row| {
                let run: String = row.get(0)?;
                let reply: String = row.get(2)?;
                Ok(Claim {
                    key: key.clone(),
                    // A damaged claim still proves that the message was processed: an incomplete reply
                    // is better than processing it twice.
                    run: run.parse().unwrap_or(claim.run),
                    digest: row.get(1)?,
                    reply: json::from_text(&reply).unwrap_or_default(),
                })
            })
            .optional()
    }
}

/// Whether the fence lets the append pass.
fn passes(fence: Fence, head: Head) -> bool {
    match fence {
        Fence::Open => true,
        Fence::Held(epoch) => epoch.0.cast_signed() == head.epoch,
        Fence::Take(epoch) => head.driver.is_none() && epoch.0.cast_signed() == head.epoch + 1,
    }
}

/// The driver of the run after the append: none if it needs no driver.
fn driven_after(append: &Prepared, head: Head) -> Head {
    let (epoch, driver) = match append.fence {
        Fence::Take(epoch) => (epoch.0.cast_signed(), append.worker),
        Fence::Open | Fence::Held(_) => (head.epoch, head.driver),
    };
    let needs_none = append.row.as_ref().is_some_and(|row| !row.runnable && !row.parked);
    Head { epoch, driver: driver.filter(|_| !needs_none), ..head }
}
