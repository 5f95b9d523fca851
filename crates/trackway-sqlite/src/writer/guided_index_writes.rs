//! Writes the index of guided runs, and the definitions that runs are pinned to.

use rusqlite::{Connection, Statement, params};

use crate::{
    guided_index_entries::{AttemptIndexEntry, GuidedIndexEntries, NodeIndexRow, attempt_row_checksum},
    write_jobs::EncodedPinnedDefinition,
};

pub(super) struct GuidedIndexStatements<'conn> {
    find_node: Statement<'conn>,
    put_node: Statement<'conn>,
    add_attempt: Statement<'conn>,
    add_checkpoint: Statement<'conn>,
    add_pin: Statement<'conn>,
    put_definition: Statement<'conn>,
}

impl<'conn> GuidedIndexStatements<'conn> {
    pub(super) fn prepare_guided_index_statements(conn: &'conn Connection) -> rusqlite::Result<Self> {
        Ok(Self {
            find_node: conn.prepare(&format!(
                "SELECT {} FROM nodes WHERE run = ?1 AND node = ?2",
                NodeIndexRow::COLUMNS
            ))?,
            put_node: conn.prepare(
                "INSERT INTO nodes (run, node, seq, branches, attempts_sum, created_seq, blocked, crc)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
                 ON CONFLICT (run, node) DO UPDATE
                 SET seq = ?3, branches = ?4, attempts_sum = ?5, created_seq = ?6, blocked = ?7, crc = ?8",
            )?,
            // A repeated attempt finds the first record.
            add_attempt: conn.prepare(
                "INSERT INTO attempts (run, node, ack, digest, seq, child)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING",
            )?,
            add_checkpoint: conn.prepare(
                "INSERT INTO checkpoints (run, node, seq) VALUES (?1, ?2, ?3)
                 ON CONFLICT DO NOTHING",
            )?,
            add_pin: conn.prepare("INSERT INTO pins (run, hash) VALUES (?1, ?2) ON CONFLICT DO NOTHING")?,
            // The same hash has the same body. A definition that does not match its checksum is
            // repaired.
            put_definition: conn.prepare(
                "INSERT INTO definitions (hash, crc, body) VALUES (?1, ?2, ?3)
                 ON CONFLICT (hash) DO UPDATE SET body = ?3 WHERE crc = ?2 AND body <> ?3",
            )?,
        })
    }

    /// Adds the index entries of the run's event of this number.
    pub(super) fn write_event_index_entries(
        &mut self,
        run: &str,
        seq: i64,
        index_entries: &GuidedIndexEntries,
    ) -> rusqlite::Result<()> {
        if let Some(node) = &index_entries.node {
            match self.find_stored_node_row(run, &node.id)? {
                None if node.is_new => {
                    let new =
                        NodeIndexRow { seq, branches: 0, attempts_sum: 0, created_seq: seq, blocked: 0 };
                    self.upsert_node_row(run, &node.id, new)?;
                }
                // A node whose definition changes keeps its branches.
                Some(Some(known)) => self.upsert_node_row(run, &node.id, NodeIndexRow { seq, ..known })?,
                // A lost or damaged row is not repaired: reads use the log instead.
                None | Some(None) => {}
            }
            self.add_pin.execute(params![run, node.definition])?;
        }
        if let Some(attempt) = &index_entries.attempt {
            self.write_attempt_index_entry(run, seq, attempt)?;
        }
        if let Some(node) = &index_entries.checkpoint {
            self.add_checkpoint.execute(params![run, node, seq])?;
        }
        Ok(())
    }

    fn write_attempt_index_entry(
        &mut self,
        run: &str,
        seq: i64,
        attempt_entry: &AttemptIndexEntry,
    ) -> rusqlite::Result<()> {
        let AttemptIndexEntry { node, ack, digest, child } = attempt_entry;
        let added = self.add_attempt.execute(params![run, node, ack, digest, seq, child])? > 0;
        let sum = if added { attempt_row_checksum(ack, digest, seq) } else { 0 };
        if let Some(Some(known)) = self.find_stored_node_row(run, node)? {
            let changed = NodeIndexRow {
                branches: known.branches + i64::from(child.is_some()),
                blocked: known.blocked + i64::from(child.is_none()),
                attempts_sum: known.attempts_sum.wrapping_add(sum),
                ..known
            };
            self.upsert_node_row(run, node, changed)?;
        }
        Ok(())
    }

    /// The row of a node, if it exists; the inner value is `None` if the row is damaged.
    fn find_stored_node_row(
        &mut self,
        run: &str,
        node: &str,
    ) -> rusqlite::Result<Option<Option<NodeIndexRow>>> {
        let mut rows = self.find_node.query([run, node])?;
        Ok(rows.next()?.map(|row| NodeIndexRow::decode_verified_node_row(row, run, node)))
    }

    fn upsert_node_row(&mut self, run: &str, node: &str, row: NodeIndexRow) -> rusqlite::Result<()> {
        let NodeIndexRow { seq, branches, attempts_sum, created_seq, blocked } = row;
        let crc = row.node_row_checksum(run, node);
        let values = params![run, node, seq, branches, attempts_sum, created_seq, blocked, crc];
        self.put_node.execute(values).map(drop)
    }

    pub(super) fn write_pinned_definition(
        &mut self,
        run: &str,
        pin: &EncodedPinnedDefinition,
    ) -> rusqlite::Result<()> {
        self.put_definition.execute(params![pin.hash, pin.crc, pin.body])?;
        self.add_pin.execute(params![run, pin.hash]).map(drop)
    }
}
