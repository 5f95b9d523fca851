//! Tests of expressions: values in and out, errors, and limits.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::test_support::{any_json_strategy, expect_object};

fn sample() -> Object {
    expect_object(json!({
        "count": 3, "name": "Größe", "ratio": 1.5, "big": 18_446_744_073_709_551_615_u64,
        "small": i64::MIN, "done": false, "nothing": null, "list": [1, 2, 3],
        "task": {"kind": "bug", "owner": {"name": "Ada"}}, "odd-name": 1,
        "names": {"z": 1, "a": 2, "k": 3, "b": 4, "y": 5}, "rows": [{"id": 1}, {"id": 2, "ok": true}],
    }))
}

#[test]
fn values_go_in_and_come_out_as_they_are() {
    for (source, value) in [
        ("count + 1", json!(4)),
        ("count > 2 ? 'many' : 'few'", json!("many")),
        ("name + '!'", json!("Größe!")),
        ("name.size()", json!(5)),
        ("ratio * 2.0", json!(3.0)),
        ("big", json!(18_446_744_073_709_551_615_u64)),
        ("small", json!(i64::MIN)),
        ("nothing == null", json!(true)),
        ("count == 3.0", json!(true)),
        ("list[1]", json!(2)),
        ("list + [4]", json!([1, 2, 3, 4])),
        ("task.owner", json!({"name": "Ada"})),
        ("task['kind']", json!("bug")),
        ("{'a': list, 'b': {'c': null}}", json!({"a": [1, 2, 3], "b": {"c": null}})),
        ("{1: true}", json!({"1": true})),
        ("context.count", json!(3)),
        ("context['odd-name']", json!(1)),
        ("has(task.kind) && !has(task.size) && !has(context.unset)", json!(true)),
        ("rows.filter(r, has(r.ok)).map(r, r.id)", json!([2])),
        ("rows.all(count, count.id > 0)", json!(true)),
        ("unset == 1 || true", json!(true)),
        ("count in [1, 3]", json!(true)),
        ("name.matches('^G.*e$')", json!(true)),
    ] {
        assert_eq!(evaluate_expression(source, &sample()), Ok(value), "{source}");
    }
}

/// Iteration over an object follows the order of its names, every time: replays agree with the run.
#[test]
fn walking_over_an_object_has_one_order() {
    for _ in 0..20 {
        let keys = evaluate_expression("names.map(k, k)", &sample());
        assert_eq!(keys, Ok(json!(["a", "b", "k", "y", "z"])));
    }
    assert_eq!(evaluate_expression("{'b': 1, 'a': 2}.filter(k, true)", &sample()), Ok(json!(["a", "b"])));
}

/// Proves T7: what is not set is named, with its pointer and a value that works.
#[test]
fn a_name_that_is_not_set_is_named() {
    for (source, pointer, example) in [
        ("unset", "/context/unset", json!("…")),
        ("unset == 'large'", "/context/unset", json!("large")),
        ("'large' == unset", "/context/unset", json!("large")),
        ("unset > 5", "/context/unset", json!(5)),
        ("unset + 1", "/context/unset", json!(1)),
        ("!unset", "/context/unset", json!(true)),
        ("unset && count > 1", "/context/unset", json!(true)),
        ("size(unset)", "/context/unset", json!(["…"])),
        ("unset.exists(x, x == 1)", "/context/unset", json!([1])),
        ("unset in ['a', 'b']", "/context/unset", json!("a")),
        ("'a' in unset", "/context/unset", json!(["a"])),
        ("unset.startsWith('a')", "/context/unset", json!("…")),
        ("unset.a == 1 && unset.b.c", "/context/unset", json!({"a": 1, "b": {"c": true}})),
        ("task.size == 2", "/context/task/size", json!(2)),
        ("task['size'] == 2", "/context/task/size", json!(2)),
        ("task.review.score > 3", "/context/task/review", json!({"score": 3})),
        ("context.unset == 'x'", "/context/unset", json!("x")),
        ("context['odd/name'] == 'x'", "/context/odd~1name", json!("x")),
        ("list.map(x, x + unset)", "/context/unset", json!(1)),
        ("has(unset.a)", "/context/unset", json!({})),
        ("list[7]", "/context/list/7", json!("…")),
        ("rows.map(r, r.ok)", "/context/rows/0/ok", json!("…")),
    ] {
        let lack = evaluate_expression(source, &sample()).unwrap_err();
        let need = lack.input_needs().remove(0);
        assert_eq!((lack.block_code(), need.pointer.as_str()), ("context-missing", pointer), "{source}");
        assert_eq!(need.example, Some(example), "{source}");
    }
}

