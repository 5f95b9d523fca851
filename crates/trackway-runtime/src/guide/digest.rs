//! What the same answer is recognised by.

use serde_json::{Number, Value};
use sha2::{Digest, Sha256};
use trackway_domain::Inputs;

use crate::submit::hex;

/// SHA-256 of the inputs as canonical JSON (RFC 8785): the order of keys and the spelling of numbers do
/// not make another answer.
///
/// Canonical JSON knows only doubles, and would take two large integers for one. Integers that a double
/// does not hold are hashed beside it with their places, so that no answer is swallowed.
pub(super) fn digest(inputs: &Inputs) -> String {
    let mut hash = Sha256::new();
    // Neither can fail: inputs hold JSON values and text.
    hash.update(serde_json_canonicalizer::to_vec(inputs).unwrap_or_default());
    let mut exact = Vec::new();
    let value = serde_json::to_value(inputs).unwrap_or_default();
    large_integers(&value, &mut String::new(), &mut exact);
    exact.sort_unstable();
    for place in exact {
        hash.update([0]);
        hash.update(place);
    }
    hex(&hash.finalize())
}

fn large_integers(value: &Value, path: &mut String, found: &mut Vec<String>) {
    match value {
        Value::Number(number) if !fits_a_double(number) => found.push(format!("{path}={number}")),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                below(path, &index.to_string(), |path| large_integers(item, path, found));
            }
        }
        Value::Object(entries) => {
            for (key, entry) in entries {
                below(path, key, |path| large_integers(entry, path, found));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn below(path: &mut String, name: &str, look: impl FnOnce(&mut String)) {
    let length = path.len();
    path.push('/');
    path.push_str(name);
    look(path);
    path.truncate(length);
}

fn fits_a_double(number: &Number) -> bool {
    /// Up to here every integer is a double.
    const EXACT: u64 = 1 << 53;
    let magnitude = number.as_u64().or_else(|| number.as_i64().map(i64::unsigned_abs));
    magnitude.is_none_or(|magnitude| magnitude <= EXACT)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(output: &str) -> String {
        let output = serde_json::from_str(output).expect("JSON");
        digest(&Inputs { output: Some(output), ..Inputs::default() })
    }

    /// Proves T4: the same content is the same answer however it is written.
    #[test]
    fn spelling_makes_no_other_answer() {
        assert_eq!(of(r#"{"a":1,"b":[2]}"#), of(r#"{ "b": [2.0], "a": 1e0 }"#));
    }

    /// Proves T6: other content is another answer, also where a double cannot tell.
    #[test]
    fn other_content_is_another_answer() {
        assert_ne!(of("1"), of("2"));
        assert_ne!(of(r#""1""#), of("1"));
        assert_ne!(of("9007199254740992"), of("9007199254740993"));
        assert_ne!(of("-9007199254740993"), of("-9007199254740995"));
        assert_ne!(of("[18446744073709551615, 1]"), of("[18446744073709551614, 1]"));
        assert_ne!(
            of(r#"{"a":9007199254740993,"b":9007199254740992}"#),
            of(r#"{"a":9007199254740992,"b":9007199254740993}"#)
        );
    }

    #[test]
    fn each_kind_of_input_counts() {
        let base = Inputs::default();
        let noted = Inputs { notes: Some("a".into()), ..Inputs::default() };
        let mut with_context = Inputs::default();
        with_context.context.insert("a".into(), json!(1));
        let output = Inputs { output: Some(json!(null)), ..Inputs::default() };
        let digests = [&base, &noted, &with_context, &output].map(digest);
        for (index, one) in digests.iter().enumerate() {
            assert_eq!(one.len(), 64);
            assert!(!digests[..index].contains(one), "{index} equals an earlier one");
        }
    }
}
