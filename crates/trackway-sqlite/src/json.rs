//! JSON in the rows next to the log: outbox items and the replies of claims.

use serde::{Serialize, de::DeserializeOwned};

pub(crate) fn to_json_text(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("rows hold no map with keys other than strings")
}

/// No depth limit: the text was written from a value of the same depth, and the frame around it
/// must not make it unreadable.
pub(crate) fn parse_json_text<T: DeserializeOwned>(text: &str) -> Result<T, serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_str(text);
    reader.disable_recursion_limit();
    let value = T::deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}
