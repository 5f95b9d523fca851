//! Rules for crates: edges, lints, versions, features, READMEs, doors.

use super::super::edges::{self, ALLOWED};
use super::super::{crates, dependencies};
use super::check;

const DOMAIN: &str = "crates/trackway-domain/Cargo.toml";
const ENGINE: &str = "crates/trackway-engine/Cargo.toml";

fn manifest(name: &str, rest: &str) -> String {
    format!("[package]\nname = \"{name}\"\n{rest}")
}

#[test]
fn the_table_of_edges_points_upwards_in_itself() {
    for (index, (name, allowed)) in ALLOWED.iter().enumerate() {
        for lower in allowed.split_whitespace() {
            let above = ALLOWED[..index].iter().any(|(n, _)| *n == lower);
            assert!(above, "`{lower}` must stand above `{name}`");
            assert_ne!(lower, "testkit", "`{name}` must not use the testkit");
        }
    }
}

#[test]
fn an_edge_outside_the_table_is_found() {
    let rule = edges::edges_run_downward;
    let down = manifest("trackway-engine", "[dependencies]\ntrackway-domain.workspace = true\n");
    check(rule, &[(ENGINE, &down)], &[]);
    let up = manifest("trackway-domain", "[dependencies]\ntrackway-engine.workspace = true\n");
    check(rule, &[(DOMAIN, &up)], &["crates/trackway-domain/Cargo.toml:4"]);
    let sections = ["build-dependencies", "target.'cfg(unix)'.dependencies"];
    for section in sections {
        let up = manifest("trackway-domain", &format!("[{section}]\nxtask = {{ workspace = true }}\n"));
        check(rule, &[(DOMAIN, &up)], &["crates/trackway-domain/Cargo.toml:4"]);
    }
}

#[test]
fn only_tests_use_the_testkit() {
    let rule = edges::edges_run_downward;
    let dev = manifest("trackway-engine", "[dev-dependencies]\ntrackway-testkit.workspace = true\n");
    check(rule, &[(ENGINE, &dev)], &[]);
    let normal = manifest("trackway-engine", "[dependencies]\ntrackway-testkit.workspace = true\n");
    check(rule, &[(ENGINE, &normal)], &["crates/trackway-engine/Cargo.toml:4"]);
}

#[test]
fn a_new_crate_must_enter_the_table() {
    let new = manifest("trackway-new", "");
    let path = "crates/trackway-new/Cargo.toml";
    check(edges::edges_run_downward, &[(path, &new)], &["crates/trackway-new/Cargo.toml:1"]);
}

#[test]
fn an_example_knows_only_the_library() {
    let text = "[dependencies]\ntrackway.workspace = true\ntrackway-runtime.workspace = true\n";
    let path = "examples/embed/Cargo.toml";
    let text = manifest("embed", text);
    check(edges::edges_run_downward, &[(path, &text)], &["examples/embed/Cargo.toml:5"]);
}

#[test]
fn heavy_crates_stay_out_of_the_core() {
    let rule = edges::core_stays_light;
    let light = manifest("trackway-engine", "[dependencies]\nserde.workspace = true\n");
    check(rule, &[(ENGINE, &light)], &[]);
    let heavy = manifest("trackway-engine", "[dev-dependencies]\ntokio.workspace = true\n");
    check(rule, &[(ENGINE, &heavy)], &["crates/trackway-engine/Cargo.toml:4"]);
    let elsewhere = manifest("trackway-runtime", "[dependencies]\ntokio.workspace = true\n");
    check(rule, &[("crates/trackway-runtime/Cargo.toml", &elsewhere)], &[]);
}

#[test]
fn a_crate_readme_has_both_lists() {
    let rule = crates::crates_have_readme;
    let crate_file = (DOMAIN, "[package]\n");
    let path = "crates/trackway-domain/README.md";
    check(rule, &[crate_file, (path, "Belongs here: a. Belongs elsewhere: b.")], &[]);
    check(rule, &[crate_file, (path, "Belongs here: a.")], &["crates/trackway-domain/README.md:1"]);
    check(rule, &[crate_file], &["crates/trackway-domain/README.md:1"; 2]);
}

#[test]
fn lints_are_inherited() {
    let rule = crates::crates_inherit_lints;
    check(rule, &[(DOMAIN, "[lints]\nworkspace = true\n")], &[]);
    check(rule, &[(DOMAIN, "lints.workspace = true\n")], &[]);
    check(rule, &[(DOMAIN, "[lints]\nworkspace = false\n")], &["crates/trackway-domain/Cargo.toml:1"]);
    check(rule, &[(DOMAIN, "[package]\n")], &["crates/trackway-domain/Cargo.toml:1"]);
}

