//! The store in a folder, as a server opens it.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use trackway_ports::{FaultInjector, Journal, LeaseMode, OpenStoreError, PortFuture, Store, StoreOpener};

use crate::{FolderKeys, OpenDatabaseError, SqliteJournal, SqliteOptions};

/// The store in this folder. The lock on the folder ensures that one process at a time drives its
/// runs.
#[derive(Debug, Clone)]
pub struct SqliteStore {
    folder: PathBuf,
}

impl SqliteStore {
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    fn open_store_error(&self, source: OpenDatabaseError) -> OpenStoreError {
        let location = self.folder.display().to_string();
        OpenStoreError { location, source: Box::new(source) }
    }
}

impl StoreOpener for SqliteStore {
    fn open_store(&self, faults: Arc<dyn FaultInjector>) -> PortFuture<'_, Result<Store, OpenStoreError>> {
        let keys = Arc::new(FolderKeys::with_faults(&self.folder, faults.clone()));
        let options = SqliteOptions { faults, ..SqliteOptions::default() };
        let opened = SqliteJournal::open_with_options(&self.folder, options);
        let opened = opened.map(Arc::new).map_err(|source| self.open_store_error(source));
        let store = opened.map(|journal| Store {
            blobs: Arc::new(journal.blob_store()),
            artifacts: journal.clone(),
            audit: journal.clone(),
            journal,
            keys,
            lease: LeaseMode::Exclusive,
            wakeups: None,
        });
        Box::pin(std::future::ready(store))
    }

    fn open_journal_read_only(&self) -> PortFuture<'_, Result<Arc<dyn Journal>, OpenStoreError>> {
        let opened = SqliteJournal::open_read_only(&self.folder);
        let journal = opened.map(|journal| Arc::new(journal) as Arc<dyn Journal>);
        Box::pin(std::future::ready(journal.map_err(|source| self.open_store_error(source))))
    }
}
