//! Tests of expressions.

use serde_json::json;

use super::*;

#[test]
fn works() {
    let context =
        json!({"a": {"b": 1}, "m": {"z": 1, "a": 2, "k": 3}}).as_object().cloned().unwrap();
    assert_eq!(evaluate("a.b + 1", &context), Ok(json!(2)));
    assert_eq!(evaluate("m.map(k, k)", &context), Ok(json!(["a", "k", "z"])));
}
