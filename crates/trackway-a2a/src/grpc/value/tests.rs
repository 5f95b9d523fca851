//! JSON and timestamps in both directions.

use serde_json::json;

use super::*;

/// Proves X5.
#[test]
fn json_comes_back_as_it_was() {
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
        assert_eq!(json(value(&known)), Ok(known));
    }
}

/// Proves X5.
#[test]
fn what_json_cannot_say_is_refused() {
    for (kind, why) in [
        (Some(Kind::NumberValue(f64::NAN)), NotJson::Number),
        (Some(Kind::NumberValue(f64::INFINITY)), NotJson::Number),
        (Some(Kind::NumberValue(f64::NEG_INFINITY)), NotJson::Number),
        (None, NotJson::NoKind),
    ] {
        let wrong = prost_types::Value { kind };
        assert_eq!(json(wrong.clone()), Err(why));
        let fields = [("x".to_owned(), wrong)].into();
        assert_eq!(object(Struct { fields }), Err(why));
    }
}

#[test]
fn moments_come_back_to_the_millisecond() {
    for millis in [0, 1, 999, 1_000, 1_700_000_000_123, -1, -1_001] {
        let at = Timestamp::from_millis(millis);
        let written = moment(at);
        assert!((0..1_000_000_000).contains(&written.nanos));
        assert_eq!(timestamp(written), Some(at));
    }
    assert_eq!(timestamp(prost_types::Timestamp { seconds: i64::MAX, nanos: 0 }), None);
}

#[test]
fn base64_is_read_with_its_padding_or_without() {
    assert_eq!(bytes("aGk="), b"hi");
    assert_eq!(bytes("aGk"), b"hi");
    assert_eq!(bytes(""), b"");
    assert_eq!(bytes("not base64!"), b"not base64!");
}

#[test]
fn positions_stand_beside_what_is_told() {
    let told = positioned(Some(structure(json!({"a": 1}).as_object().unwrap())), 7).unwrap();
    assert_eq!(object(told).map(Value::Object), Ok(json!({"a": 1, "position": 7})));
    assert_eq!(object(positioned(None, 7).unwrap()).map(Value::Object), Ok(json!({"position": 7})));
}
