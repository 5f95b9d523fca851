//! What a server needs from a store: everything that outlives its process.

use std::{error::Error, fmt, sync::Arc};

use crate::{
    ArtifactStore, AuditLog, Blobs, FaultInjector, Journal, KeyStore, LeaseMode, PortFuture, Wakeups,
};

/// An open store.
#[derive(Debug, Clone)]
pub struct Store {
    pub journal: Arc<dyn Journal>,
    /// Content that is too large for an event.
    pub blobs: Arc<dyn Blobs>,
    /// The versions of artifacts.
    pub artifacts: Arc<dyn ArtifactStore>,
    /// API keys, and the keys that sign tokens and bundles.
    pub keys: Arc<dyn KeyStore>,
    /// What callers were refused.
    pub audit: Arc<dyn AuditLog>,
    /// How a process leases the store while it drives runs.
    pub lease: LeaseMode,
    /// `None` if no other process shares the store while this one drives its runs.
    pub wakeups: Option<Arc<dyn Wakeups>>,
}

/// Opens a store for a server.
pub trait StoreOpener: Send + Sync + fmt::Debug {
    fn open_store(&self, faults: Arc<dyn FaultInjector>) -> PortFuture<'_, Result<Store, OpenStoreError>>;

    /// Opens an existing store, even while a server is running. Every append fails.
    fn open_journal_read_only(&self) -> PortFuture<'_, Result<Arc<dyn Journal>, OpenStoreError>>;
}

/// Why a store could not be opened.
#[derive(Debug, thiserror::Error)]
#[error("the store in {location} cannot be opened")]
pub struct OpenStoreError {
    pub location: String,
    pub source: Box<dyn Error + Send + Sync>,
}
