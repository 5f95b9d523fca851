//! Tests of the functions that expressions may call.

use super::super::{Context, ENVIRONMENT, compile_expression};
use super::*;

/// Every function of the list is one of the library, which has no other of its form.
#[test]
fn the_library_has_what_is_listed() {
    let there = |name: &str| Context::with_env(ENVIRONMENT.clone()).add_function(name, || true).is_err();
    for known in &FUNCTIONS {
        assert!(there(known.name), "{}", known.name);
    }
    assert!(!there("timestamp") && !there("nosuch"));
}

#[test]
fn unknown_functions_are_named() {
    for (source, part, meant) in [
        ("frobnicate(a)", "no function `frobnicate`", None),
        ("a.frobnicate(2) > 1", "no function `frobnicate`", None),
        ("timestamp(a) > b", "no function `timestamp`", None),
        ("b && (length(a) > 1 || a.startWith('x'))", "no function `length`", None),
        ("a.startWith('x')", "no function `startWith`", Some("startsWith")),
        ("l.exist(x, x > 1)", "no function `exist`", Some("exists")),
        ("[1].map(x, nosuch(x))", "no function `nosuch`", None),
        ("{'a': [nosuch(1)]}", "no function `nosuch`", None),
        ("l.map(x)", "`map` does not take", None),
        ("startsWith(a, 'x')", "written as `a.startsWith(b)`", None),
        ("size(a, b)", "written as `size(b)` or `a.size()`", None),
    ] {
        let flaw =
            compile_expression(source).ok().and_then(|expression| find_unknown_cel_function(&expression));
        let flaw = flaw.unwrap_or_else(|| panic!("{source} has a flaw"));
        assert!(flaw.reason.contains(part), "{source}: {}", flaw.reason);
        assert_eq!(flaw.suggestion.as_deref(), meant, "{source}");
    }
    for source in [
        "size(a) > 1 && a.size() > 1 && !has(a.b) && 'x' in a",
        "a.map(x, x.name).filter(n, n.startsWith('a')).exists_one(n, n == b ? true : false)",
        "optional.of(1).hasValue() && optional.of(a).orValue(1) == 1",
        "a.matches('x') && matches(a, 'x') && -int(a) + double(b) > 1.0",
    ] {
        let expression = compile_expression(source).unwrap_or_else(|fault| panic!("{fault}"));
        assert_eq!(find_unknown_cel_function(&expression), None, "{source}");
    }
}
