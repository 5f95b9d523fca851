//! What every crate must have, and must not have.

use super::Finding;
use super::manifest::Manifest;
use super::tree::Tree;

/// The two lists of a crate's README: the second keeps the first honest.
const README_LISTS: &[&str] = &["Belongs here", "Belongs elsewhere"];

pub(super) fn crates_have_readme(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for manifest in Manifest::members(tree) {
        let Some(folder) = manifest.file.path.strip_suffix("/Cargo.toml") else {
            continue;
        };
        // An example explains itself in its source.
        if folder.starts_with("examples/") {
            continue;
        }
        let path = format!("{folder}/README.md");
        let text = tree.file(&path).map_or("", |file| file.text.as_str());
        for list in README_LISTS.iter().filter(|list| !text.contains(**list)) {
            findings.push(Finding::new(&path, 1, format!("say what \"{list}\"")));
        }
    }
    findings
}

pub(super) fn crates_inherit_lints(tree: &Tree) -> Vec<Finding> {
    let inherits = |manifest: &Manifest<'_>| {
        let value = manifest.value("lints", "workspace");
        value.or_else(|| manifest.value("", "lints.workspace")) == Some("true")
    };
    Manifest::members(tree)
        .iter()
        .filter(|manifest| !inherits(manifest))
        .map(|manifest| Finding::new(&manifest.file.path, 1, "inherit the lints: `[lints] workspace = true`"))
        .collect()
}

/// Features multiply the builds and tests.
pub(super) fn crates_have_no_features(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for manifest in Manifest::members(tree) {
        let sections = manifest.sections.iter().filter(|(_, name)| *name == "features");
        let message = "crates have no features; split the crate instead";
        findings.extend(sections.map(|(line, _)| Finding::new(&manifest.file.path, *line, message)));
    }
    findings
}

/// Versions are defined once, in `[workspace.dependencies]`.
pub(super) fn crates_inherit_versions(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for manifest in Manifest::members(tree) {
        let path = &manifest.file.path;
        for dependency in manifest.dependencies().iter().filter(|d| !d.inherits) {
            let message = format!("take it from the workspace: `{}.workspace = true`", dependency.name);
            findings.push(Finding::new(path, dependency.line, message));
        }
        // `[dependencies.x]` could hide a version and an edge; only one form is allowed.
        let tables = manifest.sections.iter().filter(|(_, name)| name.contains("dependencies."));
        let message = "write it in one line below `[dependencies]`";
        findings.extend(tables.map(|(line, _)| Finding::new(path, *line, message)));
    }
    findings
}

/// Clippy reads only the nearest of these files, so a crate's own file must repeat the lines of the
/// root's. This rule finds a line that was added to the root and is missing there.
const ROOT: &str = "clippy.toml";

/// Crates that must have their own file, because their purity depends on it.
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
