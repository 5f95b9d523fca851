//! Rules for names.

use super::super::names;
use super::check;

#[test]
fn vague_names_are_found() {
    let rule = names::names_are_not_vague;
    let rust = |line: &str, expected: &[&str]| check(rule, &[("crates/a/src/b.rs", line)], expected);
    let here = &["crates/a/src/b.rs:1"];
    for line in [
        "fn told() {}",
        "    pub(super) async fn said<T>(one: T) {",
        "pub(crate) struct Place {",
        "mod written;",
        "type Held = u8;",
    ] {
        rust(line, here);
    }
    for line in ["fn tell_parent() {}", "let told = 1;", "struct PlaceOrder;", "// fn told() {}"] {
        rust(line, &[]);
    }
    check(rule, &[("crates/a/proto/generated/b.rs", "pub struct Place {")], &[]);
}

#[test]
fn words_of_public_types_are_explained() {
    let rule = names::public_types_use_the_vocabulary;
    let glossary = "# A\n\n## Words\n\n| Trackway | meaning |\n| --- | --- |\n| guided run | a run |\n\n## B\n| zork | x |\n";
    let with = |path: &str, line: &str, expected: &[&str]| {
        check(rule, &[("ARCHITECTURE.md", glossary), (path, line)], expected);
    };
    let path = "crates/a/src/b.rs";
    let here = &["crates/a/src/b.rs:1"];
    with(path, "pub struct GuidedRun {", &[]);
    with(path, "pub enum GuidedZork {", here);
    with(path, "pub(crate) enum GuidedZork {", &[]);
    with(path, "pub fn zork() {}", &[]);
    with("crates/a/tests/it/b.rs", "pub enum GuidedZork {", &[]);
}
