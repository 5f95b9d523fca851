//! `trackway keys`: the keys of a data folder, with or without a server that holds it.

pub(super) mod create;
pub(super) mod list;
pub(super) mod revoke;
pub(super) mod rotate;

use serde_json::{Value, json};
use trackway::StoredKey;

/// A key as JSON. Its hash is nobody's business, though it lets nobody in.
fn shown(stored: &StoredKey) -> Value {
    let (key, caller) = (&stored.key, stored.key.caller());
    json!({
        "id": key.id(),
        "tenant": caller.tenant,
        "user": caller.user,
        "scopes": key.scopes(),
        "createdAt": stored.created_at,
    })
}
