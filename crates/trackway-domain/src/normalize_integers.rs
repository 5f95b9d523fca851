//! Integral numbers become integers, whatever form the client sent.

use serde_json::{Number, Value};

/// The first integer above `u64`, as a float: 2^64.
const U64_END: f64 = 18_446_744_073_709_551_616.0;

/// The lowest `i64` as a float: -2^63.
const I64_MIN: f64 = -9_223_372_036_854_775_808.0;

/// Converts every number in `value` that is integral and fits into 64 bits to an integer: `40.0` and
/// `4e1` become `40`. Clients whose numbers are all floats (JavaScript, Protobuf's `Struct`) send
/// such numbers. Callers use it where a value becomes an input, an answer or arguments. The recorded
/// message stays unchanged.
pub fn normalize_integers(value: &mut Value) {
    // No recursion: the value may come directly from a client.
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::Number(number) => {
                if let Some(integer) = integer_from_float(number) {
                    *number = integer;
                }
            }
            Value::Array(items) => open.extend(items),
            Value::Object(entries) => open.extend(entries.values_mut()),
            Value::Null | Value::Bool(_) | Value::String(_) => {}
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the value is integral and in range"
)]
fn integer_from_float(number: &Number) -> Option<Number> {
    let float = number.is_f64().then(|| number.as_f64())??;
    if float.fract() != 0.0 {
        None
    } else if (0.0..U64_END).contains(&float) {
        Some(Number::from(float as u64))
    } else if (I64_MIN..0.0).contains(&float) {
        Some(Number::from(float as i64))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Proves L14: the same number is the same value in every notation.
    #[test]
    fn integral_numbers_become_integers_and_others_stay() {
        for (text, normal) in [
            ("40.0", json!(40)),
            ("4e1", json!(40)),
            ("40", json!(40)),
            ("-0.0", json!(0)),
            ("-2.0", json!(-2)),
            ("2.5", json!(2.5)),
            ("1e300", json!(1e300)),
            ("9007199254740993", json!(9_007_199_254_740_993_u64)),
            ("18446744073709551615", json!(u64::MAX)),
            ("1e19", json!(10_000_000_000_000_000_000_u64)),
            // 2^64 and numbers below -2^63 do not fit into a 64-bit integer.
            ("18446744073709551616", json!(18_446_744_073_709_551_616.0)),
            ("-9223372036854775808.0", json!(i64::MIN)),
            ("-1e19", json!(-1e19)),
            (r#"{"a": [1.0, {"b": 2e0}], "c": "3.0"}"#, json!({"a": [1, {"b": 2}], "c": "3.0"})),
        ] {
            let mut value: Value = serde_json::from_str(text).unwrap();
            normalize_integers(&mut value);
            assert_eq!(value, normal, "{text}");
            assert_eq!(value.to_string(), normal.to_string(), "{text}");
        }
    }
}
