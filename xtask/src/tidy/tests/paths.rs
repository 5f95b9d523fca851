//! Rules for paths that lead out of the repository.

use super::super::{Finding, paths};
use super::{check, tree};

#[test]
fn homes_of_people_are_found_on_any_system() {
    let rule = paths::no_machine_paths;
    for home in [concat!("/ho", "me/ann/x"), concat!("/Us", "ers/ann/x"), concat!("/ro", "ot/x")] {
        check(rule, &[("a.md", &format!("see {home}"))], &["a.md:1"]);
        check(rule, &[("run", &format!("\ncd \"{home}\""))], &["run:2"]);
        check(rule, &[("a.rs", &format!("let a = \"file://{home}\";"))], &["a.rs:1"]);
        check(rule, &[("a.md", &format!("see docs{home}"))], &[]);
    }
    check(rule, &[("a.md", concat!("C:\\Us", "ers\\ann"))], &["a.md:1"]);
    let innocent = concat!("GET /ho", "me/{id} and /a2a/agents/echo, ./usr/x, /etc/hosts");
    check(rule, &[("a.md", innocent)], &[]);
}

#[test]
fn folders_of_this_machine_are_found() {
    let found = |text: &str| {
        let tree = tree(&[("a.md", text)]).on_machine(&["/some/checkout"]);
        let findings = paths::no_machine_paths(&tree);
        findings.iter().map(|Finding { line, .. }| *line).collect::<Vec<_>>()
    };
    assert_eq!(found("fine\nsee /some/checkout/docs"), [2]);
    assert_eq!(found("see /some/other/docs and x/some/checkout/docs"), []);
}

/// A test that needs a file next to the checkout fails in every clone.
#[test]
fn what_reads_outside_the_repository_is_found() {
    let rule = paths::nothing_reads_outside;
    let package = ("crates/a/Cargo.toml", "");
    let rust = |line: &str, expected: &[&str]| {
        check(rule, &[package, ("crates/a/src/b/c.rs", line)], expected);
    };
    let here = &["crates/a/src/b/c.rs:1"];
    rust(r#"const A: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");"#, &[]);
    rust(r#"const A: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../x");"#, here);
    rust(r#"let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");"#, &[]);
    rust(r#"let data = folder.join("../../../beside/data");"#, here);
    rust(r#"let data = include_str!("../../../../docs/a2a.md");"#, &[]);
    rust(r#"let data = include_str!("../../../../../beside.md");"#, here);
    rust(r#"let data = fs::read_to_string("/srv/data.json");"#, here);
    rust(r#"let name = Path::new("/etc/passwd");"#, &[]);
    rust(r#"let path = format!("/v1/tasks/{id}");"#, &[]);
    rust(r#"let data = fs::read_to_string(format!("/proc/{pid}/stat"));"#, &[]);
    rust(r#"let url = "/a2a/agents"; // see ../../../../beside"#, here);
    rust("// see ../../../../beside", &[]);
    rust("let all = Point { x, .. }; for a in 0..10 {}", &[]);
    let manifest = "[dependencies]\na = { path = \"../../x\" }\nb = { path = \"../../../x\" }\n";
    check(rule, &[("crates/a/Cargo.toml", manifest)], &["crates/a/Cargo.toml:3"]);
    check(
        rule,
        &[("tools/a.py", "a = open('x')\nread('../../x')\nb = open('/srv/x')\n")],
        &["tools/a.py:2", "tools/a.py:3"],
    );
    check(rule, &[("tools/run", "#!/bin/sh\ncat ../../x\n")], &["tools/run:2"]);
    check(rule, &[(".ci/run", "#!/bin/sh\ncat ../beside\n")], &[]);
    check(rule, &[("docs/a.md", "see ../../x\n")], &[]);
}
