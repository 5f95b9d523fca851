//! Expressions that parse, and those that are refused before they can do harm.

use super::expression;

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
            format!("a{}", "+a".repeat(99)),
            format!("a{}", ".a".repeat(99)),
            format!("a{}", "[0]".repeat(99)),
            format!("a{}", "&&a".repeat(49)),
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
