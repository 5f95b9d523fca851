//! Templates at the limits and beyond them.

use crate::template::find_template_error;

/// Proves T9: no template is deep enough to overflow the stack of the reader.
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
        assert!(find_template_error(&deep).is_some(), "{deep}");
    }
    for long in ["+a", ".a", "[0]", "~a", " and a", "|upper", " in a"] {
        assert_eq!(find_template_error(&format!("{{{{ a{} }}}}", long.repeat(1000 / long.len()))), None);
    }
    let fine = "{% if a %}{% for x in b %}{{ x }}{% else %}-{% endfor %}{% endif %}";
    assert_eq!(find_template_error(fine), None);
}
