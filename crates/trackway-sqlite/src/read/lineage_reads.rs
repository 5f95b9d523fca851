//! Reads the surroundings of a node through the index. A row leads to an event, and the event proves that
//! it is the right one: wrong events are omitted. If a row of the path is lost, the log is read instead.

use rusqlite::{Params, Row};
use trackway_domain::{NodeId, RunId, Seq};
use trackway_ports::{
    ChildBranch, LineageLimits, NodeLineage, ReadError, StoredEvent, checkpointed_node_id, created_node_id,
    node_in_event,
};

use crate::reader_pool::broken_store_read_error;

use super::{
    ReadSource, RowReadError,
    event_reads::{EVENT_COLUMNS, decode_event_row, is_damaged_page_error, load_readable_log},
    guided_index_reads::{find_event_by_seq, find_node_index_row},
    parse_text_column,
};

pub(super) const CHILDREN: &str = "SELECT child, seq FROM attempts
     WHERE run = ?1 AND node = ?2 AND child IS NOT NULL ORDER BY seq DESC LIMIT ?3";

pub(super) const CHECKPOINTS: &str = "SELECT seq FROM checkpoints
     WHERE run = ?1 AND node = ?2 ORDER BY seq DESC LIMIT ?3";

/// All reads use one snapshot.
pub(crate) fn load_lineage(
    read_source: ReadSource<'_>,
    run: RunId,
    node: NodeId,
    limits: LineageLimits,
) -> Result<NodeLineage, ReadError> {
    let moment = read_source.conn.unchecked_transaction().map_err(broken_store_read_error)?;
    let from = ReadSource { conn: &moment, ..read_source };
    let reader = LineageReader { from, run };
    let mut lineage = NodeLineage::default();
    let Some(way) = reader.load_path_to_node(node, limits.path, &mut lineage)? else {
        let (log, damage) = load_readable_log(from, run)?;
        let damaged = damage.map(|damage| damage.to_string());
        return Ok(NodeLineage { damaged, ..NodeLineage::lineage_from_events(&log, node, limits) });
    };
    reader.load_path_checkpoints(&way, limits.checkpoints, &mut lineage)?;
    reader.load_child_branches(node, limits, &mut lineage)?;
    Ok(lineage)
}

struct LineageReader<'a> {
    from: ReadSource<'a>,
    run: RunId,
}