#[test]
fn expression_error_names_the_reason() {
    for (source, part, pointer) in [
        ("name + 1", "string", "/context/name"),
        ("count / 0", "zero", "/context/count"),
        ("small - 1", "too large", "/context/small"),
        ("nosuch(count)", "no function `nosuch`", "/context/count"),
        ("count +", "is no CEL expression", "/context"),
        ("", "is no CEL expression", "/context"),
        ("b'x'", "JSON does not have", "/context"),
        ("0.0 / 0.0", "no number in JSON", "/context"),
        ("name && count > 0", "", "/context"),
        ("count.kind", "", "/context"),
    ] {
        let lack = evaluate_expression(source, &sample()).unwrap_err();
        let need = lack.input_needs().remove(0);
        assert_eq!(lack.block_code(), "context-invalid", "{source}: {need:?}");
        assert!(need.message.contains(part), "{source}: {}", need.message);
        assert!(need.pointer.starts_with(pointer), "{source}: {}", need.pointer);
    }
    assert_eq!(find_expression_error("a == b.c"), None);
    assert_eq!(expression_name_path("a.b['c']").as_deref(), Some("a.b.c"));
    assert_eq!(expression_name_path("a + b"), None);
}

/// An error has its position, and speaks about the expression.
#[test]
fn parse_error_names_the_column() {
    for (source, said) in [
        ("a ==", "found the end where a value is expected, at column 5"),
        ("a == * 2", "unexpected token, at column 6"),
        ("a b", "found 'b' where the end is expected, at column 3"),
        ("(a", "expected ')', at column 3"),
        ("a == 'x", "unterminated string literal, at column 6"),
        ("a ==\n  b c", "found 'c' where the end is expected, at line 2, column 5"),
        ("a = 1", "found '=' where the end is expected, at column 3"),
        ("for > 1", "reserved identifier: for, at column 1"),
        ("", "found the end where a value is expected, at column 1"),
    ] {
        let fault = find_expression_error(source).map(|flaw| flaw.reason).unwrap_or_default();
        assert_eq!(fault, format!("`{source}` is no CEL expression: {said}"));
    }
}

