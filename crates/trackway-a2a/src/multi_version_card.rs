//! One card for both generations: each finds its own members, and the shared members are the same.

use serde_json::Value;

use crate::{
    agent_card::AgentCard,
    card_signature::CardSigner,
    wire::{v1, v03},
};

pub(crate) fn render_multi_version_card(card: &AgentCard<'_>, signer: Option<&CardSigner>) -> Value {
    // Only 1.0 has signatures, so only the 1.0 members of the card are signed.
    let mut union = with_card_signatures(v1::render_card_json(card), signer);
    merge_missing_members(&mut union, v03::render_card_json(card));
    union
}

/// A card of 1.0 with its signatures, if there is a key.
pub(crate) fn with_card_signatures(mut card: Value, signer: Option<&CardSigner>) -> Value {
    if let Some(signatures) = signer.map(|signer| signer.sign_card(&card)) {
        card["signatures"] = Value::Array(signatures);
    }
    card
}

/// Adds missing members; existing ones stay.
fn merge_missing_members(into: &mut Value, other: Value) {
    match (into, other) {
        (Value::Object(into), Value::Object(other)) => {
            for (name, value) in other {
                match into.get_mut(&name) {
                    Some(known) => merge_missing_members(known, value),
                    None => {
                        into.insert(name, value);
                    }
                }
            }
        }
        (Value::Array(into), Value::Array(other)) if into.len() == other.len() => {
            into.iter_mut().zip(other).for_each(|(known, value)| merge_missing_members(known, value));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;
