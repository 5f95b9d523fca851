//! How rows show that they are whole, and that they are the ones that were asked for. A checksum covers
//! what a row is found by too: a key that leads to somebody else's row is noticed.

use crc32fast::Hasher;
use rusqlite::{
    Connection,
    functions::{Context, FunctionFlags},
    types::ValueRef,
};

/// What the checksum of an event covers beside its content.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EventPlace<'a> {
    pub(crate) run: &'a str,
    pub(crate) seq: i64,
    pub(crate) pos: i64,
    pub(crate) at: i64,
    pub(crate) format: u32,
}

impl EventPlace<'_> {
    /// The checksum of an event whose content has this one. The content is the body, or the name of the
    /// blob that holds it.
    pub(crate) fn seal(self, content: u32) -> u32 {
        let Self { run, seq, pos, at, format } = self;
        let mut hasher = Hasher::new_with_initial(content);
        hasher.update(format!(" {run} {seq} {pos} {at} {format}").as_bytes());
        hasher.finalize()
    }
}

/// The columns of `runs` that its checksum covers, in its order. The checksum itself follows them where
/// a row is read.
pub(crate) const RUN_COLUMNS: &str = "id, session, tenant, user, workflow, version, parent, state, \
                                      runnable, parked, created_at, status_at, head";

/// How many they are.
pub(crate) const RUN_COLUMNS_COUNT: usize = 13;

/// The name under which the writer's SQL has [`values`] of the columns of a run.
const RUN_CRC: &str = "run_crc";

/// Gives the connection `run_crc(columns…)`.
pub(crate) fn teach(conn: &Connection) -> rusqlite::Result<()> {
    let columns = i32::try_from(RUN_COLUMNS_COUNT).unwrap_or(-1);
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_DIRECTONLY;
    conn.create_scalar_function(RUN_CRC, columns, flags, |context: &Context<'_>| {
        Ok(values((0..context.len()).map(|column| context.get_raw(column))))
    })
}

/// SQL for the checksum of a row of `runs` after a change of some of its columns, each given with its
/// new value. One that was not whole before does not become so by the change.
pub(crate) fn run_crc_after(changes: &[(&str, &str)]) -> String {
    let after: Vec<&str> = RUN_COLUMNS
        .split(", ")
        .map(|column| {
            let change = changes.iter().find(|(changed, _)| *changed == column.trim());
            change.map_or(column, |(_, value)| value)
        })
        .collect();
    format!(
        "CASE WHEN crc = {RUN_CRC}({RUN_COLUMNS}) THEN {RUN_CRC}({}) ELSE crc END",
        after.join(", ")
    )
}

/// SQL for the checksum of a new row, whose values are the statement's parameters in order.
pub(crate) fn run_crc_new() -> String {
    let parameters: Vec<String> = (1..=RUN_COLUMNS_COUNT).map(|it| format!("?{it}")).collect();
    format!("{RUN_CRC}({})", parameters.join(", "))
}

/// The checksum of a row's values, each with its kind and size, so that no two rows are the same bytes.
pub(crate) fn values<'a>(values: impl Iterator<Item = ValueRef<'a>>) -> u32 {
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
