//! Rules for Rust sources.

use super::Finding;
use super::tree::{File, Tree};

/// A file is one idea; a longer file should be split.
const LINES_MAX: usize = 500;

/// The first lines of a file say what it is and where it belongs.
pub(super) fn opens_with_module_doc(tree: &Tree) -> Vec<Finding> {
    tree.rust_files()
        .filter(|file| !file.text.starts_with("//!"))
        .map(|file| Finding::new(&file.path, 1, "open the file with `//!`: what it is and where it sits"))
        .collect()
}

/// `x.rs` next to `x/`, never two ways.
pub(super) fn no_mod_rs(tree: &Tree) -> Vec<Finding> {
    tree.rust_files()
        .filter(|file| file.path.ends_with("/mod.rs"))
        .map(|file| Finding::new(&file.path, 1, "name it after its folder: `x.rs` beside `x/`"))
        .collect()
}

pub(super) fn files_are_short(tree: &Tree) -> Vec<Finding> {
    tree.rust_files()
        .filter(|file| !file.is_test())
        .map(|file| (file, file.text.lines().count()))
        .filter(|(_, count)| *count > LINES_MAX)
        .map(|(file, count)| {
            let message = format!("{count} lines, at most {LINES_MAX}: split it by idea");
            Finding::new(&file.path, LINES_MAX + 1, message)
        })
        .collect()
}

/// The reason that an ignored test must have if a separate command runs it: `cargo xtask real-model`
/// downloads a model.
const RUN_ELSEWHERE: &str = "cargo xtask real-model";

/// A test that does not run proves nothing.
pub(super) fn no_ignored_tests(tree: &Tree) -> Vec<Finding> {
    let ignored = |line: &str| {
        let line = line.trim_start();
        line.starts_with("#[ignore") && !line.contains(RUN_ELSEWHERE)
            || line.starts_with("#[cfg_attr(") && line.contains(" ignore")
    };
    tree.rust_files().flat_map(|file| file.find(ignored, "run the test or delete it")).collect()
}

/// Tests wait on a signal. If only time itself can be waited for, `// why:` explains it, on the line or on
/// the one above.
pub(super) fn no_unexplained_sleep(tree: &Tree) -> Vec<Finding> {
    let in_tests = |file: &&File| file.is_test() || file.path.starts_with("crates/trackway-testkit/");
    let mut findings = Vec::new();
    for file in tree.rust_files().filter(in_tests) {
        let mut above = "";
        for (number, line) in file.lines() {
            let sleeps = line.contains("thread::sleep") || line.contains("time::sleep");
            let explained = [above, line].iter().any(|text| text.contains("// why:"));
            if sleeps && !explained {
                let message = "wait on a signal, or say `// why:` only time will do";
                findings.push(Finding::new(&file.path, number, message));
            }
            above = line;
        }
    }
    findings
}

/// The only file that makes appends and passes them to a store: the engine has decided their content.
const APPENDS: &str = "crates/trackway-runtime/src/append.rs";

/// Stores accept appends, and the testkit acts as the runtime for them.
const STORES: [&str; 3] = ["crates/trackway-ports/", "crates/trackway-sqlite/", "crates/trackway-testkit/"];

/// There is one way into the log.
pub(super) fn one_file_appends(tree: &Tree) -> Vec<Finding> {
    let is_caller = |file: &&File| {
        file.path.starts_with("crates/")
            && file.path != APPENDS
            && !file.is_test()
            && !file.path.contains("/benches/")
            && !STORES.iter().any(|store| file.path.starts_with(store))
    };
    let appends = |line: &str| {
        ["Append::new(", "journal.append(", "journal.append_all("].iter().any(|call| line.contains(call))
    };
    let message = format!("let the engine decide it, and append it by {APPENDS}");
    tree.rust_files().filter(is_caller).flat_map(|file| file.find(appends, &message)).collect()
}
