//! Rules for documents: named paths, error pages, decisions, the README's two commands, requirements.

use super::super::{links, pages};
use super::check;

const CODES: &str = "crates/trackway-domain/src/code.rs";

#[test]
fn a_path_in_backticks_exists() {
    let rule = links::named_paths_exist;
    let page = ("docs/a.md", "See `docs/a.md`, `docs/`, `docs/a.md:12` and `crates/x/src/*.rs`.\n");
    check(rule, &[page], &[]);
    check(rule, &[("docs/a.md", "Fine.\nSee `crates/gone/src/lib.rs`.\n")], &["docs/a.md:2"]);
    check(rule, &[("docs/a.md", "```\nsee `docs/gone.md`\n```\n`src/elsewhere.rs`\n")], &[]);
}

#[test]
fn a_link_leads_somewhere() {
    let rule = links::named_paths_exist;
    let other = ("docs/how-to/b.md", "[up](../a.md#part) [root](/docs/a.md)\n");
    let page = ("docs/a.md", "[b](how-to/b.md) [web](https://example.org/x) [here](#x)\n");
    check(rule, &[page, other], &[]);
    check(rule, &[("docs/a.md", "[b](how-to/gone.md)\n")], &["docs/a.md:1"]);
    check(rule, &[("docs/a.md", "[out](../../outside.md)\n")], &["docs/a.md:1"]);
}

#[test]
fn codes_and_pages_are_the_same_set() {
    let rule = pages::every_code_has_a_page;
    let codes = (CODES, "match self {\n    Self::A => \"a\",\n    Self::BC => \"b-c\",\n}\n");
    let a = ("docs/errors/a.md", "");
    let bc = ("docs/errors/b-c.md", "");
    check(rule, &[codes, a, bc, ("docs/errors/README.md", "")], &[]);
    check(rule, &[codes, a], &["crates/trackway-domain/src/code.rs:3"]);
    check(rule, &[codes, a, bc, ("docs/errors/d.md", "")], &["docs/errors/d.md:1"]);
    check(rule, &[(CODES, "other form\n"), a], &["crates/trackway-domain/src/code.rs:1"]);
    check(rule, &[], &[]);
}

#[test]
fn decisions_have_no_gap_and_no_double() {
    let rule = pages::decisions_are_numbered;
    let one = ("docs/decisions/0001-a.md", "");
    let two = ("docs/decisions/0002-b.md", "");
    check(rule, &[one, two, ("docs/decisions/README.md", "")], &[]);
    check(rule, &[two], &["docs/decisions/0002-b.md:1"]);
    check(rule, &[one, ("docs/decisions/0001-b.md", ""), two], &["docs/decisions/0001-b.md:1"]);
    check(rule, &[one, ("docs/decisions/notes.md", "")], &["docs/decisions/notes.md:1"]);
}

#[test]
fn the_readme_starts_with_two_commands() {
    let rule = pages::starts_in_two_commands;
    let text = |block: &str| format!("# T\n```text\npicture\n```\n```sh\n{block}```\n```sh\nmore\n```\n");
    let good = text("cargo run -p trackway-cli -- serve\ncargo xtask test\n");
    check(rule, &[("README.md", &good)], &[]);
    let bad = [
        "cargo xtask test\n",
        "cargo xtask test\ncargo xtask test\n",
        "cargo run\ncargo test\n",
        "cargo run\ncargo xtask test\ncargo xtask ci\n",
        "",
    ];
    for block in bad {
        check(rule, &[("README.md", &text(block))], &["README.md:5"]);
    }
    check(rule, &[("README.md", "# T\n")], &["README.md:1"]);
    check(rule, &[], &[]);
}

#[test]
fn a_test_names_requirements_that_exist() {
    let rule = pages::tests_name_requirements;
    let page = ("docs/requirements.md", "## L. Life\n\n### L1 Born\n");
    let good = ("crates/a/src/a.rs", "/// Proves L1.\n#[test]\nfn f() {}\n");
    let bad = ("crates/a/src/b.rs", "/// Proves L1 and L2.\n#[test]\nfn f() {}\n");
    check(rule, &[page, good], &[]);
    check(rule, &[page, good, bad], &["crates/a/src/b.rs:3"]);
    check(rule, &[good], &["crates/a/src/a.rs:3"]);
}
