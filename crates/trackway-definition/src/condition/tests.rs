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

fn test(name: &str, test: Comparison, value: Value) -> Condition {
    Condition::Rule(ConditionRule::Test { name: name.to_owned(), test, value })
}

/// Proves T3: rules mean the same as in existing files.
#[test]
fn rules_read_values_leniently() {
    for (name, how, value, expected) in [
        ("size", Comparison::Equals, json!("large"), true),
        ("size", Comparison::NotEquals, json!("LARGE"), false),
        ("count", Comparison::Equals, json!("3"), true),
        ("three", Comparison::Equals, json!(3), true),
        ("three", Comparison::Equals, json!(3.0), true),
        ("whole", Comparison::Equals, json!(3), true),
        ("yes", Comparison::Equals, json!(true), true),
        ("yes", Comparison::Equals, json!(false), false),
        ("done", Comparison::Equals, json!("no"), true),
        ("ready", Comparison::Equals, json!(1), false),
        ("big", Comparison::Equals, json!(9_007_199_254_740_992_i64), false),
        ("unset", Comparison::Equals, json!(null), true),
        ("unset", Comparison::Equals, json!("x"), false),
        ("unset", Comparison::NotEquals, json!("x"), true),
        ("unset", Comparison::Equals, json!(false), false),
        ("null", Comparison::Equals, json!(null), true),
        ("count", Comparison::Greater, json!(2), true),
        ("count", Comparison::Greater, json!(3), false),
        ("count", Comparison::GreaterOrEqual, json!(3), true),
        ("ratio", Comparison::Less, json!(1), true),
        ("count", Comparison::LessOrEqual, json!(2.5), false),
        ("three", Comparison::Greater, json!(2), false),
        ("unset", Comparison::Less, json!(5), false),
        ("unset", Comparison::Greater, json!(-5), false),
        ("size", Comparison::Contains, json!("ARG"), true),
        ("list", Comparison::Contains, json!("beta"), true),
        ("list", Comparison::Contains, json!(3), true),
        ("list", Comparison::Contains, json!("gamma"), false),
        ("unset", Comparison::Contains, json!("x"), false),
        ("size", Comparison::StartsWith, json!("la"), true),
        ("size", Comparison::EndsWith, json!("GE"), true),
        ("size", Comparison::Matches, json!("^l.*e$"), true),
        ("size", Comparison::Matches, json!("^x"), false),
        ("whole", Comparison::Matches, json!("^3$"), true),
        ("size", Comparison::In, json!(["small", "large"]), true),
        ("unset", Comparison::In, json!(["small", null]), true),
        ("size", Comparison::In, json!("large"), false),
        ("task.kind", Comparison::Equals, json!("bug"), true),
        ("task.nothing", Comparison::Equals, json!("bug"), false),
        ("task", Comparison::Exists, json!(true), true),
        ("unset", Comparison::Exists, json!(true), false),
        ("unset", Comparison::Exists, json!(false), true),
        ("null", Comparison::Exists, json!(true), false),
    ] {
        let said = format!("{name} {how:?} {value}");
        assert_eq!(condition_holds(&test(name, how, value), &sample()), Ok(expected), "{said}");
    }
}

#[test]
fn rule_with_only_a_name_tests_truthiness() {
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
        let rule = Condition::Rule(ConditionRule::Truthy { name: name.to_owned() });
        assert_eq!(condition_holds(&rule, &sample()), Ok(expected), "{name}");
    }
}

#[test]
fn rules_join() {
    let yes = || ConditionRule::Truthy { name: "ready".to_owned() };
    let no = || ConditionRule::Truthy { name: "unset".to_owned() };
    for (rule, expected) in [
        (ConditionRule::And(vec![yes(), yes()]), true),
        (ConditionRule::And(vec![yes(), no()]), false),
        (ConditionRule::And(vec![]), true),
        (ConditionRule::Or(vec![no(), yes()]), true),
        (ConditionRule::Or(vec![]), false),
        (ConditionRule::Not(Box::new(no())), true),
        (ConditionRule::Not(Box::new(ConditionRule::Or(vec![no(), no()]))), true),
    ] {
        assert_eq!(condition_holds(&Condition::Rule(rule), &sample()), Ok(expected));
    }
    assert_eq!(condition_holds(&Condition::Always, &sample()), Ok(true));
}

#[test]
fn unusable_pattern_is_an_error() {
    for pattern in ["(", "[z-a]", "(a{1000}){1000}{1000}"] {
        assert!(condition_pattern_error(pattern).is_some());
        let rule = test("size", Comparison::Matches, json!(pattern));
        assert!(matches!(condition_holds(&rule, &sample()), Err(ContextError::Invalid { .. })), "{pattern}");
    }
    assert_eq!(condition_pattern_error("^(a+)+$"), None);
}

#[test]
fn condition_expression_gives_a_boolean_or_an_error() {
    for (source, expected) in [
        ("count > 2 && size == 'Large '", true),
        ("has(context.unset)", false),
        ("has(context.size) && has(task.kind)", true),
        ("context.task.kind == 'bug'", true),
        ("'Beta' in list", true),
        ("list.exists(item, item == 3)", true),
    ] {
        assert_eq!(condition_holds(&Condition::Cel(source.to_owned()), &sample()), Ok(expected), "{source}");
    }
    let lack = condition_holds(&Condition::Cel("unset == 'a'".to_owned()), &sample()).unwrap_err();
    assert_eq!(lack.input_needs()[0].pointer, "/context/unset");
    let lack = condition_holds(&Condition::Cel("size".to_owned()), &sample()).unwrap_err();
    assert_eq!(
        (lack.block_code(), lack.input_needs()[0].pointer.as_str()),
        ("context-invalid", "/context/size")
    );
    assert_eq!(lack.input_needs()[0].example, Some(json!(true)));
}

/// Values are data, whatever they look like: a field report describes one that became code.
#[test]
fn a_value_never_becomes_part_of_an_expression() {
    for value in ["x' or 'a", "x' || true || 'a", "a\" || \"a\" == \"a", "')", "\\'", "true"] {
        let context = json!({ "name": value }).as_object().cloned().unwrap();
        let asked = Condition::Cel("name == 'admin'".to_owned());
        assert_eq!(condition_holds(&asked, &context), Ok(false), "{value}");
        assert_eq!(condition_holds(&test("name", Comparison::Equals, json!("admin")), &context), Ok(false));
    }
}

proptest! {
    /// For every value a rule has an answer, and its opposite has the opposite answer.
    #[test]
    fn rules_always_answer(value in any_value(), wanted in any_value()) {
        let context = json!({ "a": value }).as_object().cloned().unwrap();
        let equals = condition_holds(&test("a", Comparison::Equals, wanted.clone()), &context);
        let differs = condition_holds(&test("a", Comparison::NotEquals, wanted.clone()), &context);
        prop_assert_eq!(equals.map(|equals| !equals), differs);
        for how in [Comparison::Greater, Comparison::Contains, Comparison::In, Comparison::EndsWith, Comparison::Exists] {
            prop_assert!(condition_holds(&test("a", how, wanted.clone()), &context).is_ok());
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
