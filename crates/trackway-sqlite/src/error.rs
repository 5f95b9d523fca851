//! What an error of SQLite means to who meets it: try again, or damage.

use rusqlite::ErrorCode;
use trackway_ports::ReadError;

/// The same may succeed later: nothing is wrong with what the database holds.
pub(crate) fn is_transient(error: &rusqlite::Error) -> bool {
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

/// Whether a transaction whose commit failed so is certainly not in the log.
///
/// SQLite writes a transaction to the write-ahead log frame by frame, the one that commits it last, and
/// syncs after that. A full disk is met by a write: the last frame is not whole, and the next transaction
/// is written over what there is. A lock that is not given is met before. After any other failure, that
/// of a sync above all, nobody knows.
pub(crate) fn is_not_committed(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DiskFull))
}

#[expect(clippy::needless_pass_by_value, reason = "it is used as the argument of map_err")]
pub(crate) fn read_error(error: rusqlite::Error) -> ReadError {
    let reason = error.to_string();
    match is_transient(&error) {
        true => ReadError::Unavailable { reason },
        false => ReadError::Broken { reason },
    }
}
