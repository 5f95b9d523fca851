//! JSON and timestamps in both directions.

use serde_json::json;

use super::*;

/// Proves X5.
#[test]
fn json_round_trips() {
    for known in [
        json!(null),
        json!(true),
        json!(0),
        json!(-42),
        json!(9_007_199_254_740_992_i64),
        json!(1.5),
        json!(1e300),
        json!("text"),
        json!([]),
        json!([1, "two", [3.25, null]]),
        json!({}),
        json!({"a": {"b": [{"c": 1}]}, "d": false}),
    ] {
        assert_eq!(decode_protobuf_value(encode_protobuf_value(&known)), Ok(known));
    }
}

/// Proves X5.
#[test]
fn values_that_are_not_json_are_refused() {
    for (kind, why) in [
        (Some(Kind::NumberValue(f64::NAN)), NotJsonError::Number),
        (Some(Kind::NumberValue(f64::INFINITY)), NotJsonError::Number),
        (Some(Kind::NumberValue(f64::NEG_INFINITY)), NotJsonError::Number),
        (None, NotJsonError::NoKind),
    ] {
        let wrong = prost_types::Value { kind };
        assert_eq!(decode_protobuf_value(wrong.clone()), Err(why));
        let fields = [("x".to_owned(), wrong)].into();
        assert_eq!(decode_protobuf_struct(Struct { fields }), Err(why));
    }
}

#[test]
fn timestamps_round_trip_to_the_millisecond() {
    for millis in [0, 1, 999, 1_000, 1_700_000_000_123, -1, -1_001] {
        let at = Timestamp::from_millis(millis);
        let written = encode_timestamp(at);
        assert!((0..1_000_000_000).contains(&written.nanos));
        assert_eq!(decode_timestamp(written), Some(at));
    }
    assert_eq!(decode_timestamp(prost_types::Timestamp { seconds: i64::MAX, nanos: 0 }), None);
}

#[test]
fn base64_is_read_with_its_padding_or_without() {
    assert_eq!(decode_base64("aGk="), b"hi");
    assert_eq!(decode_base64("aGk"), b"hi");
    assert_eq!(decode_base64(""), b"");
    assert_eq!(decode_base64("not base64!"), b"not base64!");
}

#[test]
fn position_is_added_to_metadata() {
    let told =
        with_stream_position(Some(encode_protobuf_struct(json!({"a": 1}).as_object().unwrap())), 7).unwrap();
    assert_eq!(decode_protobuf_struct(told).map(Value::Object), Ok(json!({"a": 1, "position": 7})));
    assert_eq!(
        decode_protobuf_struct(with_stream_position(None, 7).unwrap()).map(Value::Object),
        Ok(json!({"position": 7}))
    );
}