/// No expression crashes the process or blocks it for long, on a thread with a usual stack.
#[test]
fn an_expression_is_bounded() {
    let many = expect_object(json!({"l": vec![1; 2000], "s": "x".repeat(1000)}));
    let deep =
        |open: &str, close: &str, times: usize| format!("{}1{}", open.repeat(times), close.repeat(times));
    for source in [
        "l.all(a, l.all(b, l.all(c, a + b + c > 0)))".to_owned(),
        format!("[s]{}", ".map(t, t + t)".repeat(60)),
        format!("[l]{}", ".map(t, t + t + t)".repeat(22)),
        "l.map(a, s + s).map(a, a + s)".to_owned(),
    ] {
        assert!(evaluate_expression(&source, &many).is_err(), "{source}");
    }
    // Refused or not, they end.
    for source in [
        "1+".repeat(5000),
        deep("(", ")", 2000),
        deep("[", "]", 2000),
        deep("{1:", "}", 1000),
        deep("!(", ")", 1000),
        deep("-(", ")", 1000),
        deep("f(", ")", 1000),
        deep("true?1:(", ")", 400),
        format!("1{}", "+1".repeat(2000)),
        format!("s{}", ".a".repeat(2000)),
        format!("s{}", "[0]".repeat(1300)),
        format!("1{}", " in l".repeat(800)),
        format!("1{}", "==1".repeat(1300)),
        format!("[s]{}", ".map(t,t)".repeat(400)),
        format!("{}true", "!".repeat(4000)),
        format!("{}1", "-".repeat(4000)),
        "l.map(a, ".repeat(300),
        format!("{}a{}", "l.map(a, ".repeat(90), ")".repeat(90)),
    ] {
        let _ = evaluate_expression(&source, &many);
    }
    for (open, close) in [("(", ")"), ("[", "]"), ("{1:", "}"), ("size([", "])"), ("!(1==", ")")] {
        let _ = evaluate_expression(&deep(open, close, 23 / open.matches(['(', '[', '{']).count()), &many);
    }
    let _ = evaluate_expression(&format!("{}a{}", "l.map(a, ".repeat(22), ")".repeat(22)), &many);
    let _ = evaluate_expression(&format!("{}true", "true?1:".repeat(24)), &many);
    for (first, link) in
        [("1", "+1"), ("s", ".a"), ("l", "[0]"), ("1", " in l"), ("1", "==1"), ("[s]", ".map(t, t)")]
    {
        let _ = evaluate_expression(&format!("{first}{}", link.repeat(22)), &many);
        let _ = evaluate_expression(&format!("{first}{}", link.repeat(62)), &many);
    }
    let nested = format!("{}1{}", "(".repeat(22), format!("{})", "+1".repeat(62)).repeat(22));
    let _ = evaluate_expression(&nested, &many);
    let brackets = "(".repeat(40);
    for source in [
        format!("'{brackets}' == name"),
        format!("r'\\' + '{brackets}' == name"),
        format!("'''{brackets}''\\'(''' == name"),
    ] {
        let context = expect_object(json!({ "name": "x" }));
        assert_eq!(evaluate_expression(&source, &context), Ok(json!(false)), "{source}");
    }
    assert_eq!(
        evaluate_expression("l.filter(a, l.exists(b, b == a)).size()", &many).unwrap_err().block_code(),
        "context-invalid"
    );
    assert_eq!(evaluate_expression("l.map(a, a + 1).filter(a, a > 1).size()", &many), Ok(json!(2000)));
    assert!(evaluate_expression(&format!("1{}", "+1".repeat(20)), &many).is_ok());
    // Chains of `&&` and `||` are balanced by the parser.
    assert!(evaluate_expression(&format!("true{}", " && true".repeat(200)), &many).is_ok());
}

proptest! {
    /// Any text is evaluated or refused; it never crashes.
    #[test]
    fn any_text_is_an_expression_or_refused(source in "([a-z0-9.+*/%()\\[\\]{}'\"!<>=&|?:, \\\\-]|count|list|rows|true|has\\(|\\.map\\(x, |é|🙂){0,30}") {
        let _ = evaluate_expression(&source, &sample());
    }

    #[test]
    fn any_text_at_all(source in "\\PC{0,30}") {
        let _ = evaluate_expression(&source, &sample());
    }

    /// A value that goes in and is not changed comes out the same.
    #[test]
    fn values_survive(value in any_json_strategy(any_number(), "\\PC{0,8}", "\\PC{0,4}")) {
        let context = expect_object(json!({ "value": value }));
        prop_assert_eq!(evaluate_expression("value", &context), Ok(value));
    }
}

fn any_number() -> impl Strategy<Value = Value> {
    let finite = any::<f64>().prop_filter("JSON has only finite ones", |float| float.is_finite());
    prop_oneof![
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        finite.prop_map(Value::from),
    ]
}
