//! Remembers the fields that a server rejects, so that the next request omits them.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::Value;

use crate::provider::ModelError;

/// Optional fields of a format, and which of them the server rejects. Clones share it.
#[derive(Debug, Clone)]
pub(super) struct UnsupportedBodyFields {
    dispensable: &'static [&'static str],
    /// Locked only to read or to add.
    known: Arc<Mutex<BTreeSet<&'static str>>>,
}

impl UnsupportedBodyFields {
    pub(super) fn new(dispensable: &'static [&'static str]) -> Self {
        Self { dispensable, known: Arc::default() }
    }

    /// Removes the rejected fields from a body.
    pub(super) fn remove_unsupported_fields(&self, body: &mut Value) {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(fields) = body.as_object_mut() {
            fields.retain(|name, _| !known.contains(name.as_str()));
        }
    }

    /// Whether the refusal names an optional field of the body. That field is omitted from now on.
    pub(super) fn learn_field_from_refusal(&self, error: &ModelError, body: &Value) -> bool {
        let ModelError::Refused { status: 400 | 422, reason } = error else {
            return false;
        };
        let mut named = self.dispensable.iter();
        let found = named.find(|name| body.get(**name).is_some() && reason.contains(**name));
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        // Another request may have recorded it in the meantime, but this body still contained it.
        known.extend(found);
        found.is_some()
    }
}
