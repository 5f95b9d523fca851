//! Reads the surroundings of a node through the index. A row leads to an event, and the event proves that
//! it is the right one: wrong events are omitted. If a row of the path is lost, the log is read instead.

use rusqlite::{Params, Row};
use trackway_domain::{NodeId, RunId, Seq};
use trackway_ports::{
    Growth, Lineage, LineageLimits, ReadError, Stored, checkpointed, made_by, node_of,
};

use crate::readers::broken;

use super::{
    Source, Unreadable,
    events::{EVENT_COLUMNS, is_damage, read_event, readable_log},
    guided::{event, node_row},
    parsed,
};

pub(super) const CHILDREN: &str = "SELECT child, seq FROM attempts
     WHERE run = ?1 AND node = ?2 AND child IS NOT NULL ORDER BY seq DESC LIMIT ?3";

pub(super) const CHECKPOINTS: &str = "SELECT seq FROM checkpoints
     WHERE run = ?1 AND node = ?2 ORDER BY seq DESC LIMIT ?3";

/// All reads use one snapshot.
pub(crate) fn lineage(
    from: Source<'_>,
    run: RunId,
    node: NodeId,
    limits: LineageLimits,
) -> Result<Lineage, ReadError> {
    let moment = from.conn.unchecked_transaction().map_err(broken)?;
    let from = Source { conn: &moment, ..from };
    let reader = Reader { from, run };
    let mut lineage = Lineage::default();
    let Some(way) = reader.path(node, limits.path, &mut lineage)? else {
        let (log, damage) = readable_log(from, run)?;
        let damaged = damage.map(|damage| damage.to_string());
        return Ok(Lineage { damaged, ..Lineage::of(&log, node, limits) });
    };
    reader.checkpoints(&way, limits.checkpoints, &mut lineage)?;
    reader.children(node, limits, &mut lineage)?;
    Ok(lineage)
}

struct Reader<'a> {
    from: Source<'a>,
    run: RunId,
}

impl Reader<'_> {
    /// Walks back from the node, and returns the ids of the nodes on the path. `None` if one of them is not
    /// in the index.
    fn path(
        &self,
        node: NodeId,
        limit: usize,
        lineage: &mut Lineage,
    ) -> Result<Option<Vec<NodeId>>, ReadError> {
        let mut way = Vec::new();
        let mut here = Some(node);
        while let Some(id) = here {
            if way.len() >= limit {
                lineage.path_is_cut = true;
                break;
            }
            let Some(row) = node_row(self.from.conn, self.run, id)? else { return Ok(None) };
            let made = row.made.unsigned_abs();
            let stored = self.event(made, lineage, |event| made_by(event) == Some(id))?;
            let Some(stored) = stored else { break };
            here = node_of(&stored.event).and_then(|node| node.parent);
            way.push(id);
            lineage.path.push(stored);
        }
        Ok(Some(way))
    }

    fn checkpoints(
        &self,
        way: &[NodeId],
        limit: usize,
        lineage: &mut Lineage,
    ) -> Result<(), ReadError> {
        let mut seqs = Vec::new();
        for id in way {
            let values = (self.run.to_string(), id.to_string(), stored(limit));
            let found =
                self.rows(CHECKPOINTS, values, |row| Ok(row.get::<_, i64>(0)?.unsigned_abs()))?;
            seqs.extend(found);
        }
        seqs.sort_unstable_by(|a, b| b.cmp(a));
        for seq in seqs.into_iter().take(limit) {
            let is_one = |event: &_| checkpointed(event).is_some_and(|id| way.contains(&id));
            let found = self.event(seq, lineage, is_one)?;
            lineage.checkpoints.extend(found);
        }
        Ok(())
    }

    fn children(
        &self,
        node: NodeId,
        limits: LineageLimits,
        lineage: &mut Lineage,
    ) -> Result<(), ReadError> {
        for (child, seq) in self.answers(node, limits.children)? {
            let Some(first) = self.event(seq, lineage, |event| made_by(event) == Some(child))?
            else {
                continue;
            };
            let (mut tip, mut steps) = ((child, seq), 0);
            let mut next = self.newest_answer(child)?;
            while let Some(found) = next.filter(|_| steps < limits.depth) {
                tip = found;
                next = self.newest_answer(tip.0)?;
                steps += 1;
            }
            let is_tip = |event: &_| made_by(event) == Some(tip.0);
            let newest = self.event(tip.1, lineage, is_tip)?;
            let newest = newest.unwrap_or_else(|| first.clone());
            lineage.children.push(Growth { first, newest, is_cut: next.is_some() });
        }
        Ok(())
    }

    fn newest_answer(&self, node: NodeId) -> Result<Option<(NodeId, Seq)>, ReadError> {
        Ok(self.answers(node, 1)?.pop())
    }

    /// The nodes that answers to this one made, newest first.
    fn answers(&self, node: NodeId, limit: usize) -> Result<Vec<(NodeId, Seq)>, ReadError> {
        let values = (self.run.to_string(), node.to_string(), stored(limit));
        self.rows(CHILDREN, values, |row| {
            Ok((parsed(row, 0)?, row.get::<_, i64>(1)?.unsigned_abs()))
        })
    }

    /// The event of that number, if it is the expected one.
    fn event(
        &self,
        seq: Seq,
        lineage: &mut Lineage,
        is_one: impl Fn(&trackway_domain::Event) -> bool,
    ) -> Result<Option<Stored>, ReadError> {
        match event(self.from, self.run, seq) {
            Ok(found) => Ok(found.filter(|stored| is_one(&stored.event))),
            Err(ReadError::Damaged { reason, .. } | ReadError::DamagedBlob { reason, .. }) => {
                lineage.damaged.get_or_insert_with(|| format!("event {seq}: {reason}"));
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// The good rows of a statement.
    fn rows<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl Fn(&Row<'_>) -> Result<T, Unreadable>,
    ) -> Result<Vec<T>, ReadError> {
        let mut statement = self.from.conn.prepare_cached(sql).map_err(broken)?;
        let mut rows = statement.query(values).map_err(broken)?;
        let mut found = Vec::new();
        loop {
            match rows.next() {
                Ok(None) => return Ok(found),
                Ok(Some(row)) => found.extend(read(row)),
                Err(error) if is_damage(&error) => return Ok(found),
                Err(error) => return Err(broken(error)),
            }
        }
    }
}

/// The run's newest events, newest first. Unreadable events are skipped.
pub(crate) fn newest_events(
    from: Source<'_>,
    run: RunId,
    limit: usize,
) -> Result<Vec<Stored>, ReadError> {
    let sql =
        format!("SELECT {EVENT_COLUMNS} FROM events WHERE run = ?1 ORDER BY seq DESC LIMIT ?2");
    let key = run.to_string();
    let mut statement = from.conn.prepare_cached(&sql).map_err(broken)?;
    let mut rows = statement.query((&key, stored(limit))).map_err(broken)?;
    let mut found = Vec::new();
    loop {
        match rows.next() {
            Ok(None) => return Ok(found),
            Ok(Some(row)) => {
                found.extend(read_event(row, from.blobs, &key).map(|(stored, _)| stored))
            }
            Err(error) if is_damage(&error) => return Ok(found),
            Err(error) => return Err(broken(error)),
        }
    }
}

/// A limit as an SQLite integer.
fn stored(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}
