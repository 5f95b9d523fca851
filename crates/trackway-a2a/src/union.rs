//! One card for both generations: each finds its own members, and the shared members are the same.

use serde_json::Value;

use crate::{
    card::Card,
    sign::Signer,
    wire::{v1, v03},
};

pub(crate) fn card(card: &Card<'_>, signer: Option<&Signer>) -> Value {
    // Only 1.0 has signatures, so only the 1.0 members of the card are signed.
    let mut union = signed(v1::card(card), signer);
    merge(&mut union, v03::card(card));
    union
}

/// A card of 1.0 with its signatures, if there is a key.
pub(crate) fn signed(mut card: Value, signer: Option<&Signer>) -> Value {
    if let Some(signatures) = signer.map(|signer| signer.sign(&card)) {
        card["signatures"] = Value::Array(signatures);
    }
    card
}

/// Adds missing members; existing ones stay.
fn merge(into: &mut Value, other: Value) {
    match (into, other) {
        (Value::Object(into), Value::Object(other)) => {
            for (name, value) in other {
                match into.get_mut(&name) {
                    Some(known) => merge(known, value),
                    None => {
                        into.insert(name, value);
                    }
                }
            }
        }
        (Value::Array(into), Value::Array(other)) if into.len() == other.len() => {
            into.iter_mut().zip(other).for_each(|(known, value)| merge(known, value));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;
