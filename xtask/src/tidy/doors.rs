//! The strict `clippy.toml` files. Clippy reads only the nearest one, so a crate's own file must
//! repeat the root's doors; this keeps one that was added to the root from staying open there.

use super::Finding;
use super::tree::Tree;

const ROOT: &str = "clippy.toml";

/// Crates whose own file is required, because their purity rests on it.
const STRICT: &[&str] = &["crates/trackway-domain", "crates/trackway-engine"];

pub(super) fn strict_files_repeat_the_root(tree: &Tree) -> Vec<Finding> {
    let Some(root) = tree.file(ROOT) else {
        return vec![Finding::new(ROOT, 1, "the doors are missing")];
    };
    let mut findings = Vec::new();
    for folder in STRICT.iter().filter(|folder| tree.exists(folder)) {
        let path = format!("{folder}/{ROOT}");
        let Some(strict) = tree.file(&path) else {
            let message = "this crate needs stricter doors than the root's";
            findings.push(Finding::new(&path, 1, message));
            continue;
        };
        let settings = root.text.lines().map(str::trim);
        for setting in settings.filter(|line| !line.is_empty() && !line.starts_with('#')) {
            if !strict.text.lines().any(|line| line.trim() == setting) {
                findings.push(Finding::new(&path, 1, format!("repeat the root's line: {setting}")));
            }
        }
    }
    findings
}
