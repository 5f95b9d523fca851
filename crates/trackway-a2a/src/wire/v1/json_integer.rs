//! Integers in the JSON form of protobuf: numbers, or numbers in quotes.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Unexpected, Visitor};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct JsonInteger(pub(crate) i64);

impl<'de> Deserialize<'de> for JsonInteger {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct IntegerVisitor;

        impl Visitor<'_> for IntegerVisitor {
            type Value = JsonInteger;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an integer")
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<JsonInteger, E> {
                Ok(JsonInteger(number))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<JsonInteger, E> {
                i64::try_from(number)
                    .map(JsonInteger)
                    .map_err(|_| E::invalid_value(Unexpected::Unsigned(number), &self))
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<JsonInteger, E> {
                // 1.0 is an integer in JSON; above 2^53 a float does not identify a single integer.
                let whole = number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_992.0;
                if whole {
                    Ok(JsonInteger(number as i64))
                } else {
                    Err(E::invalid_value(Unexpected::Float(number), &self))
                }
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<JsonInteger, E> {
                text.parse().map(JsonInteger).map_err(|_| E::invalid_value(Unexpected::Str(text), &self))
            }
        }

        deserializer.deserialize_any(IntegerVisitor)
    }
}
