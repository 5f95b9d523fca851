//! The tasks that a message refers to, where the protocol has no field for them.
//!
//! JSON-RPC of 0.3 has `referenceTaskIds`. The protobuf messages of 0.3, which its gRPC and HTTP+JSON speak,
//! have not: there they stand among the metadata, under the same name.

use std::borrow::Cow;

use serde_json::Value;
use trackway_domain::{Message, Object};

const REFERENCES: &str = "referenceTaskIds";

/// The metadata of a message, with the tasks that it refers to.
pub(crate) fn with_references(message: &Message) -> Cow<'_, Object> {
    if message.references.is_empty() {
        return Cow::Borrowed(&message.metadata);
    }
    let mut metadata = message.metadata.clone();
    metadata.insert(REFERENCES.to_owned(), message.references.as_slice().into());
    Cow::Owned(metadata)
}

/// Takes the tasks that a message refers to out of its metadata. Anything but a list of ids is the client's
/// own, and stays.
pub(crate) fn take_references(metadata: &mut Object) -> Vec<String> {
    let Some(Value::Array(items)) = metadata.get(REFERENCES) else { return Vec::new() };
    let ids = items.iter().map(|item| item.as_str().map(str::to_owned));
    let Some(ids) = ids.collect::<Option<Vec<String>>>() else { return Vec::new() };
    metadata.remove(REFERENCES);
    ids
}
