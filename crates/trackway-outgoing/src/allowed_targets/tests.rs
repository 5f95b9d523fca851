//! The forms that an operator may write.

use super::*;

/// Proves X6: a mistake in the list is reported, because a wrong entry would open more than was meant.
#[test]
fn only_networks_and_host_names_are_accepted() {
    for text in
        ["10.0.0.0/8", "0.0.0.0/0", "10.1.2.3", "fd00::/8", "::1", "*.internal", "db-*.corp.example", "HOST."]
    {
        assert!(text.parse::<AllowedTarget>().is_ok(), "{text}");
    }
    for (text, message) in [
        ("", "it is empty"),
        ("10.0.0.1/8", "it is not the first address of that network, which is 10.0.0.0/8"),
        ("10.0.0.0/33", "\"33\" is not a number of bits from 0 to 32"),
        ("10.0.0.0/+8", "\"+8\" is not a number of bits from 0 to 32"),
        ("10.0.0.0/8.0", "\"8.0\" is not a number of bits from 0 to 32"),
        ("10.0.0.0/", "\"\" is not a number of bits from 0 to 32"),
        ("fd00::/129", "\"129\" is not a number of bits from 0 to 128"),
        ("10.0.0/8", "it is neither an address nor the name of a host"),
        ("10.0.0", "it is neither an address nor the name of a host"),
        ("10.0.0.*", "it is neither an address nor the name of a host"),
        ("256.0.0.1", "it is neither an address nor the name of a host"),
        ("http://db.internal/", "it has the form of a URL; a network or the name of a host is expected"),
        ("db.internal:80", "a name has letters, digits, \"-\", \"_\", \".\" and \"*\"; this one has ':'"),
        ("*", "it fits every host; name a domain, such as \"*.internal\""),
        ("*.*", "it fits every host; name a domain, such as \"*.internal\""),
        (".internal", "it is neither an address nor the name of a host"),
        ("a..internal", "it is neither an address nor the name of a host"),
        (" db.internal", "a name has letters, digits, \"-\", \"_\", \".\" and \"*\"; this one has ' '"),
    ] {
        let refused = text.parse::<AllowedTarget>().expect_err(text);
        assert_eq!(refused.to_string(), message, "{text}");
    }
    assert_eq!("a".repeat(254).parse::<AllowedTarget>(), Err(AllowedTargetError::TooLong));
}

#[test]
fn a_pattern_fits_a_whole_name() {
    for (glob, name, fits) in [
        ("db.internal", "db.internal", true),
        ("db.internal", "xdb.internal", false),
        ("*.internal", "a.internal", true),
        ("*.internal", ".internal", true),
        ("*.internal", "internal", false),
        ("db-*.corp", "db-1.corp", true),
        ("db-*.corp", "db-.corp", true),
        ("db-*.corp", "db.corp", false),
        ("*a*b*", "xaxbx", true),
        ("*a*b*", "ba", false),
        ("a*a", "a", false),
        ("a*", "ab.c", true),
    ] {
        assert_eq!(glob_matches(glob, name), fits, "{glob} {name}");
    }
}