#[test]
fn features_are_found() {
    let rule = crates::crates_have_no_features;
    check(rule, &[(DOMAIN, "[dependencies]\nuuid = { workspace = true, features = [] }\n")], &[]);
    check(rule, &[(DOMAIN, "[features]\ndefault = []\n")], &["crates/trackway-domain/Cargo.toml:1"]);
}

#[test]
fn versions_come_from_the_workspace() {
    let rule = crates::crates_inherit_versions;
    let inherited = "[dependencies]\na.workspace = true # as others\nb = { workspace = true, features = [\n  \"x\",\n] }\n";
    check(rule, &[(DOMAIN, inherited)], &[]);
    let own = "[dependencies]\na = \"1\"\nb = { version = \"1\" }\nc = { path = \"../c\" }\n";
    let places = [2, 3, 4].map(|line| format!("crates/trackway-domain/Cargo.toml:{line}"));
    check(rule, &[(DOMAIN, own)], &places.each_ref().map(String::as_str));
    let table = "[dev-dependencies.a]\nversion = \"1\"\n";
    check(rule, &[(DOMAIN, table)], &["crates/trackway-domain/Cargo.toml:1"]);
}

#[test]
fn templates_and_foreign_workspaces_are_left_alone() {
    let rule = crates::crates_inherit_versions;
    let own = "[dependencies]\na = \"1\"\n";
    check(rule, &[("crates/trackway-cli/templates/Cargo.toml", own)], &[]);
    check(rule, &[("examples/alone/Cargo.toml", &format!("[workspace]\n{own}"))], &[]);
}

#[test]
fn strict_doors_repeat_those_of_the_root() {
    let rule = crates::strict_files_repeat_the_root;
    let root = ("clippy.toml", "# Doors.\nallow-x = true\n  { path = \"a\" },\n");
    let strict = "crates/trackway-domain/clippy.toml";
    let same = "allow-x = true\n{ path = \"a\" },\n{ path = \"b\" },\n";
    check(rule, &[root, (strict, same)], &[]);
    check(rule, &[root, (strict, "allow-x = true\n")], &["crates/trackway-domain/clippy.toml:1"]);
    check(rule, &[root, (DOMAIN, "")], &["crates/trackway-domain/clippy.toml:1"]);
    check(rule, &[], &["clippy.toml:1"]);
}

#[test]
fn a_source_other_than_crates_io_is_found() {
    let rule = dependencies::sources_are_crates_io;
    let crates_io = "source = \"registry+https://github.com/rust-lang/crates.io-index\"\n";
    check(rule, &[("Cargo.lock", crates_io)], &[]);
    let git = format!("{crates_io}source = \"git+https://example.org/x#1\"\n");
    check(rule, &[("Cargo.lock", &git)], &["Cargo.lock:2"]);
}

#[test]
fn a_major_that_is_there_twice_says_why_and_leaves_the_list_when_it_is_gone() {
    let rule = dependencies::duplicates_have_a_reason;
    let package = |version: &str| format!("[[package]]\nname = \"a\"\nversion = \"{version}\"\n");
    let lock = package("0.1.9") + &package("0.2.0");
    let skip = "skip = [\n  { crate = \"a@0.1\", reason = \"b\" },\n]\n";
    check(rule, &[("Cargo.lock", &lock), ("deny.toml", skip)], &[]);
    check(rule, &[("Cargo.lock", &lock), ("deny.toml", "")], &["Cargo.lock:6"]);
    let alone = package("0.2.0");
    check(rule, &[("Cargo.lock", &alone), ("deny.toml", skip)], &["deny.toml:2"]);
    let same = package("1.1.0") + &package("1.2.0");
    check(rule, &[("Cargo.lock", &same), ("deny.toml", "")], &[]);
}

#[test]
fn a_crate_that_is_kept_out_is_found() {
    let rules = "deny = [\n  { crate = \"slow-sys\", reason = \"b\" },\n]\n";
    let lock = "[[package]]\nname = \"slow-sys\"\nversion = \"1.0.0\"\n";
    let rule = dependencies::denied_stay_out;
    check(rule, &[("Cargo.lock", lock), ("deny.toml", rules)], &["Cargo.lock:3"]);
    check(rule, &[("Cargo.lock", ""), ("deny.toml", rules)], &[]);
}
