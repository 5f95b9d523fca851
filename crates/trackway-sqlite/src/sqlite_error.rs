//! What an error of SQLite means for the caller: try again, or damage.

use rusqlite::ErrorCode;
use trackway_ports::ReadError;

/// The same operation may succeed later: the data in the database is not the cause.
pub(crate) fn is_retryable_sqlite_error(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(
            ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked
                | ErrorCode::CannotOpen
                | ErrorCode::DiskFull
                | ErrorCode::FileLockingProtocolFailed
                | ErrorCode::OperationInterrupted
                | ErrorCode::OutOfMemory
                | ErrorCode::SystemIoFailure
        )
    )
}

/// Whether a transaction whose commit failed with this error is certainly not in the log.
///
/// SQLite writes a transaction to the write-ahead log frame by frame, with the commit frame last, and
/// then syncs. A full disk makes a write fail: the last frame is incomplete, and the next transaction
/// overwrites it. A lock error occurs before any write. After any other failure, especially of a sync,
/// the result is unknown.
pub(crate) fn is_certainly_uncommitted(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DiskFull))
}

#[expect(clippy::needless_pass_by_value, reason = "it is used as the argument of map_err")]
pub(crate) fn to_read_error(error: rusqlite::Error) -> ReadError {
    let reason = error.to_string();
    match is_retryable_sqlite_error(&error) {
        true => ReadError::Unavailable { reason },
        false => ReadError::Broken { reason },
    }
}
