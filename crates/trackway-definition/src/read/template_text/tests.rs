//! Texts as WorkRail writes them, and their translation.

use minijinja::{Environment, context};

use super::{escape_as_template, translate_template_placeholders};
use crate::template::find_template_error;

fn translate_with_notes(text: &str) -> (String, Vec<String>) {
    let kept = std::cell::RefCell::new(Vec::new());
    let out = translate_template_placeholders(text, &|source| kept.borrow_mut().push(source.to_owned()));
    (out, kept.into_inner())
}

/// Proves T9: WorkRail's expressions in braces are understood.
#[test]
fn expressions_are_translated() {
    let rows = [
        ("{{name}}", "{{ name }}"),
        ("{{ a.b.c }}", "{{ a.b.c }}"),
        ("{{items.length}}", "{{ items|length }}"),
        ("{{itemIndex + 1}} of {{items.length}}", "{{ itemIndex + 1 }} of {{ items|length }}"),
        (
            "{{(processed / items.length * 100).toFixed(1)}}%",
            "{{ (processed / items|length * 100)|fixed(1) }}%",
        ),
        ("{{names.join(', ')}}", "{{ names|join(', ') }}"),
        ("{{ ok === true ? 'yes' : 'no' }}", "{{ ('yes' if ok == true else 'no') }}"),
        ("{{a || 'none'}}", "{{ a or 'none' }}"),
        ("{{list[0].name}}", "{{ list[0].name }}"),
        ("{{ name | upper }}", "{{ name | upper }}"),
    ];
    for (text, expected) in rows {
        assert_eq!(translate_with_notes(text), (expected.to_owned(), Vec::new()), "{text}");
    }
}

/// Proves T9: anything that is not an expression is shown unchanged.
#[test]
fn non_expressions_are_kept_as_text() {
    let rows = [
        "plain { text } {x}",
        "{% if x %} {# note #} {%",
        "{{ not an expression }}",
        "{{",
        "}} {{ {{",
        "{{{",
        "{",
        "{{}}",
        "{{wr.bindings.unknown}}",
        "{{ a ? }}",
        "{{ 'open }}",
        "{{#if x}}a{{/if}}",
        "```json\n{\"a\":{\"b\":1}}\n```",
    ];
    for text in rows {
        let (template, _) = translate_with_notes(text);
        let shown = Environment::new().render_str(&template, context! {}).expect(text);
        assert_eq!(shown, text);
        let shown = Environment::new().render_str(&escape_as_template(text), context! {}).expect(text);
        assert_eq!(shown, text);
    }
    assert_eq!(translate_with_notes("{{ a b }} {{c}}").1, [" a b "]);
}

/// Proves T9: a deep expression is text, and does not overflow the stack.
#[test]
fn deep_expressions_are_text() {
    for deep in ["(".repeat(400), "!".repeat(900), "-".repeat(900), "a[".repeat(300)] {
        let text = format!("{{{{{deep}}}}}");
        assert_eq!(translate_with_notes(&text).1, [deep]);
    }
}

proptest::proptest! {
    /// Proves T9: any text becomes a valid template.
    #[test]
    fn any_text_becomes_a_template(text in "[{}%#a-c.|()'+ \\-]{0,40}") {
        let (template, _) = translate_with_notes(&text);
        proptest::prop_assert!(find_template_error(&template).is_none(), "{text} -> {template}");
        let template = escape_as_template(&text);
        let shown = Environment::new().render_str(&template, context! {});
        proptest::prop_assert_eq!(shown.expect("a literal renders"), text);
    }
}
