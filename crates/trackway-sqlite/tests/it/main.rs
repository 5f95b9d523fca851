//! The SQLite store from outside: the suite of all journals, and the failures of a store on disk.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests are tests too, though they lie outside of test functions"
)]

mod blobs;
mod breaking;
mod crash;
mod damage;
mod flips;
mod format;
mod guided;
mod helpers;
mod keys;
mod opening;
mod pages;
#[cfg(unix)]
mod private;
mod processes;
mod racing;
mod removal;

use std::sync::Arc;

use tempfile::TempDir;
use trackway_ports::{Journal, KeyStore, PortFuture};
use trackway_sqlite::{FolderKeys, SqliteJournal};
use trackway_testkit::journal_suite::StoreUnderTest;

/// A store in a folder that is deleted with it.
struct InFolder(TempDir);

impl StoreUnderTest for InFolder {
    fn create_empty() -> PortFuture<'static, Self> {
        Box::pin(async { Self(tempfile::tempdir().unwrap()) })
    }

    fn open_journal(&self) -> PortFuture<'_, Arc<dyn Journal>> {
        Box::pin(async { Arc::new(SqliteJournal::open(self.0.path()).unwrap()) as Arc<dyn Journal> })
    }

    fn open_keys(&self) -> PortFuture<'_, Arc<dyn KeyStore>> {
        Box::pin(async { Arc::new(FolderKeys::in_folder(self.0.path())) as Arc<dyn KeyStore> })
    }
}

mod suite {
    use super::InFolder;

    trackway_testkit::journal_suite!(InFolder);
}
