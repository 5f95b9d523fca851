//! Names with `*` in them, as agents allow tools and workflows.

/// Whether a name fits a pattern, in which each `*` stands for any text.
pub(super) fn fits(pattern: &str, name: &str) -> bool {
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let Some(last) = pieces.next_back() else { return rest.is_empty() };
    for piece in pieces {
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// Whether it stands for more than one name.
pub(super) fn is_open(pattern: &str) -> bool {
    pattern.contains('*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_is_any_text() {
        for (pattern, name, expected) in [
            ("echo", "echo", true),
            ("echo", "echoes", false),
            ("*", "", true),
            ("*", "echo", true),
            ("e*o", "echo", true),
            ("e*o", "eo", true),
            ("e*eo", "eo", false),
            ("a*b*c", "a1b2c", true),
            ("a*b*c", "acb", false),
            ("files__*", "files__read", true),
            ("files__*", "file__read", false),
            ("ü*", "über", true),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }
}
