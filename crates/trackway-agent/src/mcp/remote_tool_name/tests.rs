//! Valid names, and names that must be changed.

use super::*;

#[test]
fn names_are_made_of_letters_that_every_model_takes() {
    let none = BTreeSet::new();
    assert_eq!(unique_prefixed_tool_name("files", "read", &none), "files__read");
    assert_eq!(unique_prefixed_tool_name("my files", "read.all/ä", &none), "my_files__read_all__");
    let long = unique_prefixed_tool_name("s", &"x".repeat(200), &none);
    assert_eq!(long.len(), NAME_CHARS_MAX);
    assert_ne!(long, unique_prefixed_tool_name("s", &"x".repeat(201), &none));
    assert_eq!(long, unique_prefixed_tool_name("s", &"x".repeat(200), &none));
}

#[test]
fn two_tools_never_share_a_name() {
    let mut taken = BTreeSet::new();
    for (server, tool) in [("a", "b.c"), ("a", "b_c"), ("a", "b/c"), ("a__b", "c"), ("a", "b__c")] {
        let name = unique_prefixed_tool_name(server, tool, &taken);
        assert!(taken.insert(name.clone()), "{name}");
    }
    assert!(taken.contains("a__b_c"));
}

#[test]
fn names_of_tools_are_those_of_the_protocol() {
    for name in ["danger", "DANGER-2", "files.read_all", &"x".repeat(128)] {
        assert!(is_valid_tool_name(name), "{name:?}");
    }
    for name in ["", "danger ", " danger", "danger\u{200b}", "dänger", "a/b", "a,b", &"x".repeat(129)] {
        assert!(!is_valid_tool_name(name), "{name:?}");
    }
}
