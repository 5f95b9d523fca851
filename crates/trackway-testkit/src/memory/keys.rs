//! Keys in memory.

use std::{
    collections::HashMap,
    fmt,
    future::ready,
    sync::{Arc, Mutex},
};

use sha2::{Digest as _, Sha256};
use trackway_ports::{KeyDocument, KeyDocumentName, KeyFuture, KeyRevision, KeyStore, KeyStoreError};

use crate::interceptors::lock_ignoring_poison;

/// Keys in memory; clones share them.
#[derive(Clone, Default)]
pub struct MemoryKeys {
    documents: Arc<Mutex<HashMap<KeyDocumentName, Vec<u8>>>>,
}

impl fmt::Debug for MemoryKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MemoryKeys")
    }
}

impl KeyStore for MemoryKeys {
    fn load(&self, name: KeyDocumentName) -> KeyFuture<'_, Option<KeyDocument>> {
        let bytes = lock_ignoring_poison(&self.documents).get(&name).cloned();
        let document = bytes.map(|bytes| KeyDocument { revision: revision_of(&bytes), bytes });
        Box::pin(ready(Ok(document)))
    }

    fn revision(&self, name: KeyDocumentName) -> KeyFuture<'_, Option<KeyRevision>> {
        let revision = lock_ignoring_poison(&self.documents).get(&name).map(|bytes| revision_of(bytes));
        Box::pin(ready(Ok(revision)))
    }

    fn replace(
        &self,
        name: KeyDocumentName,
        expected: Option<KeyRevision>,
        bytes: Vec<u8>,
    ) -> KeyFuture<'_, KeyRevision> {
        Box::pin(async move {
            if bytes.len() > name.bytes_max() {
                return Err(KeyStoreError::TooLarge);
            }
            let mut documents = lock_ignoring_poison(&self.documents);
            if documents.get(&name).map(|bytes| revision_of(bytes)) != expected {
                return Err(KeyStoreError::Conflict);
            }
            let revision = revision_of(&bytes);
            documents.insert(name, bytes);
            Ok(revision)
        })
    }

    fn location(&self, name: KeyDocumentName) -> String {
        format!("memory ({})", name.as_str())
    }
}

fn revision_of(bytes: &[u8]) -> KeyRevision {
    KeyRevision(Sha256::digest(bytes).into())
}
