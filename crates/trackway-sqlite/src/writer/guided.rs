//! Writing the index of guided runs, and the definitions that runs are pinned to.

use rusqlite::{Connection, Statement, params};

use crate::{marks::Marks, prepared::Pin};

pub(super) struct GuidedStatements<'conn> {
    put_node: Statement<'conn>,
    add_branch: Statement<'conn>,
    add_attempt: Statement<'conn>,
    add_pin: Statement<'conn>,
    put_definition: Statement<'conn>,
    clear_nodes: Statement<'conn>,
    clear_attempts: Statement<'conn>,
}

impl<'conn> GuidedStatements<'conn> {
    pub(super) fn prepare(conn: &'conn Connection) -> rusqlite::Result<Self> {
        Ok(Self {
            // A node that is read anew keeps its branches.
            put_node: conn.prepare(
                "INSERT INTO nodes (run, node, seq, branches) VALUES (?1, ?2, ?3, 0)
                 ON CONFLICT (run, node) DO UPDATE SET seq = ?3",
            )?,
            add_branch: conn
                .prepare("UPDATE nodes SET branches = branches + 1 WHERE run = ?1 AND node = ?2")?,
            // The first record of an attempt is the one that a repetition finds.
            add_attempt: conn.prepare(
                "INSERT INTO attempts (run, node, ack, digest, seq) VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT DO NOTHING",
            )?,
            add_pin: conn
                .prepare("INSERT INTO pins (run, hash) VALUES (?1, ?2) ON CONFLICT DO NOTHING")?,
            // The same hash is the same body. One that no longer matches its own checksum is mended.
            put_definition: conn.prepare(
                "INSERT INTO definitions (hash, crc, body) VALUES (?1, ?2, ?3)
                 ON CONFLICT (hash) DO UPDATE SET body = ?3 WHERE crc = ?2 AND body <> ?3",
            )?,
            clear_nodes: conn.prepare("DELETE FROM nodes WHERE run = ?1")?,
            clear_attempts: conn.prepare("DELETE FROM attempts WHERE run = ?1")?,
        })
    }

    /// Notes what the run's event of this number makes.
    pub(super) fn note(&mut self, run: &str, seq: i64, marks: &Marks) -> rusqlite::Result<()> {
        if let Some(node) = &marks.node {
            self.put_node.execute(params![run, node.id, seq])?;
            self.add_pin.execute(params![run, node.definition])?;
        }
        if let Some(attempt) = &marks.attempt {
            let (node, ack, digest) = (&attempt.node, &attempt.ack, &attempt.digest);
            self.add_attempt.execute(params![run, node, ack, digest, seq])?;
            if attempt.advanced {
                self.add_branch.execute(params![run, node])?;
            }
        }
        Ok(())
    }

    pub(super) fn pin(&mut self, run: &str, pin: &Pin) -> rusqlite::Result<()> {
        self.put_definition.execute(params![pin.hash, pin.crc, pin.body])?;
        self.add_pin.execute(params![run, pin.hash]).map(drop)
    }

    /// Forgets the nodes and attempts of the run. What it is pinned to stays.
    pub(super) fn clear(&mut self, run: &str) -> rusqlite::Result<()> {
        self.clear_nodes.execute([run])?;
        self.clear_attempts.execute([run]).map(drop)
    }
}
