//! Finds and lists versions of artifacts.

use rusqlite::{Connection, OptionalExtension as _, Row, params_from_iter, types::Value};
use trackway_domain::{Access, ArtifactScope};
use trackway_ports::{
    ArtifactCursor, ArtifactFilter, ArtifactKey, ArtifactVersionQuery, ArtifactVersionRow, ReadError,
};

use crate::{
    artifact_rows::{
        ARTIFACT_COLUMNS, ArtifactRowError, DELETED, EncodedArtifactKey, OF_ARTIFACT, decode_artifact_row,
    },
    sqlite_error::to_read_error,
};

/// The version that a query finds.
pub(crate) fn find_artifact_version(
    conn: &Connection,
    query: &ArtifactVersionQuery,
) -> Result<Option<ArtifactVersionRow>, ReadError> {
    let ArtifactVersionQuery { access, scope, filename, version } = query;
    let key = ArtifactKey { owner: access.caller.clone(), scope: scope.clone(), filename: filename.clone() };
    let of_version = "(?6 IS NULL OR version = ?6)";
    let own = format!(
        "SELECT {ARTIFACT_COLUMNS}, crc FROM artifacts
         WHERE {OF_ARTIFACT} AND {of_version} AND content <> '{DELETED}' ORDER BY version DESC LIMIT 1"
    );
    let encoded = EncodedArtifactKey::new(&key);
    let [tenant, scope_kind, scope_id, name, user] = encoded.values();
    let values = (tenant, scope_kind, scope_id, name, user, *version);
    let found = select_one(conn, &own, values)?;
    let may_be_of_others = matches!(scope, ArtifactScope::Run(_) | ArtifactScope::Session(_))
        && access.only_covered_user().is_none();
    let found = match found {
        None if may_be_of_others => {
            let others = format!(
                "SELECT {ARTIFACT_COLUMNS}, crc FROM artifacts
                 WHERE tenant = ?1 AND scope = ?2 AND scope_id = ?3 AND filename = ?4 AND scope_user <> ?5
                   AND {of_version} AND content <> '{DELETED}' ORDER BY id DESC LIMIT 1"
            );
            select_one(conn, &others, values)?
        }
        found => found,
    };
    // A damaged index can lead to another row, whose own columns say what it is.
    Ok(found.filter(|row| row.scope == *scope && row.filename == *filename && may_read(access, row)))
}

fn may_read(access: &Access, row: &ArtifactVersionRow) -> bool {
    access.covers_artifact(row.scope.kind(), &row.owner)
}

/// The newest version of each artifact that matches, the last saved first. A damaged row is logged and omitted.
pub(crate) fn list_newest_artifact_versions(
    conn: &Connection,
    filter: &ArtifactFilter,
    after: Option<ArtifactCursor>,
    limit: usize,
) -> Result<Vec<ArtifactVersionRow>, ReadError> {
    let ArtifactFilter { access, scope, session, run, prefix, tag } = filter;
    let before = after.map_or(i64::MAX, |cursor| i64::try_from(cursor.0).unwrap_or(i64::MAX));
    let mut values: Vec<Value> =
        vec![access.caller.tenant.to_string().into(), access.caller.user.to_string().into(), before.into()];
    let mut condition = format!(
        "this.id < ?3 AND this.content <> '{DELETED}' AND NOT EXISTS (
             SELECT 1 FROM artifacts AS later
             WHERE later.tenant = this.tenant AND later.scope = this.scope
               AND later.scope_id = this.scope_id AND later.filename = this.filename
               AND later.scope_user = this.scope_user AND later.version > this.version
               AND later.content <> '{DELETED}')"
    );
    let optional = [
        ("this.scope = ?", scope.map(|kind| kind.as_str().to_owned())),
        ("this.session = ?", session.as_ref().map(|session| session.as_str().to_owned())),
        ("this.run = ?", run.map(|run| run.to_string())),
        ("instr(this.filename, ?) = 1", prefix.clone().filter(|prefix| !prefix.is_empty())),
        ("EXISTS (SELECT 1 FROM json_each(this.tags) WHERE json_each.value = ?)", tag.clone()),
    ];
    for (wanted, value) in optional {
        if let Some(value) = value {
            values.push(value.into());
            let number = values.len();
            condition.push_str(&format!(" AND {}", wanted.replace('?', &format!("?{number}"))));
        }
    }
    let sql = match access.only_covered_user() {
        // Two listings in the same order, which SQLite merges.
        Some(_) => format!(
            "SELECT {ARTIFACT_COLUMNS}, crc FROM artifacts AS this
             WHERE this.tenant = ?1 AND this.user = ?2 AND {condition}
             UNION ALL
             SELECT {ARTIFACT_COLUMNS}, crc FROM artifacts AS this
             WHERE this.tenant = ?1 AND this.scope = 'tenant' AND this.user <> ?2 AND {condition}
             ORDER BY id DESC"
        ),
        None => format!(
            "SELECT {ARTIFACT_COLUMNS}, crc FROM artifacts AS this
             WHERE this.tenant = ?1 AND (this.scope <> 'user' OR this.user = ?2) AND {condition}
             ORDER BY id DESC"
        ),
    };
    let rows = select_readable_versions(conn, &sql, values, limit)?;
    Ok(rows.into_iter().filter(|row| may_read(access, row)).collect())
}

/// The versions of an artifact, newest first. A damaged row is logged and omitted.
pub(crate) fn list_artifact_versions(
    conn: &Connection,
    key: &ArtifactKey,
    before: Option<u32>,
    limit: usize,
) -> Result<Vec<ArtifactVersionRow>, ReadError> {
    let sql = format!(
        "SELECT {ARTIFACT_COLUMNS}, crc FROM artifacts
         WHERE {OF_ARTIFACT} AND version < ?6 AND content <> '{DELETED}' ORDER BY version DESC"
    );
    let mut values: Vec<Value> =
        EncodedArtifactKey::new(key).values().map(|text| text.to_owned().into()).into();
    values.push(before.map_or(i64::MAX, i64::from).into());
    select_readable_versions(conn, &sql, values, limit)
}

fn select_one(
    conn: &Connection,
    sql: &str,
    values: impl rusqlite::Params,
) -> Result<Option<ArtifactVersionRow>, ReadError> {
    let decode = |row: &Row<'_>| Ok(decode_artifact_row(row));
    let found = conn.prepare_cached(sql).and_then(|mut it| it.query_row(values, decode).optional());
    found.map_err(to_read_error)?.transpose().map_err(|error| match error {
        ArtifactRowError::Sql(error) => to_read_error(error),
        ArtifactRowError::Damaged(reason) => {
            ReadError::Broken { reason: format!("the row of an artifact is damaged: {reason}") }
        }
    })
}

fn select_readable_versions(
    conn: &Connection,
    sql: &str,
    values: Vec<Value>,
    limit: usize,
) -> Result<Vec<ArtifactVersionRow>, ReadError> {
    let mut statement = conn.prepare_cached(sql).map_err(to_read_error)?;
    let mut rows = statement.query(params_from_iter(values)).map_err(to_read_error)?;
    let mut found = Vec::new();
    while found.len() < limit {
        let Some(row) = rows.next().map_err(to_read_error)? else { break };
        match decode_artifact_row(row) {
            Ok(version) => found.push(version),
            Err(ArtifactRowError::Sql(error)) => return Err(to_read_error(error)),
            Err(ArtifactRowError::Damaged(error)) => {
                tracing::error!(error, row_kind = "artifact", "a damaged row is omitted");
            }
        }
    }
    Ok(found)
}
