//! Paths in documents. If a file moves, a document that points to it becomes wrong without a
//! change.

use super::Finding;
use super::tree::Tree;

/// The prefixes of paths into this repository; anything else in backticks is just code.
const ROOTS: &[&str] = &["crates/", "docs/", "xtask/", "examples/", ".ci/"];

/// Signs of a pattern or a placeholder, which do not name a single file.
const PATTERN_SIGNS: &[&str] = &["*", "<", "{", "…", "...", "$", "NNNN"];

pub(super) fn named_paths_exist(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files().iter().filter(|file| file.extension() == "md") {
        for (number, line) in lines_outside_fences(&file.text) {
            let quoted = quoted_paths(line).filter(|path| ROOTS.iter().any(|root| path.starts_with(root)));
            let quoted = quoted.map(|path| (path, Some(path.to_owned())));
            let linked = link_targets(line).map(|target| (target, resolve_link(&file.path, target)));
            for (named, path) in quoted.chain(linked) {
                let exists = path.is_some_and(|path| tree.exists(path.trim_end_matches('/')));
                if !exists {
                    findings.push(Finding::new(&file.path, number, format!("`{named}` does not exist")));
                }
            }
        }
    }
    findings
}

/// Lines outside fenced blocks, because blocks may show folders of other projects.
fn lines_outside_fences(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        (!fenced && !fence).then_some((index + 1, line))
    })
}

/// Paths between backticks, without a suffix such as a line number, an item, an anchor.
fn quoted_paths(line: &str) -> impl Iterator<Item = &str> {
    line.split('`')
        .skip(1)
        .step_by(2)
        .filter_map(|code| code.split([' ', ':', '#', ',']).next())
        .filter(|path| !is_pattern(path))
}

/// Targets of `[text](target)` inside this repository.
fn link_targets(line: &str) -> impl Iterator<Item = &str> {
    line.split("](")
        .skip(1)
        .filter_map(|rest| rest.split([')', ' ', '#']).next())
        .filter(|target| !target.is_empty() && !target.contains("://"))
        .filter(|target| !target.starts_with("mailto:") && !is_pattern(target))
}

fn is_pattern(path: &str) -> bool {
    PATTERN_SIGNS.iter().any(|sign| path.contains(sign))
}

/// A link is relative to its document, or to the root if it starts with a slash. `None` if it
/// leaves the repository.
fn resolve_link(document: &str, target: &str) -> Option<String> {
    let (base, target) = match target.strip_prefix('/') {
        Some(from_root) => ("", from_root),
        None => (document.rsplit_once('/').map_or("", |(folder, _)| folder), target),
    };
    let mut folders: Vec<&str> = base.split('/').filter(|name| !name.is_empty()).collect();
    for name in target.split('/') {
        match name {
            "" | "." => {}
            ".." => {
                folders.pop()?;
            }
            name => folders.push(name),
        }
    }
    Some(folders.join("/"))
}
