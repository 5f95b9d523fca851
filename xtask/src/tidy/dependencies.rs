//! The sources of dependencies, and duplicates among them. Checks that need more than the lock file
//! are in `cargo xtask audit`.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use super::tree::{File, Tree};

const LOCK: &str = "Cargo.lock";
/// The rules, which cargo-deny reads too.
const RULES: &str = "deny.toml";
const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// A fork or a private folder cannot be checked for advisories, and may disappear.
pub(super) fn sources_are_crates_io(tree: &Tree) -> Vec<Finding> {
    let message = "a source other than crates.io";
    let bad = |line: &str| {
        let source = line.strip_prefix("source = ").map(|value| value.trim_matches('"'));
        source.is_some_and(|source| source != CRATES_IO)
    };
    tree.file(LOCK).map(|lock| lock.find(bad, message)).unwrap_or_default()
}

/// A second major version costs build time and size: `deny.toml` must give a reason, and must drop it
/// when the duplicate is gone.
pub(super) fn duplicates_have_a_reason(tree: &Tree) -> Vec<Finding> {
    let (Some(lock), Some(rules)) = (tree.file(LOCK), tree.file(RULES)) else { return Vec::new() };
    let skipped = skipped_crates(rules);
    let packages = locked_packages(lock);
    let mut findings = Vec::new();
    for (name, versions) in &packages {
        let majors: BTreeSet<&str> = versions.iter().map(|(_, major)| *major).collect();
        let allowed = |major: &str| skipped.iter().any(|(_, skip)| *skip == format!("{name}@{major}"));
        let unexplained = majors.iter().filter(|major| !allowed(major)).count();
        if majors.len() > 1 && unexplained > 1 {
            let line = versions.last().map_or(1, |(line, _)| *line);
            let message = format!("`{name}` is there in {} majors; say why in {RULES}", majors.len());
            findings.push(Finding::new(LOCK, line, message));
        }
    }
    for (line, skip) in &skipped {
        let twice = skip.split_once('@').is_some_and(|(name, major)| {
            let versions = packages.get(name);
            versions.is_some_and(|all| {
                all.iter().any(|(_, other)| *other == major) && all.iter().any(|(_, other)| *other != major)
            })
        });
        if !twice {
            findings.push(Finding::new(RULES, *line, format!("`{skip}` is not there twice")));
        }
    }
    findings
}

/// Every package of the lock file, with the lines and majors of its versions.
fn locked_packages(lock: &File) -> BTreeMap<&str, Vec<(usize, &str)>> {
    let mut packages: BTreeMap<&str, Vec<(usize, &str)>> = BTreeMap::new();
    let mut name = "";
    for (number, line) in lock.lines() {
        if let Some(value) = line.strip_prefix("name = ") {
            name = value.trim_matches('"');
        } else if let Some(value) = line.strip_prefix("version = ") {
            packages.entry(name).or_default().push((number, major(value.trim_matches('"'))));
        }
    }
    packages
}

/// The part that is equal in compatible versions: `1` of 1.2.3, `0.2` of 0.2.3.
fn major(version: &str) -> &str {
    let parts = if version.starts_with("0.") { 2 } else { 1 };
    let end = version.match_indices('.').nth(parts - 1).map_or(version.len(), |(at, _)| at);
    &version[..end]
}

/// Crates that are excluded on purpose.
pub(super) fn denied_stay_out(tree: &Tree) -> Vec<Finding> {
    let (Some(lock), Some(rules)) = (tree.file(LOCK), tree.file(RULES)) else { return Vec::new() };
    let packages = locked_packages(lock);
    let mut findings = Vec::new();
    for (_, name) in crates_named_in(rules).into_iter().filter(|(_, name)| !name.contains('@')) {
        if let Some((line, _)) = packages.get(name).and_then(|versions| versions.first()) {
            findings.push(Finding::new(LOCK, *line, format!("{RULES} keeps `{name}` out")));
        }
    }
    findings
}

/// The crates that the rules skip, with their majors.
fn skipped_crates(rules: &File) -> Vec<(usize, &str)> {
    crates_named_in(rules).into_iter().filter(|(_, name)| name.contains('@')).collect()
}

/// Every crate that the rules name, with its line.
fn crates_named_in(rules: &File) -> Vec<(usize, &str)> {
    rules
        .lines()
        .filter(|(_, line)| line.trim().starts_with("{ crate = "))
        .filter_map(|(number, line)| Some((number, line.split('"').nth(1)?)))
        .collect()
}
