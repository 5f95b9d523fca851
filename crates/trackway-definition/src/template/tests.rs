//! Tests of templates: their output, and their errors for an unset name.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::context_error::ExpectedType;
use crate::test_support::expect_object;

fn sample() -> Object {
    expect_object(json!({
        "name": "Ada <b>&\"", "count": 3, "price": 2.345, "whole": 2.0, "done": false, "nothing": null,
        "big": 18_446_744_073_709_551_615_u64, "items": ["a", "b"], "empty": [],
        "ticket": {"title": "Größe", "tags": [1, {"x": null}]}, "brace": "{{ name }}",
        "rows": [{"id": 1}, {"id": 2}],
    }))
}

#[test]
fn values_are_shown_as_they_are_and_structures_as_json() {
    for (source, shown) in [
        ("plain } text {", "plain } text {"),
        ("{{ name }}", "Ada <b>&\""),
        ("{{ count }}/{{ count + 1 }}", "3/4"),
        ("{{ price|fixed(1) }} {{ count|fixed(2) }} {{ price|fixed }}", "2.3 3.00 2"),
        ("{{ whole }} {{ done }} {{ nothing }} {{ big }}", "2.0 false null 18446744073709551615"),
        ("{{ items }} {{ ticket.tags }}", r#"["a","b"] [1,{"x":null}]"#),
        ("{{ ticket }}", r#"{"tags":[1,{"x":null}],"title":"Größe"}"#),
        ("{{ items|length }} {{ items[0] }} {{ ticket['title'] }}", "2 a Größe"),
        ("{{ items|join(', ') }} {{ ticket.tags|join(';') }}", r#"a, b 1;{"x":null}"#),
        ("{{ rows|join(',', attribute='id') }}", "1,2"),
        ("{{ other|default('none') }} {{ other is defined }}", "none false"),
        ("{% if done %}yes{% else %}no{% endif %}", "no"),
        ("{% for i in items %}{{ loop.index0 }}{{ i }}{% endfor %}", "0a1b"),
        ("{% for i in empty %}x{% endfor %}.", "."),
        ("{% raw %}{{ name }}{% set x = 1 %}{% endraw %}", "{{ name }}{% set x = 1 %}"),
        ("{# {% set x %} #}{{ brace }}", "{{ name }}"),
        ("{{ name|upper|replace('ADA', 'x') }}", "x <B>&\""),
        ("{{ count }}\n", "3\n"),
    ] {
        assert_eq!(render_template(source, &sample()).as_deref(), Ok(shown), "{source}");
    }
}

/// Proves T7: the need names what is not set, its pointer, and a value that works.
#[test]
fn a_name_that_is_not_set_is_named() {
    for (source, name, example) in [
        ("{{ title }}", "title", json!("…")),
        ("Hello {{ user.name }}, {{ user.mail }}", "user", json!({"name": "…", "mail": "…"})),
        ("{{ ticket.id }}", "ticket.id", json!("…")),
        ("{{ ticket['id'] }}", "ticket.id", json!("…")),
        ("{{ ticket.owner.name }}", "ticket.owner", json!({"name": "…"})),
        ("{{ items[7] }}", "items.7", json!("…")),
        ("{{ missing|length }}", "missing", json!(["…"])),
        ("{{ missing|join(', ') }}", "missing", json!(["…"])),
        ("{{ missing|fixed(1) }}", "missing", json!(1)),
        ("{{ missing|tojson }}", "missing", json!("…")),
        ("{{ count + missing }}", "missing", json!(1)),
        ("{{ name ~ missing }}", "missing", json!("…")),
        ("{% for i in missing %}{{ i }}{% endfor %}", "missing", json!(["…"])),
        ("{% if missing %}x{% endif %}", "missing", json!("…")),
        ("{% for r in rows %}{{ r.name }}{% endfor %}", "rows.0.name", json!("…")),
    ] {
        match render_template(source, &sample()) {
            Err(lack @ ContextError::Missing { .. }) => {
                let ContextError::Missing { name: found, expected: like, .. } = &lack else { unreachable!() };
                assert_eq!(found, name, "{source}");
                if *like != ExpectedType::Anything {
                    assert_eq!(lack.input_needs()[0].example, Some(example), "{source}");
                }
            }
            other => panic!("{source}: {other:?}"),
        }
    }
}

#[test]
fn template_error_names_the_reason() {
    for (source, part) in [
        ("{{ name", "line 1"),
        ("{{ name|nosuch }}", "nosuch"),
        ("{% set x = 1 %}", "`{% set %}`"),
        ("{%- include 'a' %}", "`{% include %}`"),
        ("{% macro x() %}{% endmacro %}", "`{% macro %}`"),
        ("{{ range(10) }}", "range"),
        ("{{ name|fixed(1) }}", "number"),
        ("{{ price|fixed(99) }}", "digits"),
        ("{{ name + 1 }}", "line 1"),
    ] {
        match render_template(source, &sample()) {
            Err(ContextError::Invalid { reason, .. }) => {
                assert!(reason.contains(part), "{source}: {reason}")
            }
            other => panic!("{source}: {other:?}"),
        }
    }
    assert_eq!(find_template_error("{{ anything.at_all|default('x') }}"), None);
    assert!(find_template_error("{% if x %}").is_some());
}

/// A file with an unknown filter, test or function in a template is refused when it is read: no context could
/// fix it.
#[test]
fn names_that_are_not_there_are_found_without_a_context() {
    for (source, part, meant) in [
        ("{{ a | frobnicate }}", "no filter `frobnicate`", None),
        ("{{ a | lenght }}", "no filter `lenght`", Some("length")),
        ("{% if a is definde %}x{% endif %}", "no test `definde`", Some("defined")),
        ("{% if a %}{% else %}{{ b | uper }}{% endif %}", "no filter `uper`", Some("upper")),
        ("{% for i in a | frobnicate if i is odd %}{% endfor %}", "no filter `frobnicate`", None),
        ("{% for i in a if i is add %}{% endfor %}", "no test `add`", Some("odd")),
        ("{% for i in a %}{{ loop.cycel(1) }}{% endfor %}", "no function `cycel`", None),
        ("{{ a | map('frobnicate') | join }}", "no filter `frobnicate`", None),
        ("{{ a | select('frobnicate') | join }}", "no test `frobnicate`", None),
        ("{{ a | selectattr('x', 'frobnicate') | join }}", "no test `frobnicate`", None),
        ("{{ range(3) }}", "no function `range`", None),
        ("{{ a.upper() }}", "no function `upper`", Some("… | upper")),
        ("{{ [1, {'x': a[b | frobnicate]}] }}", "no filter `frobnicate`", None),
    ] {
        let flaw = find_template_error(source).unwrap_or_else(|| panic!("{source} has a flaw"));
        assert!(flaw.reason.contains(part), "{source}: {}", flaw.reason);
        assert_eq!(flaw.suggestion.as_deref(), meant, "{source}");
    }
    for source in [
        "{% for i in a recursive %}{{ loop.cycle('a', 'b') }}{{ loop(i) }}{% endfor %}",
        "{{ a | map(attribute='nope') | map('upper') | select('odd') | selectattr('x', 'eq', 1) }}",
        "{{ a[1:2] | tojson if b is not none else c }}",
    ] {
        assert_eq!(find_template_error(source), None, "{source}");
    }
}

/// A template can neither run forever nor fill the memory.
#[test]
fn a_template_is_bounded() {
    let many = expect_object(json!({ "list": vec![0; 400], "long": "x".repeat(100_000) }));
    for source in [
        "{% for a in list %}{% for b in list %}{% for c in list %}{{ c }}{% endfor %}{% endfor %}{% endfor %}".to_owned(),
        "{% for a in list %}{{ long }}{% endfor %}".to_owned(),
        "{{ 'x' * 1000000000000 }}".to_owned(),
        "{% for a in list recursive %}{{ loop(list) }}{% endfor %}".to_owned(),
        format!("{{{{ long{} }}}}", "|replace('x', 'xxxxxxxxxx')".repeat(20)),
        format!("{{{{ {}1{} }}}}", "(".repeat(5000), ")".repeat(5000)),
        format!("{{{{ {}x }}}}", "not ".repeat(5000)),
        format!("{{{{ x{} }}}}", ".y".repeat(50_000)),
        format!("{{{{ 1{} }}}}", "+1".repeat(100_000)),
        format!("{{{{ '}}}}' ~ x{} }}}}", ".y".repeat(50_000)),
        format!("{{{{ 1{} }}}}", "|upper".repeat(10_000)),
        format!("{{% if a %}}{}{{% endif %}}", "{% elif a %}".repeat(10_000)),
        "{% if a %}".repeat(10_000),
        format!("{}{}", "{% for a in list %}".repeat(100), "{% endfor %}".repeat(100)),
        format!("{{{{ {}{} }}}}", "[".repeat(400), "]".repeat(400)),
        "{{ a }}".repeat(100_000),
    ] {
        assert!(render_template(&source, &many).is_err(), "{}", &source[..40]);
    }
    let chain = format!("{{{{ 1{} }}}}", "+1".repeat(500));
    assert_eq!(render_template(&chain, &many).as_deref(), Ok("501"));
}

proptest! {
    /// No text crashes the process, and a text without braces renders unchanged.
    #[test]
    fn any_text_is_rendered_or_refused(source in "([a-z|.+{}%#\"'()\\[\\] ~-]|\\{\\{|\\}\\}|\\{%|%\\}|if |for |in |é){0,40}") {
        let result = render_template(&source, &sample());
        if !source.contains(['{', '}']) {
            prop_assert_eq!(result, Ok(source));
        }
    }

    /// Values are never read as template text.
    #[test]
    fn values_stay_values(value in ".{0,40}") {
        let context = expect_object(json!({ "value": value }));
        prop_assert_eq!(render_template("{{ value }}", &context), Ok(value));
    }
}
