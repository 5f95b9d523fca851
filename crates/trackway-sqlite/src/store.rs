//! The store in a folder, as a server opens it.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use trackway_ports::{Faults, Journal, LeaseTerm, OpenStore, OpenStoreError, PortFuture, Store};

use crate::{OpenError, Options, SqliteJournal};

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

    fn error(&self, source: OpenError) -> OpenStoreError {
        let location = self.folder.display().to_string();
        OpenStoreError { location, source: Box::new(source) }
    }
}

impl OpenStore for SqliteStore {
    fn open(&self, faults: Arc<dyn Faults>) -> PortFuture<'_, Result<Store, OpenStoreError>> {
        let options = Options { faults, ..Options::default() };
        let opened = SqliteJournal::open_with(&self.folder, options);
        let store = opened.map_err(|source| self.error(source)).map(|journal| Store {
            blobs: Arc::new(journal.blobs()),
            journal: Arc::new(journal),
            lease: LeaseTerm::Sole,
            wakeups: None,
        });
        Box::pin(std::future::ready(store))
    }

    fn open_read_only(&self) -> PortFuture<'_, Result<Arc<dyn Journal>, OpenStoreError>> {
        let opened = SqliteJournal::open_read_only(&self.folder);
        let journal = opened.map(|journal| Arc::new(journal) as Arc<dyn Journal>);
        Box::pin(std::future::ready(journal.map_err(|source| self.error(source))))
    }
}
