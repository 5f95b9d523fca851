//! Checks whether a value that a model wants to send as an answer comes from the user's message. Pure.
//!
//! Every text and number of the value must appear in the user's message, as a word or a sequence of
//! words. A boolean cannot be found that way, so it counts only if the message contains it as data.

use serde_json::Value;
use trackway_domain::Part;

/// Whether everything in the value appears in these parts of the user's message.
pub(super) fn is_said(value: &Value, parts: &[Part]) -> bool {
    let texts = parts.iter().filter_map(Part::as_text).map(str::to_lowercase).collect::<Vec<_>>();
    let data: Vec<&Value> = parts.iter().filter_map(Part::as_data).collect();
    let mut leaves = Vec::new();
    gather(value, &mut leaves);
    let said = |leaf: &&Value| {
        let given = data.iter().any(|given| holds(given, leaf));
        given || words(leaf).is_some_and(|words| texts.iter().any(|text| has(text, &words)))
    };
    !leaves.is_empty() && leaves.iter().all(said)
}

/// The leaf values. An absent value contributes nothing.
fn gather<'a>(value: &'a Value, leaves: &mut Vec<&'a Value>) {
    match value {
        Value::Null => {}
        Value::Array(items) => items.iter().for_each(|item| gather(item, leaves)),
        Value::Object(members) => members.values().for_each(|member| gather(member, leaves)),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => leaves.push(value),
    }
}

fn holds(given: &Value, leaf: &Value) -> bool {
    match given {
        Value::Array(items) => items.iter().any(|item| holds(item, leaf)),
        Value::Object(members) => members.values().any(|member| holds(member, leaf)),
        given => given == leaf,
    }
}

/// A value as a person writes it; none if there is no single way to write it.
fn words(leaf: &Value) -> Option<String> {
    match leaf {
        Value::String(text) => Some(text.trim().to_lowercase()).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Whether the words appear in the text, with no letter or digit directly before or after them.
fn has(text: &str, words: &str) -> bool {
    text.match_indices(words).any(|(start, found)| {
        let before = text[..start].chars().next_back();
        let after = text[start + found.len()..].chars().next();
        let is_part = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
        !is_part(before) && !is_part(after)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn said(value: &Value, text: &str) -> bool {
        is_said(value, &[Part::text(text)])
    }

    /// Texts and numbers of the message, in any context.
    #[test]
    fn words_of_the_message_are_said() {
        let wallet = json!({ "walletAddress": "0xABC", "amount": 40, "note": null });
        assert!(said(&wallet, "Take 40 from 0xabc, please."));
        assert!(!said(&wallet, "Take 400 from 0xabc, please."), "another number");
        assert!(said(&json!({ "to": ["Ada Lovelace"] }), "It is for Ada Lovelace."));
        assert!(!said(&json!("0xEVIL"), "What is the weather?"));
        assert!(!said(&json!("eat"), "What a great day"), "a part of a word is no word");
    }

    /// Agreement is never inferred from text: it must be data, or the user is asked.
    #[test]
    fn a_yes_is_said_as_data_alone() {
        let yes = json!({ "approved": true });
        assert!(!said(&yes, "true, that is fine"));
        assert!(is_said(&yes, &[Part::data(json!({ "approved": true, "by": "me" }))]));
        assert!(!is_said(&yes, &[Part::data(json!({ "approved": false }))]));
    }

    /// An empty value does not come from the user's message.
    #[test]
    fn nothing_is_not_said() {
        for nothing in [json!(null), json!({}), json!([]), json!("")] {
            assert!(!said(&nothing, "Anything."));
        }
    }
}
