//! Expressions and templates at the bounds and beyond them.

use crate::expression::expression_fault;
use crate::template::template_fault;

fn expression(text: &str) -> Result<(), String> {
    expression_fault(text).map_or(Ok(()), Err)
}

/// Proves T9: expressions of the context are read.
#[test]
fn expressions_parse() {
    for text in
        ["a", "size(items) > 2 && !done", "risk in ['high', 'medium']", "has(a.b) ? a.b : 0"]
    {
        assert_eq!(expression(text), Ok(()), "{text}");
    }
}

/// Proves T9: whatever stands there, it is refused and ends nothing.
#[test]
fn odd_expressions_are_refused() {
    for text in [
        "", " ", "a +", "a ==== b", "'open", "a b", "{", "\"\\", "`", "\u{0}", "🦀 +", "1.2.3.",
        "@",
    ] {
        assert!(expression(text).is_err(), "{text:?}");
    }
    for text in [
        "(".repeat(1900),
        "!".repeat(1900),
        "-".repeat(1900),
        "a?".repeat(900),
        "a.".repeat(900),
        "a+".repeat(900),
        "a&&".repeat(600) + "a",
        "a||".repeat(600) + "a",
        "[0]".repeat(600),
        "a[0]".repeat(400),
        "a in ".repeat(390) + "a",
        "x".repeat(100_000),
    ] {
        assert!(expression(&text).is_err(), "{text:?}");
    }
}

/// Proves T9: an expression at the bounds is read on a small stack.
#[test]
fn the_bounds_fit_a_small_stack() {
    let reading = || {
        for text in [
            format!("{}a{}", "(".repeat(8), ")".repeat(8)),
            format!("a{}", "+a".repeat(60)),
            format!("a{}", ".a".repeat(60)),
            format!("a{}", "[0]".repeat(60)),
            format!("a{}", "&&a".repeat(40)),
            format!("{}a{}", "[".repeat(8), "]".repeat(8)),
            format!("{}a{}", "f(".repeat(8), ")".repeat(8)),
            format!("{}a{}", "{1:".repeat(8), "}".repeat(8)),
            format!("{}a{}", "a[".repeat(8), "]".repeat(8)),
            format!("a{}", "?a:a".repeat(8)),
            format!("{}a", "!".repeat(8)),
            format!("{}a{}", "a.map(x,".repeat(8), ")".repeat(8)),
        ] {
            assert_eq!(expression(&text), Ok(()), "{text}");
        }
    };
    // Less than the stack of a thread of the runtime, which has gone down some way already.
    let thread = std::thread::Builder::new().stack_size(1536 * 1024).spawn(reading);
    thread.expect("a thread").join().expect("it is read");
}

proptest::proptest! {
    /// Proves T9: no text ends the program.
    #[test]
    fn no_text_panics(text in "[a-c0-9.+\\-*/%<>=!&|?:()\\[\\]{}'\"\\\\, ]{0,40}") {
        let _ = expression(&text);
    }
}

/// Proves T9: no template is so deep that reading it ends the program.
#[test]
fn deep_templates_are_refused() {
    for deep in [
        format!("{{{{ {} }}}}", "(".repeat(1000)),
        format!("{{{{ {}a }}}}", "- ".repeat(500)),
        format!("{{{{ {}a }}}}", "not ".repeat(250)),
        format!("{{{{ a{} }}}}", " if b else a".repeat(80)),
        "{% if a %}".repeat(510),
        "{%- for a in b %}".repeat(510),
    ] {
        assert!(template_fault(&deep).is_some(), "{deep}");
    }
    for long in ["+a", ".a", "[0]", "~a", " and a", "|upper", " in a", "()"] {
        assert_eq!(template_fault(&format!("{{{{ a{} }}}}", long.repeat(1000 / long.len()))), None);
    }
    let fine = "{% if a %}{% for x in b %}{{ x }}{% else %}-{% endfor %}{% endif %}";
    assert_eq!(template_fault(fine), None);
}
