//! Rules for Rust sources and for text. Bad words are assembled from parts here, so that tidy does
//! not find them in this file.

use super::super::{limits, rust, text};
use super::check;

#[test]
fn a_rust_file_opens_with_its_doc() {
    let rule = rust::opens_with_module_doc;
    check(rule, &[("a.rs", "//! A.\n")], &[]);
    check(rule, &[("a.md", "# A\n")], &[]);
    check(rule, &[("a.rs", "use std::fmt;\n//! A.\n")], &["a.rs:1"]);
    check(rule, &[("a.rs", "")], &["a.rs:1"]);
}

#[test]
fn modules_are_named_after_their_folder() {
    check(rust::no_mod_rs, &[("src/a.rs", ""), ("src/modern.rs", "")], &[]);
    check(rust::no_mod_rs, &[("src/a/mod.rs", "")], &["src/a/mod.rs:1"]);
}

#[test]
fn long_files_are_found_except_tests() {
    let long = "x\n".repeat(501);
    let at_bound = "x\n".repeat(500);
    check(rust::files_are_short, &[("src/a.rs", &at_bound)], &[]);
    check(rust::files_are_short, &[("src/a.rs", &long)], &["src/a.rs:501"]);
    check(rust::files_are_short, &[("src/a/tests.rs", &long)], &[]);
    check(rust::files_are_short, &[("c/tests/it/main.rs", &long)], &[]);
    check(rust::files_are_short, &[("src/contests.rs", &long)], &["src/contests.rs:501"]);
}

#[test]
fn only_one_file_appends() {
    let rule = rust::one_file_appends;
    let line = "    let append = Append::new(run, 0, now);\n";
    let sends = "    self.options.journal.append(append, done);\n";
    check(rule, &[("crates/trackway-runtime/src/append.rs", line)], &[]);
    check(rule, &[("crates/trackway-sqlite/src/journal.rs", sends)], &[]);
    check(rule, &[("crates/trackway-runtime/src/fork/tests.rs", line)], &[]);
    let path = "crates/trackway-runtime/src/fork.rs";
    check(rule, &[(path, &format!("{line}{sends}"))], &[&format!("{path}:1"), &format!("{path}:2")]);
}

#[test]
fn ignored_tests_are_found() {
    let rule = rust::no_ignored_tests;
    check(rule, &[("a.rs", "#[test]\nfn ignore() {}\n")], &[]);
    let attributes = "    #[ignore]\n#[ignore = \"slow\"]\n#[cfg_attr(windows, ignore)]\n";
    check(rule, &[("a.rs", attributes)], &["a.rs:1", "a.rs:2", "a.rs:3"]);
}

#[test]
fn a_sleep_in_a_test_says_why() {
    let rule = rust::no_unexplained_sleep;
    let bare = concat!("std::thread", "::sleep(d);\ntokio::time", "::sleep(d).await;\n");
    check(rule, &[("c/src/a.rs", bare)], &[]);
    check(rule, &[("c/tests/it/a.rs", bare)], &["c/tests/it/a.rs:1", "c/tests/it/a.rs:2"]);
    check(rule, &[("c/src/a/tests.rs", bare)], &["c/src/a/tests.rs:1", "c/src/a/tests.rs:2"]);
    let kit = "crates/trackway-testkit/src/a.rs";
    check(rule, &[(kit, bare)], &[&format!("{kit}:1"), &format!("{kit}:2")]);
    let explained = concat!("thread", "::sleep(d); // why: the kernel's clock\n");
    check(rule, &[("c/tests/a.rs", explained)], &[]);
    let explained_above = concat!("// why: the kernel's clock\nthread", "::sleep(d);\n");
    check(rule, &[("c/tests/a.rs", explained_above)], &[]);
    check(rule, &[("c/tests/a.rs", "ctx.sleep(d).await;\n")], &[]);
}

#[test]
fn trailing_whitespace_is_found_where_people_write() {
    let rule = text::no_trailing_whitespace;
    check(rule, &[("a.rs", "fine\nnot \n")], &["a.rs:2"]);
    check(rule, &[("a.md", "not\t\n")], &["a.md:1"]);
    check(rule, &[("a.snap", "golden \n")], &[]);
}

#[test]
fn tabs_are_found_in_rust_only() {
    check(text::no_tabs, &[("a.rs", "fine\n\tnot\n")], &["a.rs:2"]);
    check(text::no_tabs, &[("Makefile", "\tfine\n")], &[]);
}

#[test]
fn unfinished_marks_are_found() {
    let marks = [
        concat!("to", "do!()"),
        concat!("unimple", "mented!(\"x\")"),
        concat!("// FIX", "ME later"),
        concat!("# XX", "X"),
    ];
    for mark in marks {
        check(text::no_marks, &[("a.rs", mark)], &["a.rs:1"]);
    }
    let innocent = concat!("let name = \"tmp.XX", "XXXX\"; my_to", "do!();\n");
    check(text::no_marks, &[("a.rs", innocent)], &[]);
}

#[test]
fn a_bound_without_a_limit_line_is_found() {
    let rule = limits::bounds_are_marked;
    let marked = "/// Why.\n/// Limit (A2A): x.\n#[x]\npub(crate) const A_MAX: usize = 1;\n";
    check(rule, &[("crates/a/src/a.rs", marked)], &[]);
    let bare = "/// Why.\nconst A_MAX: usize = 1;\n    const B_TIMEOUT: Duration = b();\n";
    check(rule, &[("crates/a/src/a.rs", bare)], &["crates/a/src/a.rs:2", "crates/a/src/a.rs:3"]);
    check(rule, &[("crates/a/src/a/tests.rs", bare), ("crates/a/tests/it/b.rs", bare)], &[]);
    check(rule, &[("crates/a/src/a.rs", "const A: usize = 1;\nconst B_MAX: &str = 1;\n")], &[]);
}
