//! What a server was found not to take, so that it is left out the next time.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::Value;

use crate::provider::ModelError;

/// Fields that a format can do without, and which of them the server refuses. Clones share it.
#[derive(Debug, Clone)]
pub(super) struct Unwelcome {
    dispensable: &'static [&'static str],
    /// Held only to look or to add.
    known: Arc<Mutex<BTreeSet<&'static str>>>,
}

impl Unwelcome {
    pub(super) fn new(dispensable: &'static [&'static str]) -> Self {
        Self { dispensable, known: Arc::default() }
    }

    /// Takes out of a body what is known.
    pub(super) fn leave_out(&self, body: &mut Value) {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(fields) = body.as_object_mut() {
            fields.retain(|name, _| !known.contains(name.as_str()));
        }
    }

    /// Whether the refusal names something of the body that can be left out, and from now on is.
    pub(super) fn learn(&self, error: &ModelError, body: &Value) -> bool {
        let ModelError::Refused { status: 400 | 422, reason } = error else {
            return false;
        };
        let mut named = self.dispensable.iter();
        let found = named.find(|name| body.get(**name).is_some() && reason.contains(**name));
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        // Another request may have learnt it in the meantime; this one had it in its body all the same.
        known.extend(found);
        found.is_some()
    }
}
