//! The stored form of an event: a format number and JSON text, so that a log is readable with any tool.

use serde::Deserialize as _;
use trackway_domain::Event;

/// The format of new records. Every earlier format stays readable; the tests keep a log of each.
pub const FORMAT_LATEST: u32 = 1;

#[derive(Debug, thiserror::Error)]
pub enum DecodeEventError {
    #[error("record format {0} is newer than this program knows ({FORMAT_LATEST})")]
    UnknownFormat(u32),
    #[error("the record is not a known event")]
    Malformed(#[source] serde_json::Error),
}

/// The event in the newest format.
pub fn encode_event(event: &Event) -> String {
    serde_json::to_string(event).expect("events hold no map with keys other than strings")
}

pub fn decode_event(format: u32, body: &str) -> Result<Event, DecodeEventError> {
    match format {
        1 => decode_json_event(body).map_err(DecodeEventError::Malformed),
        newer => Err(DecodeEventError::UnknownFormat(newer)),
    }
}

/// No depth limit: a value that a front door accepted at its limit is a few levels deeper inside its
/// event, and must still be readable.
fn decode_json_event(body: &str) -> Result<Event, serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_str(body);
    reader.disable_recursion_limit();
    let event = Event::deserialize(&mut reader)?;
    reader.end()?;
    Ok(event)
}

#[cfg(test)]
mod tests;
