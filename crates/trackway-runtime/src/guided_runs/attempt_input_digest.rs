//! The digest that recognises a repeated answer.

use serde_json::{Number, Value};
use sha2::{Digest, Sha256};
use trackway_domain::AttemptInputs;

use crate::run_submission::encode_hex;

/// SHA-256 of the inputs as canonical JSON (RFC 8785): the order of keys and the spelling of numbers do not
/// make a different answer.
///
/// Canonical JSON has only doubles, so two large integers could become the same number. Integers that a
/// double cannot hold are also hashed separately with their paths, so that no answer is lost.
pub(super) fn digest_attempt_inputs(inputs: &AttemptInputs) -> String {
    let mut hash = Sha256::new();
    // Neither can fail: inputs hold JSON values and text.
    hash.update(serde_json_canonicalizer::to_vec(inputs).unwrap_or_default());
    let mut exact = Vec::new();
    let value = serde_json::to_value(inputs).unwrap_or_default();
    collect_integers_inexact_in_double(&value, &mut String::new(), &mut exact);
    exact.sort_unstable();
    for place in exact {
        hash.update([0]);
        hash.update(place);
    }
    encode_hex(&hash.finalize())
}

fn collect_integers_inexact_in_double(value: &Value, path: &mut String, found: &mut Vec<String>) {
    match value {
        Value::Number(number) if !is_exact_in_double(number) => found.push(format!("{path}={number}")),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                with_json_path_segment(path, &index.to_string(), |path| {
                    collect_integers_inexact_in_double(item, path, found)
                });
            }
        }
        Value::Object(entries) => {
            for (key, entry) in entries {
                with_json_path_segment(path, key, |path| {
                    collect_integers_inexact_in_double(entry, path, found)
                });
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn with_json_path_segment(path: &mut String, name: &str, look: impl FnOnce(&mut String)) {
    let length = path.len();
    path.push('/');
    path.push_str(name);
    look(path);
    path.truncate(length);
}

fn is_exact_in_double(number: &Number) -> bool {
    /// Every integer up to here is exact as a double.
    const EXACT: u64 = 1 << 53;
    let magnitude = number.as_u64().or_else(|| number.as_i64().map(i64::unsigned_abs));
    magnitude.is_none_or(|magnitude| magnitude <= EXACT)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn digest_of_output_json(output: &str) -> String {
        let output = serde_json::from_str(output).expect("JSON");
        digest_attempt_inputs(&AttemptInputs { output: Some(output), ..AttemptInputs::default() })
    }

    /// Proves T4: the same content is the same answer, however it is written.
    #[test]
    fn same_content_has_the_same_digest() {
        assert_eq!(
            digest_of_output_json(r#"{"a":1,"b":[2]}"#),
            digest_of_output_json(r#"{ "b": [2.0], "a": 1e0 }"#)
        );
    }

    /// Proves T6: other content is another answer, even if a double cannot show the difference.
    #[test]
    fn different_content_has_a_different_digest() {
        assert_ne!(digest_of_output_json("1"), digest_of_output_json("2"));
        assert_ne!(digest_of_output_json(r#""1""#), digest_of_output_json("1"));
        assert_ne!(digest_of_output_json("9007199254740992"), digest_of_output_json("9007199254740993"));
        assert_ne!(digest_of_output_json("-9007199254740993"), digest_of_output_json("-9007199254740995"));
        assert_ne!(
            digest_of_output_json("[18446744073709551615, 1]"),
            digest_of_output_json("[18446744073709551614, 1]")
        );
        assert_ne!(
            digest_of_output_json(r#"{"a":9007199254740993,"b":9007199254740992}"#),
            digest_of_output_json(r#"{"a":9007199254740992,"b":9007199254740993}"#)
        );
    }

    #[test]
    fn every_input_changes_the_digest() {
        let base = AttemptInputs::default();
        let noted = AttemptInputs { notes: Some("a".into()), ..AttemptInputs::default() };
        let mut with_context = AttemptInputs::default();
        with_context.context.insert("a".into(), json!(1));
        let output = AttemptInputs { output: Some(json!(null)), ..AttemptInputs::default() };
        let digests = [&base, &noted, &with_context, &output].map(digest_attempt_inputs);
        for (index, one) in digests.iter().enumerate() {
            assert_eq!(one.len(), 64);
            assert!(!digests[..index].contains(one), "{index} equals an earlier one");
        }
    }
}
