//! Checksums prove that a row is undamaged and that it is the requested row. A checksum also covers the
//! key of a row, so a damaged key that leads to another row is noticed.

use crc32fast::Hasher;
use rusqlite::{
    Connection,
    functions::{Context, FunctionFlags},
    types::ValueRef,
};

/// What the checksum of an event covers in addition to its content.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EventChecksumKey<'a> {
    pub(crate) run: &'a str,
    pub(crate) seq: i64,
    pub(crate) pos: i64,
    pub(crate) at: i64,
    pub(crate) format: u32,
}

impl EventChecksumKey<'_> {
    /// The checksum of an event whose content has the checksum `content`. The content is the body, or
    /// the name of the blob that holds it.
    pub(crate) fn event_checksum_with_content(self, content: u32) -> u32 {
        let Self { run, seq, pos, at, format } = self;
        let mut hasher = Hasher::new_with_initial(content);
        hasher.update(format!(" {run} {seq} {pos} {at} {format}").as_bytes());
        hasher.finalize()
    }
}

/// The columns of `runs` that the checksum covers, in this order. In a query the checksum itself
/// follows them.
pub(crate) const RUN_COLUMNS: &str = "id, session, tenant, user, workflow, version, parent, state, \
                                      runnable, parked, created_at, status_at, head";

/// The number of these columns.
pub(crate) const RUN_COLUMNS_COUNT: usize = 13;

/// The SQL function that computes [`checksum_of_row_values`] for the columns of a run.
const RUN_CRC: &str = "run_crc";

/// Adds `run_crc(columns…)` to the connection.
pub(crate) fn register_run_checksum_function(conn: &Connection) -> rusqlite::Result<()> {
    let columns = i32::try_from(RUN_COLUMNS_COUNT).unwrap_or(-1);
    let flags =
        FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_DIRECTONLY;
    conn.create_scalar_function(RUN_CRC, columns, flags, |context: &Context<'_>| {
        Ok(checksum_of_row_values((0..context.len()).map(|column| context.get_raw(column))))
    })
}

/// SQL for the checksum of a row of `runs` after a change of some columns, each with its new value. The
/// change does not repair a row that was damaged before.
pub(crate) fn updated_run_checksum_sql(changes: &[(&str, &str)]) -> String {
    let after: Vec<&str> = RUN_COLUMNS
        .split(", ")
        .map(|column| {
            let change = changes.iter().find(|(changed, _)| *changed == column.trim());
            change.map_or(column, |(_, value)| value)
        })
        .collect();
    format!("CASE WHEN crc = {RUN_CRC}({RUN_COLUMNS}) THEN {RUN_CRC}({}) ELSE crc END", after.join(", "))
}

/// SQL for the checksum of a new row, whose values are the statement's parameters in order.
pub(crate) fn new_run_checksum_sql() -> String {
    let parameters: Vec<String> = (1..=RUN_COLUMNS_COUNT).map(|it| format!("?{it}")).collect();
    format!("{RUN_CRC}({})", parameters.join(", "))
}

/// The checksum of a row's values. It includes the type and size of each, so that different rows never
/// give the same bytes.
pub(crate) fn checksum_of_row_values<'a>(values: impl Iterator<Item = ValueRef<'a>>) -> u32 {
    let mut hasher = Hasher::new();
    for value in values {
        let (kind, number, text) = match value {
            ValueRef::Null => (b'n', [0; 8], &[][..]),
            ValueRef::Integer(number) => (b'i', number.to_be_bytes(), &[][..]),
            ValueRef::Real(number) => (b'r', number.to_be_bytes(), &[][..]),
            ValueRef::Text(text) => (b't', (text.len() as u64).to_be_bytes(), text),
            ValueRef::Blob(bytes) => (b'b', (bytes.len() as u64).to_be_bytes(), bytes),
        };
        hasher.update(&[kind]);
        hasher.update(&number);
        hasher.update(text);
    }
    hasher.finalize()
}
