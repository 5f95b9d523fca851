//! Blobs in memory.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use sha2::{Digest as _, Sha256};
use trackway_ports::{BlobHash, Blobs, ReadError, ReadFuture};

/// Blobs in memory; clones share them.
#[derive(Debug, Clone, Default)]
pub struct MemoryBlobs {
    blobs: Arc<Mutex<HashMap<BlobHash, Vec<u8>>>>,
}

impl MemoryBlobs {
    pub fn new() -> Self {
        Self::default()
    }

    pub(super) fn insert(&self, hash: BlobHash, bytes: Vec<u8>) {
        self.blobs.lock().unwrap_or_else(PoisonError::into_inner).insert(hash, bytes);
    }

    pub(super) fn remove(&self, hash: BlobHash) {
        self.blobs.lock().unwrap_or_else(PoisonError::into_inner).remove(&hash);
    }
}

impl Blobs for MemoryBlobs {
    fn store_blob(&self, bytes: Vec<u8>) -> ReadFuture<'_, BlobHash> {
        Box::pin(async move {
            let hash = BlobHash(Sha256::digest(&bytes).into());
            self.insert(hash, bytes);
            Ok(hash)
        })
    }

    fn load_blob(&self, hash: BlobHash) -> ReadFuture<'_, Vec<u8>> {
        Box::pin(async move {
            let blobs = self.blobs.lock().unwrap_or_else(PoisonError::into_inner);
            blobs.get(&hash).cloned().ok_or_else(|| ReadError::DamagedBlob {
                hash: hash.to_string(),
                reason: "it is gone".to_owned(),
            })
        })
    }
}
