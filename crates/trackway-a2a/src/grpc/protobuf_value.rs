//! JSON, bytes and timestamps in protobuf.

use base64::{
    Engine as _,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use prost_types::{ListValue, Struct, value::Kind};
use serde_json::{Number, Value};
use trackway_domain::{Object, Position, Timestamp};

use crate::wire::trackway_metadata::TrackwayMetadata;

/// Above this a float does not identify a single integer.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

/// The key for the position of a stream item.
const POSITION: &str = "position";

/// Why a value is not valid JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum NotJsonError {
    #[error("a number is infinite or not a number")]
    Number,
    #[error("a value has no kind")]
    NoKind,
}

/// The depth was limited when the value was read.
pub(super) fn decode_protobuf_value(value: prost_types::Value) -> Result<Value, NotJsonError> {
    Ok(match value.kind.ok_or(NotJsonError::NoKind)? {
        Kind::NullValue(_) => Value::Null,
        Kind::BoolValue(truth) => Value::Bool(truth),
        Kind::NumberValue(number) => Value::Number(self::decode_json_number(number)?),
        Kind::StringValue(text) => Value::String(text),
        Kind::ListValue(list) => {
            Value::Array(list.values.into_iter().map(decode_protobuf_value).collect::<Result<_, _>>()?)
        }
        Kind::StructValue(fields) => Value::Object(decode_protobuf_struct(fields)?),
    })
}

pub(super) fn decode_protobuf_struct(fields: Struct) -> Result<Object, NotJsonError> {
    fields.fields.into_iter().map(|(name, value)| Ok((name, decode_protobuf_value(value)?))).collect()
}

/// Protobuf has only floats. An integral float becomes an integer, so that schemas see the value that
/// the client sent.
fn decode_json_number(number: f64) -> Result<Number, NotJsonError> {
    if number.fract() == 0.0 && number.abs() <= EXACT_MAX {
        return Ok(Number::from(number as i64));
    }
    Number::from_f64(number).ok_or(NotJsonError::Number)
}

pub(super) fn encode_protobuf_value(json: &Value) -> prost_types::Value {
    let kind = match json {
        Value::Null => Kind::NullValue(0),
        Value::Bool(truth) => Kind::BoolValue(*truth),
        Value::Number(number) => Kind::NumberValue(number.as_f64().unwrap_or_default()),
        Value::String(text) => Kind::StringValue(text.clone()),
        Value::Array(items) => {
            Kind::ListValue(ListValue { values: items.iter().map(encode_protobuf_value).collect() })
        }
        Value::Object(fields) => Kind::StructValue(encode_protobuf_struct(fields)),
    };
    prost_types::Value { kind: Some(kind) }
}

pub(super) fn encode_protobuf_struct(fields: &Object) -> Struct {
    let fields = fields.iter().map(|(name, json)| (name.clone(), encode_protobuf_value(json)));
    Struct { fields: fields.collect() }
}

/// Protobuf does not distinguish an empty text from an absent one.
pub(super) fn non_empty_text(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}

/// Metadata; absent if it is empty.
pub(super) fn encode_metadata(fields: &Object) -> Option<Struct> {
    (!fields.is_empty()).then(|| encode_protobuf_struct(fields))
}

/// Trackway's own fields, in addition to those of the protocol.
pub(super) fn encode_trackway_metadata(metadata: &TrackwayMetadata<'_>) -> Option<Struct> {
    if metadata.is_empty() {
        return None;
    }
    let fields = serde_json::to_value(metadata).expect("our types hold no map with keys other than strings");
    fields.as_object().map(encode_protobuf_struct)
}

/// The metadata with the position after which a stream continues.
pub(super) fn with_stream_position(metadata: Option<Struct>, pos: Position) -> Option<Struct> {
    let mut metadata = metadata.unwrap_or_default();
    metadata.fields.insert(POSITION.to_owned(), encode_protobuf_value(&pos.into()));
    Some(metadata)
}

/// The bytes of a base64 text, with or without padding. Clients send only base64. If a workflow wrote
/// other text, it is sent unchanged rather than dropped.
pub(super) fn decode_base64(base64: &str) -> Vec<u8> {
    const LENIENT: GeneralPurposeConfig =
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    let engine = GeneralPurpose::new(&base64::alphabet::STANDARD, LENIENT);
    engine.decode(base64).unwrap_or_else(|_| base64.as_bytes().to_vec())
}

pub(super) fn encode_timestamp(at: Timestamp) -> prost_types::Timestamp {
    let millis = at.millis();
    // Below a thousand, so it fits.
    let nanos = i32::try_from(millis.rem_euclid(1_000)).unwrap_or_default() * 1_000_000;
    prost_types::Timestamp { seconds: millis.div_euclid(1_000), nanos }
}

/// Time below a millisecond is cut off. `None` for an invalid timestamp.
pub(super) fn decode_timestamp(moment: prost_types::Timestamp) -> Option<Timestamp> {
    let millis = moment.seconds.checked_mul(1_000)?;
    let fraction = i64::from(moment.nanos).div_euclid(1_000_000);
    Some(Timestamp::from_millis(millis.checked_add(fraction)?))
}

#[cfg(test)]
mod tests;
