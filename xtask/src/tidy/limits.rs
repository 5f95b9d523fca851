//! Every bound of the code that ships is on the page of limits.

use super::Finding;
use super::tree::{File, Tree};

/// Endings of the names of bounds.
const ENDINGS: &[&str] = &["_MAX", "_TIMEOUT"];
/// Types in which a bound is counted.
const TYPES: &[&str] = &["usize", "u8", "u16", "u32", "u64", "i64", "Duration"];

/// `cargo xtask generate` puts a constant on `docs/limits.md` when its doc comment says what it limits.
pub(super) fn bounds_are_marked(tree: &Tree) -> Vec<Finding> {
    tree.rust_files().filter(|file| ships(file)).flat_map(unmarked).collect()
}

fn ships(file: &File) -> bool {
    file.path.starts_with("crates/")
        && file.path.contains("/src/")
        && !file.is_test()
        && !file.path.starts_with("crates/trackway-testkit/")
}

fn unmarked(file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut marked = false;
    for (number, line) in file.lines() {
        let line = line.trim();
        if line.starts_with("///") || line.starts_with("#[") {
            marked |= line.starts_with("/// Limit (");
        } else {
            if let Some(name) = bound(line).filter(|_| !marked) {
                let message = format!(
                    "`{name}` is a bound: say in its doc comment `Limit (AREA): what is limited.`"
                );
                findings.push(Finding::new(&file.path, number, message));
            }
            marked = false;
        }
    }
    findings
}

/// The name of the bound that a line declares.
fn bound(line: &str) -> Option<&str> {
    let (before, declaration) = line.split_once("const ")?;
    let (name, rest) = declaration.split_once(": ")?;
    let counted = TYPES.iter().any(|name| rest.starts_with(&format!("{name} =")));
    let declared = before.is_empty() || before.starts_with("pub");
    (declared && counted && ENDINGS.iter().any(|ending| name.ends_with(ending))).then_some(name)
}
