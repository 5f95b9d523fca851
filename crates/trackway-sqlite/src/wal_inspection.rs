//! Inspects the write-ahead log after SQLite has read it back, to find commits after its readable end.
//!
//! SQLite reads the log up to the first incomplete frame. After a crash that is the commit that was being
//! written. If a later frame ends a commit of the same log, a frame before it was damaged, and the
//! commits from there on are lost.

use std::{
    fs::File,
    io::{self, Read as _, Seek as _, SeekFrom},
    path::Path,
};

const HEADER_BYTES: u64 = 32;
const FRAME_HEADER_BYTES: u64 = 24;

/// Commits after the `whole` frames that were read back.
pub(crate) fn count_lost_commits(wal: &Path, readable_frames: u64) -> io::Result<u64> {
    let mut file = match File::open(wal) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(error),
    };
    let mut header = [0; HEADER_BYTES as usize];
    if file.metadata()?.len() < HEADER_BYTES {
        return Ok(0);
    }
    file.read_exact(&mut header)?;
    let page = u64::from(u32::from_be_bytes([header[8], header[9], header[10], header[11]]));
    let frames = (file.metadata()?.len() - HEADER_BYTES) / (FRAME_HEADER_BYTES + page);
    let mut lost = 0;
    for frame in readable_frames..frames {
        file.seek(SeekFrom::Start(HEADER_BYTES + frame * (FRAME_HEADER_BYTES + page)))?;
        let mut found = [0; FRAME_HEADER_BYTES as usize];
        file.read_exact(&mut found)?;
        // Frames of an earlier log in the same file have other numbers here.
        let is_of_this_log = found[8..16] == header[16..24];
        let is_commit = found[4..8] != [0; 4];
        lost += u64::from(is_of_this_log && is_commit);
    }
    Ok(lost)
}

#[cfg(test)]
mod tests {
    use std::{fs, time::Duration};

    use rusqlite::Connection;

    use super::*;
    use crate::database::DatabaseFolder;

    fn readable_wal_frames(conn: &Connection) -> u64 {
        let frames = conn.query_row("PRAGMA wal_checkpoint(NOOP)", [], |row| row.get::<_, i64>(1));
        frames.unwrap().unsigned_abs()
    }

    /// Proves X2: damage that loses commits is detected, and the normal result of a crash is not reported
    /// as damage.
    #[test]
    fn commits_behind_damage_are_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let database = DatabaseFolder::create_database_folder(folder.path(), Duration::from_secs(1)).unwrap();
        let conn = database.open_writer_connection().unwrap();
        for number in 0..30 {
            let value = (format!("name {number}"), "x".repeat(1_000));
            conn.execute("INSERT INTO meta (name, value) VALUES (?1, ?2)", value).unwrap();
        }
        let whole = readable_wal_frames(&conn);
        let log = fs::read(folder.path().join("trackway.db-wal")).unwrap();
        let looked_at = |change: &dyn Fn(&mut Vec<u8>)| {
            let copy = tempfile::tempdir().unwrap();
            let file = |name: &str| (folder.path().join(name), copy.path().join(name));
            let (from, to) = file("trackway.db");
            fs::copy(from, to).unwrap();
            let mut log = log.clone();
            change(&mut log);
            let (_, to) = file("trackway.db-wal");
            fs::write(&to, log).unwrap();
            let database =
                DatabaseFolder::create_database_folder(copy.path(), Duration::from_secs(1)).unwrap();
            // Kept open: the last connection to close moves the log into the database.
            let conn = database.open_writer_connection().unwrap();
            let read_back = readable_wal_frames(&conn);
            (read_back, count_lost_commits(&to, read_back).unwrap())
        };
        assert_eq!(looked_at(&|_| {}), (whole, 0));
        let (read_back, lost) = looked_at(&|log| {
            let middle = log.len() / 2;
            log[middle] ^= 1;
        });
        assert!(read_back < whole && lost > 0, "{read_back} of {whole}, {lost}");
        // A commit that was being written has no commit frame.
        let cut = looked_at(&|log| log.truncate(log.len() - 100));
        assert_eq!(cut.1, 0);
    }
}
