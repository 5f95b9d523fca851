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
use trackway_ports::{ArtifactStore, AuditLog, Blobs, Journal, KeyStore, PortFuture};
use trackway_sqlite::{FolderBlobStore, FolderKeys, SqliteJournal};
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

    fn open_artifacts(&self) -> PortFuture<'_, Arc<dyn ArtifactStore>> {
        Box::pin(async { Arc::new(SqliteJournal::open(self.0.path()).unwrap()) as Arc<dyn ArtifactStore> })
    }

    fn open_blobs(&self) -> PortFuture<'_, Arc<dyn Blobs>> {
        let opened = FolderBlobStore::open_or_create_blob_folder(self.0.path());
        Box::pin(async { Arc::new(opened.unwrap()) as Arc<dyn Blobs> })
    }

    fn open_audit(&self) -> PortFuture<'_, Arc<dyn AuditLog>> {
        Box::pin(async { Arc::new(SqliteJournal::open(self.0.path()).unwrap()) as Arc<dyn AuditLog> })
    }
}

mod suite {
    use super::InFolder;

    trackway_testkit::journal_suite!(InFolder);
}
