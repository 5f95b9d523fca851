//! Checks whether a value that a model wants to send as an answer comes from the user's message. Pure.
//!
//! Every text and number of the value must appear in the user's message, as a word or a sequence of
//! words. A boolean cannot be found that way, so it counts only if the message contains it as data.

use serde_json::Value;
use trackway_domain::Part;

/// Whether everything in the value appears in these parts of the user's message.
pub(super) fn is_value_in_user_message(value: &Value, parts: &[Part]) -> bool {
    let texts = parts.iter().filter_map(Part::as_text).map(str::to_lowercase).collect::<Vec<_>>();
    let data: Vec<&Value> = parts.iter().filter_map(Part::as_data).collect();
    let mut leaves = Vec::new();
    collect_leaf_values(value, &mut leaves);
    let said = |leaf: &&Value| {
        let given = data.iter().any(|given| contains_leaf_value(given, leaf));
        given
            || leaf_search_text(leaf)
                .is_some_and(|words| texts.iter().any(|text| contains_whole_words(text, &words)))
    };
    !leaves.is_empty() && leaves.iter().all(said)
}

/// The leaf values. An absent value contributes nothing.
fn collect_leaf_values<'a>(value: &'a Value, leaves: &mut Vec<&'a Value>) {
    match value {
        Value::Null => {}
        Value::Array(items) => items.iter().for_each(|item| collect_leaf_values(item, leaves)),
        Value::Object(members) => members.values().for_each(|member| collect_leaf_values(member, leaves)),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => leaves.push(value),
    }
}

fn contains_leaf_value(value: &Value, leaf: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(|item| contains_leaf_value(item, leaf)),
        Value::Object(members) => members.values().any(|member| contains_leaf_value(member, leaf)),
        value => value == leaf,
    }
}

/// A value as a person writes it; none if there is no single way to write it.
fn leaf_search_text(leaf: &Value) -> Option<String> {
    match leaf {
        Value::String(text) => Some(text.trim().to_lowercase()).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Whether the words appear in the text, with no letter or digit directly before or after them.
fn contains_whole_words(text: &str, words: &str) -> bool {
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

    fn is_quoted_from_text(value: &Value, text: &str) -> bool {
        is_value_in_user_message(value, &[Part::text(text)])
    }

    /// Texts and numbers of the message, in any context.
    #[test]
    fn texts_and_numbers_of_the_message_are_quoted() {
        let wallet = json!({ "walletAddress": "0xABC", "amount": 40, "note": null });
        assert!(is_quoted_from_text(&wallet, "Take 40 from 0xabc, please."));
        assert!(!is_quoted_from_text(&wallet, "Take 400 from 0xabc, please."), "another number");
        assert!(is_quoted_from_text(&json!({ "to": ["Ada Lovelace"] }), "It is for Ada Lovelace."));
        assert!(!is_quoted_from_text(&json!("0xEVIL"), "What is the weather?"));
        assert!(!is_quoted_from_text(&json!("eat"), "What a great day"), "a part of a word is no word");
    }

    /// Agreement is never inferred from text: it must be data, or the user is asked.
    #[test]
    fn boolean_counts_only_as_data() {
        let yes = json!({ "approved": true });
        assert!(!is_quoted_from_text(&yes, "true, that is fine"));
        assert!(is_value_in_user_message(&yes, &[Part::data(json!({ "approved": true, "by": "me" }))]));
        assert!(!is_value_in_user_message(&yes, &[Part::data(json!({ "approved": false }))]));
    }

    /// An empty value does not come from the user's message.
    #[test]
    fn empty_value_is_not_quoted() {
        for nothing in [json!(null), json!({}), json!([]), json!("")] {
            assert!(!is_quoted_from_text(&nothing, "Anything."));
        }
    }
}
