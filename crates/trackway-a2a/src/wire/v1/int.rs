//! Integers in the JSON form of protobuf: numbers, or numbers in quotes.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Unexpected, Visitor};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Int(pub(crate) i64);

impl<'de> Deserialize<'de> for Int {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Number;

        impl Visitor<'_> for Number {
            type Value = Int;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an integer")
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Int, E> {
                Ok(Int(number))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Int, E> {
                i64::try_from(number)
                    .map(Int)
                    .map_err(|_| E::invalid_value(Unexpected::Unsigned(number), &self))
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<Int, E> {
                // 1.0 is an integer in JSON; above 2^53 a float does not identify a single integer.
                let whole = number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_992.0;
                if whole {
                    Ok(Int(number as i64))
                } else {
                    Err(E::invalid_value(Unexpected::Float(number), &self))
                }
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Int, E> {
                text.parse().map(Int).map_err(|_| E::invalid_value(Unexpected::Str(text), &self))
            }
        }

        deserializer.deserialize_any(Number)
    }
}