impl LineageReader<'_> {
    /// Walks back from the node, and returns the ids of the nodes on the path. `None` if one of them is not
    /// in the index.
    fn load_path_to_node(
        &self,
        node: NodeId,
        limit: usize,
        lineage: &mut NodeLineage,
    ) -> Result<Option<Vec<NodeId>>, ReadError> {
        let mut way = Vec::new();
        let mut here = Some(node);
        while let Some(id) = here {
            if way.len() >= limit {
                lineage.path_is_cut = true;
                break;
            }
            let Some(row) = find_node_index_row(self.from.conn, self.run, id)? else { return Ok(None) };
            let made = row.created_seq.unsigned_abs();
            let stored =
                self.load_event_if_expected(made, lineage, |event| created_node_id(event) == Some(id))?;
            let Some(stored) = stored else { break };
            here = node_in_event(&stored.event).and_then(|node| node.parent);
            way.push(id);
            lineage.path.push(stored);
        }
        Ok(Some(way))
    }

    fn load_path_checkpoints(
        &self,
        path_nodes: &[NodeId],
        limit: usize,
        lineage: &mut NodeLineage,
    ) -> Result<(), ReadError> {
        let mut seqs = Vec::new();
        for id in path_nodes {
            let values = (self.run.to_string(), id.to_string(), limit_as_sql_integer(limit));
            let found =
                self.select_intact_rows(CHECKPOINTS, values, |row| Ok(row.get::<_, i64>(0)?.unsigned_abs()))?;
            seqs.extend(found);
        }
        seqs.sort_unstable_by(|a, b| b.cmp(a));
        for seq in seqs.into_iter().take(limit) {
            let is_one = |event: &_| checkpointed_node_id(event).is_some_and(|id| path_nodes.contains(&id));
            let found = self.load_event_if_expected(seq, lineage, is_one)?;
            lineage.checkpoints.extend(found);
        }
        Ok(())
    }

    fn load_child_branches(
        &self,
        node: NodeId,
        limits: LineageLimits,
        lineage: &mut NodeLineage,
    ) -> Result<(), ReadError> {
        for (child, seq) in self.list_child_nodes(node, limits.children)? {
            let Some(first) =
                self.load_event_if_expected(seq, lineage, |event| created_node_id(event) == Some(child))?
            else {
                continue;
            };
            let (mut tip, mut steps) = ((child, seq), 0);
            let mut next = self.find_newest_child_node(child)?;
            while let Some(found) = next.filter(|_| steps < limits.depth) {
                tip = found;
                next = self.find_newest_child_node(tip.0)?;
                steps += 1;
            }
            let is_tip = |event: &_| created_node_id(event) == Some(tip.0);
            let newest = self.load_event_if_expected(tip.1, lineage, is_tip)?;
            let newest = newest.unwrap_or_else(|| first.clone());
            lineage.children.push(ChildBranch {
                first_event: first,
                newest_event: newest,
                is_cut: next.is_some(),
            });
        }
        Ok(())
    }

    fn find_newest_child_node(&self, node: NodeId) -> Result<Option<(NodeId, Seq)>, ReadError> {
        Ok(self.list_child_nodes(node, 1)?.pop())
    }

    /// The nodes that answers to this one made, newest first.
    fn list_child_nodes(&self, node: NodeId, limit: usize) -> Result<Vec<(NodeId, Seq)>, ReadError> {
        let values = (self.run.to_string(), node.to_string(), limit_as_sql_integer(limit));
        self.select_intact_rows(CHILDREN, values, |row| {
            Ok((parse_text_column(row, 0)?, row.get::<_, i64>(1)?.unsigned_abs()))
        })
    }

    /// The event of that number, if it is the expected one.
    fn load_event_if_expected(
        &self,
        seq: Seq,
        lineage: &mut NodeLineage,
        is_expected: impl Fn(&trackway_domain::Event) -> bool,
    ) -> Result<Option<StoredEvent>, ReadError> {
        match find_event_by_seq(self.from, self.run, seq) {
            Ok(found) => Ok(found.filter(|stored| is_expected(&stored.event))),
            Err(ReadError::Damaged { reason, .. } | ReadError::DamagedBlob { reason, .. }) => {
                lineage.damaged.get_or_insert_with(|| format!("event {seq}: {reason}"));
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// The good rows of a statement.
    fn select_intact_rows<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl Fn(&Row<'_>) -> Result<T, RowReadError>,
    ) -> Result<Vec<T>, ReadError> {
        let mut statement = self.from.conn.prepare_cached(sql).map_err(broken_store_read_error)?;
        let mut rows = statement.query(values).map_err(broken_store_read_error)?;
        let mut found = Vec::new();
        loop {
            match rows.next() {
                Ok(None) => return Ok(found),
                Ok(Some(row)) => found.extend(read(row)),
                Err(error) if is_damaged_page_error(&error) => return Ok(found),
                Err(error) => return Err(broken_store_read_error(error)),
            }
        }
    }
}

/// The run's newest events, newest first. Unreadable events are skipped.
pub(crate) fn list_newest_events(
    read_source: ReadSource<'_>,
    run: RunId,
    limit: usize,
) -> Result<Vec<StoredEvent>, ReadError> {
    let sql = format!("SELECT {EVENT_COLUMNS} FROM events WHERE run = ?1 ORDER BY seq DESC LIMIT ?2");
    let key = run.to_string();
    let mut statement = read_source.conn.prepare_cached(&sql).map_err(broken_store_read_error)?;
    let mut rows = statement.query((&key, limit_as_sql_integer(limit))).map_err(broken_store_read_error)?;
    let mut found = Vec::new();
    loop {
        match rows.next() {
            Ok(None) => return Ok(found),
            Ok(Some(row)) => {
                found.extend(decode_event_row(row, read_source.blobs, &key).map(|(stored, _)| stored))
            }
            Err(error) if is_damaged_page_error(&error) => return Ok(found),
            Err(error) => return Err(broken_store_read_error(error)),
        }
    }
}

/// A limit as an SQLite integer.
fn limit_as_sql_integer(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}
