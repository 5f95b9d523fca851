//! Writes versions of artifacts: the statements, and the number of the next version.

use rusqlite::{Connection, OptionalExtension as _, Statement, params, params_from_iter};
use trackway_domain::{ArtifactEntrySource, ArtifactId, ArtifactIndexEntry, ArtifactScope, RunId, Timestamp};
use trackway_ports::{ArtifactCursor, ArtifactKey, ArtifactVersionRow, NextArtifactVersion};

use crate::artifact_rows::{
    ARTIFACT_COLUMNS, ARTIFACT_COLUMNS_COUNT, ArtifactRowError, EncodedArtifactKey, OF_ARTIFACT,
    decode_artifact_row, encode_artifact_row,
};

pub(crate) struct ArtifactStatements<'conn> {
    next_id: Statement<'conn>,
    next_version: Statement<'conn>,
    insert: Statement<'conn>,
    find_yielded: Statement<'conn>,
    grow: Statement<'conn>,
}

impl<'conn> ArtifactStatements<'conn> {
    pub(crate) fn prepare_artifact_statements(conn: &'conn Connection) -> rusqlite::Result<Self> {
        let parameters: Vec<String> = (1..=ARTIFACT_COLUMNS_COUNT + 1).map(|it| format!("?{it}")).collect();
        Ok(Self {
            next_id: conn.prepare("SELECT ifnull(max(id), 0) + 1 FROM artifacts")?,
            // Deleted versions count.
            next_version: conn
                .prepare(&format!("SELECT ifnull(max(version) + 1, 0) FROM artifacts WHERE {OF_ARTIFACT}"))?,
            insert: conn.prepare(&format!(
                "INSERT INTO artifacts ({ARTIFACT_COLUMNS}, crc) VALUES ({})",
                parameters.join(", ")
            ))?,
            find_yielded: conn.prepare(&format!(
                "SELECT {ARTIFACT_COLUMNS}, crc FROM artifacts
                 WHERE run = ?1 AND artifact = ?2 AND content = 'yielded' ORDER BY id DESC LIMIT 1"
            ))?,
            grow: conn.prepare(
                "UPDATE artifacts SET media_type = ?2, size_bytes = ?3, last_seq = ?4, crc = ?5 WHERE id = ?1",
            )?,
        })
    }

    /// The place of the next version of an artifact.
    pub(crate) fn find_next_version(
        &mut self,
        key: &ArtifactKey,
        created_at: Timestamp,
    ) -> rusqlite::Result<NextArtifactVersion> {
        let id: i64 = self.next_id.query_row([], |row| row.get(0))?;
        let values = EncodedArtifactKey::new(key);
        let version = self.next_version.query_row(values.values(), |row| row.get(0))?;
        Ok(NextArtifactVersion { version, cursor: ArtifactCursor(id.unsigned_abs()), created_at })
    }

    pub(crate) fn insert_version(
        &mut self,
        row: &ArtifactVersionRow,
        request: Option<&str>,
    ) -> rusqlite::Result<()> {
        self.insert.execute(params_from_iter(encode_artifact_row(row, request))).map(drop)
    }

    /// Writes what an event of the run adds.
    pub(super) fn write_index_entry(
        &mut self,
        run: RunId,
        entry: &ArtifactIndexEntry,
        at: Timestamp,
    ) -> rusqlite::Result<()> {
        if let ArtifactEntrySource::Yielded { artifact, grows: true } = &entry.source {
            match self.find_yielded_version(run, artifact) {
                Ok(Some(row)) => return self.grow_version(row, entry),
                Ok(None) => {}
                Err(ArtifactRowError::Sql(error)) => return Err(error),
                // The change does not repair a row that was damaged before.
                Err(ArtifactRowError::Damaged(reason)) => {
                    tracing::error!(reason, %run, %artifact, "the row of an artifact is damaged");
                    return Ok(());
                }
            }
        }
        let scope = ArtifactScope::Session(entry.session.clone());
        let key = ArtifactKey { owner: entry.owner.clone(), scope, filename: entry.filename.clone() };
        let place = self.find_next_version(&key, at)?;
        self.insert_version(&ArtifactVersionRow::from_index_entry(run, entry, place), None)
    }

    fn find_yielded_version(
        &mut self,
        run: RunId,
        artifact: &ArtifactId,
    ) -> Result<Option<ArtifactVersionRow>, ArtifactRowError> {
        let decode = |row: &rusqlite::Row<'_>| Ok(decode_artifact_row(row));
        let found =
            self.find_yielded.query_row(params![run.to_string(), artifact.as_str()], decode).optional()?;
        found.transpose()
    }

    fn grow_version(
        &mut self,
        mut row: ArtifactVersionRow,
        entry: &ArtifactIndexEntry,
    ) -> rusqlite::Result<()> {
        row.grow(entry);
        let values = encode_artifact_row(&row, None);
        let column = |name: &str| values[column_index(name)].clone();
        let changed = [
            column("id"),
            column("media_type"),
            column("size_bytes"),
            column("last_seq"),
            values[ARTIFACT_COLUMNS_COUNT].clone(),
        ];
        self.grow.execute(params_from_iter(changed)).map(drop)
    }
}

/// The place of a column in [`ARTIFACT_COLUMNS`].
fn column_index(name: &str) -> usize {
    let place = ARTIFACT_COLUMNS.split(", ").position(|column| column.trim() == name);
    place.unwrap_or(ARTIFACT_COLUMNS_COUNT)
}
