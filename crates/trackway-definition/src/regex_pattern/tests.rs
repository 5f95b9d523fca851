//! Tests of patterns: what matches, what is refused, and the sample matches.

use super::*;

fn matches(pattern: &str, text: &str) -> bool {
    CompiledPattern::new(pattern, CaseSensitivity::Sensitive).expect(pattern).is_match(text)
}

#[test]
fn a_sample_matches_its_pattern() {
    for (pattern, shown) in [
        ("[A-Z]+-\\d+", "A-1"),
        ("^\\d{3}$", "111"),
        ("(foo|bar)", "foo"),
        ("x+y", "xy"),
        ("(?i)done", "dOnE"),
        ("^## .+\n- ", "## a\n- "),
        ("a*b?", ""),
        ("[^a-z]", "A"),
        ("\\p{Greek}", "Ͱ"),
        ("\\bword\\b", "word"),
    ] {
        let found = sample_text_matching(pattern).expect(pattern);
        assert!(matches(pattern, &found), "{pattern}: {found}");
        if !pattern.starts_with("(?i)") {
            assert_eq!(found, shown, "{pattern}");
        }
    }
    assert_eq!(sample_text_matching("(?!x)y"), None);
    assert_eq!(sample_text_matching("(("), None);
    assert_eq!(sample_text_matching("((a{500}){500}){500}"), None);
}

/// JavaScript's patterns have lookaround; one that takes too long does not match.
#[test]
fn patterns_may_look_around() {
    assert!(matches("^(?!.*TODO).*done", "all done"));
    assert!(!matches("^(?!.*TODO).*done", "TODO: done"));
    assert!(matches("(?<=a)b", "ab"));
    assert!(!matches("(?=x)(a+)+$", &format!("{}!", "a".repeat(50_000))));
    assert!(!matches("^(?=(a+)+$)", &format!("{}!", "a".repeat(50_000))));
    assert!(
        CompiledPattern::new("(?!DONE)x", CaseSensitivity::Insensitive)
            .is_ok_and(|pattern| pattern.is_match("X"))
    );
    for broken in ["(", "[z-a]", "(?!", "a{5000}{5000}"] {
        assert!(CompiledPattern::new(broken, CaseSensitivity::Sensitive).is_err(), "{broken}");
    }
}
