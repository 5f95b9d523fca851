//! The row of a version of an artifact: its columns, its checksum, and how it is written and read.

use rusqlite::{
    Row,
    types::{FromSqlError, Value, ValueRef},
};
use trackway_domain::{ArtifactFilename, ArtifactScope, Caller, RunId, Timestamp};
use trackway_ports::{ArtifactContent, ArtifactCursor, ArtifactKey, ArtifactVersionRow};

use crate::{checksum::checksum_of_row_values, json};

/// The columns that the checksum covers, in this order. In a query the checksum itself follows them.
pub(crate) const ARTIFACT_COLUMNS: &str = "id, tenant, user, scope, scope_user, scope_id, filename, version, \
     media_type, size_bytes, sha256, created_at, run, session, tags, metadata, request, content, artifact, \
     first_seq, last_seq, part";

/// The number of these columns.
pub(crate) const ARTIFACT_COLUMNS_COUNT: usize = 22;

/// The condition on all versions of an artifact; [`EncodedArtifactKey::values`] are its parameters.
pub(crate) const OF_ARTIFACT: &str =
    "tenant = ?1 AND scope = ?2 AND scope_id = ?3 AND filename = ?4 AND scope_user = ?5";

/// A version that only keeps its number.
pub(crate) const DELETED: &str = "deleted";

const BLOB: &str = "blob";
const YIELDED: &str = "yielded";
const ATTACHMENT: &str = "attachment";

/// The key of an artifact as stored.
#[derive(Debug, Clone)]
pub(crate) struct EncodedArtifactKey {
    tenant: String,
    scope: &'static str,
    scope_id: String,
    filename: String,
    scope_user: String,
}

impl EncodedArtifactKey {
    pub(crate) fn new(key: &ArtifactKey) -> Self {
        let ArtifactKey { owner, scope, filename } = key;
        let user = match scope {
            ArtifactScope::Tenant => String::new(),
            ArtifactScope::Run(_) | ArtifactScope::Session(_) | ArtifactScope::User => owner.user.to_string(),
        };
        Self {
            tenant: owner.tenant.to_string(),
            scope: scope.kind().as_str(),
            scope_id: encode_scope_id(scope),
            filename: filename.as_str().to_owned(),
            scope_user: user,
        }
    }

    pub(crate) fn values(&self) -> [&str; 5] {
        [&self.tenant, self.scope, &self.scope_id, &self.filename, &self.scope_user]
    }
}

/// The run or session of a scope as stored.
pub(crate) fn encode_scope_id(scope: &ArtifactScope) -> String {
    match scope {
        ArtifactScope::Run(run) => run.to_string(),
        ArtifactScope::Session(session) => session.as_str().to_owned(),
        ArtifactScope::User | ArtifactScope::Tenant => String::new(),
    }
}

/// The values of the row's columns, with the checksum at the end.
pub(crate) fn encode_artifact_row(row: &ArtifactVersionRow, request: Option<&str>) -> Vec<Value> {
    let key = EncodedArtifactKey::new(&row.key());
    let [tenant, scope, scope_id, filename, scope_user] = key.values().map(text);
    let content = encode_content(&row.content);
    let mut values = vec![
        integer(row.cursor.0),
        tenant,
        text(&row.owner.user),
        scope,
        scope_user,
        scope_id,
        filename,
        Value::Integer(row.version.into()),
        text(&row.media_type),
        integer(row.size_bytes),
        optional_text(row.sha256),
        Value::Integer(row.created_at.millis()),
        optional_text(row.run),
        optional_text(row.session.as_ref()),
        text(&json::to_json_text(&row.tags)),
        text(&json::to_json_text(&row.metadata)),
        optional_text(request),
    ];
    values.extend(content);
    let crc = checksum_of_row_values(values.iter().map(ValueRef::from));
    values.push(Value::Integer(crc.into()));
    values
}

