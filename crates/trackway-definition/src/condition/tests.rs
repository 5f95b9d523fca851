//! Tests of conditions: rules as WorkRail reads them, and expressions.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn sample() -> Object {
    json!({
        "size": "Large ", "count": 3, "ratio": 0.5, "three": "3", "yes": "Yes", "done": false,
        "ready": true, "null": null, "empty": "", "list": ["Alpha", "Beta", 3], "none": [],
        "task": {"kind": "bug", "size": 2}, "big": 9_007_199_254_740_993_i64, "whole": 3.0,
    })
    .as_object()
    .cloned()
    .unwrap()
}

fn test(name: &str, test: Test, value: Value) -> Condition {
    Condition::Rule(Rule::Test { name: name.to_owned(), test, value })
}

/// Proves T3: rules mean what they mean in the files that exist.
#[test]
fn rules_read_values_leniently() {
    for (name, how, value, expected) in [
        ("size", Test::Equals, json!("large"), true),
        ("size", Test::NotEquals, json!("LARGE"), false),
        ("count", Test::Equals, json!("3"), true),
        ("three", Test::Equals, json!(3), true),
        ("three", Test::Equals, json!(3.0), true),
        ("whole", Test::Equals, json!(3), true),
        ("yes", Test::Equals, json!(true), true),
        ("yes", Test::Equals, json!(false), false),
        ("done", Test::Equals, json!("no"), true),
        ("ready", Test::Equals, json!(1), false),
        ("big", Test::Equals, json!(9_007_199_254_740_992_i64), false),
        ("unset", Test::Equals, json!(null), true),
        ("unset", Test::Equals, json!("x"), false),
        ("unset", Test::NotEquals, json!("x"), true),
        ("unset", Test::Equals, json!(false), false),
        ("null", Test::Equals, json!(null), true),
        ("count", Test::Greater, json!(2), true),
        ("count", Test::Greater, json!(3), false),
        ("count", Test::GreaterOrEqual, json!(3), true),
        ("ratio", Test::Less, json!(1), true),
        ("count", Test::LessOrEqual, json!(2.5), false),
        ("three", Test::Greater, json!(2), false),
        ("unset", Test::Less, json!(5), false),
        ("unset", Test::Greater, json!(-5), false),
        ("size", Test::Contains, json!("ARG"), true),
        ("list", Test::Contains, json!("beta"), true),
        ("list", Test::Contains, json!(3), true),
        ("list", Test::Contains, json!("gamma"), false),
        ("unset", Test::Contains, json!("x"), false),
        ("size", Test::StartsWith, json!("la"), true),
        ("size", Test::EndsWith, json!("GE"), true),
        ("size", Test::Matches, json!("^l.*e$"), true),
        ("size", Test::Matches, json!("^x"), false),
        ("whole", Test::Matches, json!("^3$"), true),
        ("size", Test::In, json!(["small", "large"]), true),
        ("unset", Test::In, json!(["small", null]), true),
        ("size", Test::In, json!("large"), false),
        ("task.kind", Test::Equals, json!("bug"), true),
        ("task.nothing", Test::Equals, json!("bug"), false),
        ("task", Test::Exists, json!(true), true),
        ("unset", Test::Exists, json!(true), false),
        ("unset", Test::Exists, json!(false), true),
        ("null", Test::Exists, json!(true), false),
    ] {
        let said = format!("{name} {how:?} {value}");
        assert_eq!(holds(&test(name, how, value), &sample()), Ok(expected), "{said}");
    }
}

#[test]
fn a_bare_name_asks_whether_there_is_something() {
    for (name, expected) in [
        ("ready", true),
        ("done", false),
        ("count", true),
        ("null", false),
        ("empty", false),
        ("none", true),
        ("task", true),
        ("unset", false),
    ] {
        let rule = Condition::Rule(Rule::Truthy { name: name.to_owned() });
        assert_eq!(holds(&rule, &sample()), Ok(expected), "{name}");
    }
}

#[test]
fn rules_join() {
    let yes = || Rule::Truthy { name: "ready".to_owned() };
    let no = || Rule::Truthy { name: "unset".to_owned() };
    for (rule, expected) in [
        (Rule::And(vec![yes(), yes()]), true),
        (Rule::And(vec![yes(), no()]), false),
        (Rule::And(vec![]), true),
        (Rule::Or(vec![no(), yes()]), true),
        (Rule::Or(vec![]), false),
        (Rule::Not(Box::new(no())), true),
        (Rule::Not(Box::new(Rule::Or(vec![no(), no()]))), true),
    ] {
        assert_eq!(holds(&Condition::Rule(rule), &sample()), Ok(expected));
    }
    assert_eq!(holds(&Condition::Always, &sample()), Ok(true));
}

#[test]
fn a_pattern_that_cannot_be_used_is_no_answer() {
    for pattern in ["(", "[z-a]", "(a{1000}){1000}{1000}"] {
        assert!(pattern_fault(pattern).is_some());
        let rule = test("size", Test::Matches, json!(pattern));
        assert!(matches!(holds(&rule, &sample()), Err(Lack::Wrong { .. })), "{pattern}");
    }
    assert_eq!(pattern_fault("^(a+)+$"), None);
}

#[test]
fn an_expression_is_true_or_false_or_lacks_something() {
    for (source, expected) in [
        ("count > 2 && size == 'Large '", true),
        ("has(context.unset)", false),
        ("has(context.size) && has(task.kind)", true),
        ("context.task.kind == 'bug'", true),
        ("'Beta' in list", true),
        ("list.exists(item, item == 3)", true),
    ] {
        assert_eq!(holds(&Condition::Cel(source.to_owned()), &sample()), Ok(expected), "{source}");
    }
    let lack = holds(&Condition::Cel("unset == 'a'".to_owned()), &sample()).unwrap_err();
    assert_eq!(lack.needs()[0].pointer, "/context/unset");
    let lack = holds(&Condition::Cel("size".to_owned()), &sample()).unwrap_err();
    assert_eq!(
        (lack.code(), lack.needs()[0].pointer.as_str()),
        ("context-invalid", "/context/size")
    );
    assert_eq!(lack.needs()[0].example, Some(json!(true)));
}

/// Values are data, whatever they look like: the field notes tell of one that became code.
#[test]
fn a_value_never_becomes_part_of_an_expression() {
    for value in ["x' or 'a", "x' || true || 'a", "a\" || \"a\" == \"a", "')", "\\'", "true"] {
        let context = json!({ "name": value }).as_object().cloned().unwrap();
        let asked = Condition::Cel("name == 'admin'".to_owned());
        assert_eq!(holds(&asked, &context), Ok(false), "{value}");
        assert_eq!(holds(&test("name", Test::Equals, json!("admin")), &context), Ok(false));
    }
}

proptest! {
    /// Whatever a value is, a rule has an answer, and its opposite the other one.
    #[test]
    fn rules_always_answer(value in any_value(), wanted in any_value()) {
        let context = json!({ "a": value }).as_object().cloned().unwrap();
        let equals = holds(&test("a", Test::Equals, wanted.clone()), &context);
        let differs = holds(&test("a", Test::NotEquals, wanted.clone()), &context);
        prop_assert_eq!(equals.map(|equals| !equals), differs);
        for how in [Test::Greater, Test::Contains, Test::In, Test::EndsWith, Test::Exists] {
            prop_assert!(holds(&test("a", how, wanted.clone()), &context).is_ok());
        }
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
        prop::collection::vec(".{0,3}", 0..3).prop_map(Value::from),
    ]
}