/// The columns from `content` on.
fn encode_content(content: &ArtifactContent) -> [Value; 5] {
    match content {
        ArtifactContent::Blob(_) => [text(BLOB), Value::Null, Value::Null, Value::Null, Value::Null],
        ArtifactContent::Yielded { run: _, artifact, first, last } => {
            [text(YIELDED), text(artifact.as_str()), integer(*first), integer(*last), Value::Null]
        }
        ArtifactContent::Attachment { run: _, seq, part } => {
            let part = Value::Integer((*part).into());
            [text(ATTACHMENT), Value::Null, integer(*seq), integer(*seq), part]
        }
    }
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn optional_text(value: Option<impl ToString>) -> Value {
    value.map_or(Value::Null, |value| Value::Text(value.to_string()))
}

/// Sizes and numbers of events are far below the limit.
fn integer(number: u64) -> Value {
    Value::Integer(i64::try_from(number).unwrap_or(i64::MAX))
}

/// Why a row could not be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ArtifactRowError {
    #[error(transparent)]
    Sql(#[from] rusqlite::Error),
    #[error("{0}")]
    Damaged(String),
}

impl From<FromSqlError> for ArtifactRowError {
    fn from(error: FromSqlError) -> Self {
        Self::Damaged(error.to_string())
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is used as the argument of map_err")]
fn damaged(error: impl ToString) -> ArtifactRowError {
    ArtifactRowError::Damaged(error.to_string())
}

/// The version of a row with [`ARTIFACT_COLUMNS`] and its checksum.
pub(crate) fn decode_artifact_row(row: &Row<'_>) -> Result<ArtifactVersionRow, ArtifactRowError> {
    let covered =
        (0..ARTIFACT_COLUMNS_COUNT).map(|column| row.get_ref(column)).collect::<Result<Vec<_>, _>>()?;
    let crc = covered_checksum(row)?;
    if crc != checksum_of_row_values(covered.iter().copied()) {
        return Err(damaged("its checksum is wrong"));
    }
    let text = |column: usize| covered[column].as_str().map_err(ArtifactRowError::from);
    let optional = |column: usize| covered[column].as_str_or_null().map_err(ArtifactRowError::from);
    let number = |column: usize| -> Result<u64, ArtifactRowError> {
        u64::try_from(covered[column].as_i64()?).map_err(damaged)
    };
    let run = optional(12)?.map(str::parse::<RunId>).transpose().map_err(damaged)?;
    let sha256 = optional(10)?.map(str::parse).transpose().map_err(damaged)?;
    let content = match (text(17)?, run, sha256) {
        (BLOB, _, Some(hash)) => ArtifactContent::Blob(hash),
        (YIELDED, Some(run), _) => {
            let artifact = text(18)?.parse().map_err(damaged)?;
            ArtifactContent::Yielded { run, artifact, first: number(19)?, last: number(20)? }
        }
        (ATTACHMENT, Some(run), _) => {
            let part = u32::try_from(number(21)?).map_err(damaged)?;
            ArtifactContent::Attachment { run, seq: number(19)?, part }
        }
        (other, ..) => return Err(damaged(format!("{other:?} is not a kind of content"))),
    };
    Ok(ArtifactVersionRow {
        owner: Caller::new(text(1)?, text(2)?),
        scope: decode_scope(text(3)?, text(5)?)?,
        filename: ArtifactFilename::new(text(6)?).map_err(damaged)?,
        version: u32::try_from(number(7)?).map_err(damaged)?,
        media_type: text(8)?.to_owned(),
        size_bytes: number(9)?,
        sha256,
        created_at: Timestamp::from_millis(covered[11].as_i64()?),
        run,
        session: optional(13)?.map(str::parse).transpose().map_err(damaged)?,
        tags: json::parse_json_text(text(14)?).map_err(damaged)?,
        metadata: json::parse_json_text(text(15)?).map_err(damaged)?,
        content,
        cursor: ArtifactCursor(number(0)?),
    })
}

fn covered_checksum(row: &Row<'_>) -> Result<u32, ArtifactRowError> {
    u32::try_from(row.get_ref(ARTIFACT_COLUMNS_COUNT)?.as_i64()?).map_err(damaged)
}

fn decode_scope(kind: &str, id: &str) -> Result<ArtifactScope, ArtifactRowError> {
    Ok(match kind {
        "run" => ArtifactScope::Run(id.parse().map_err(damaged)?),
        "session" => ArtifactScope::Session(id.parse().map_err(damaged)?),
        "user" => ArtifactScope::User,
        "tenant" => ArtifactScope::Tenant,
        other => return Err(damaged(format!("{other:?} is not a scope"))),
    })
}
