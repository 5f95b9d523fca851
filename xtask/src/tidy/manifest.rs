//! A minimal parser of `Cargo.toml` for the rules: sections, keys and values with their lines.
//!
//! It is written by hand because a TOML parser would take most of this tool's build time, and because
//! the rules are about the text of a manifest, which `cargo metadata` no longer shows.

use super::tree::{File, Tree};

#[derive(Debug)]
pub(super) struct Manifest<'a> {
    pub(super) file: &'a File,
    pub(super) entries: Vec<Entry<'a>>,
    /// Headers such as `dependencies` or `target.'cfg(unix)'.dependencies`.
    pub(super) sections: Vec<(usize, &'a str)>,
}

#[derive(Debug)]
pub(super) struct Entry<'a> {
    pub(super) line: usize,
    pub(super) section: &'a str,
    pub(super) key: &'a str,
    /// Without whitespace and line breaks.
    pub(super) value: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DependencyKind {
    Normal,
    Build,
    Dev,
}

#[derive(Debug)]
pub(super) struct Dependency<'a> {
    pub(super) line: usize,
    pub(super) name: &'a str,
    pub(super) kind: DependencyKind,
    /// Whether version and source come from `[workspace.dependencies]`.
    pub(super) inherits: bool,
}

impl<'a> Manifest<'a> {
    pub(super) fn parse(file: &'a File) -> Self {
        let mut manifest = Self { file, entries: Vec::new(), sections: Vec::new() };
        let mut section = "";
        // How many brackets of a multi-line value are still open.
        let mut open = 0;
        for (line, raw) in file.lines() {
            let text = without_comment(raw).trim();
            if open > 0 {
                open += bracket_balance(text);
                if let Some(entry) = manifest.entries.last_mut() {
                    entry.value.extend(text.split_whitespace());
                }
            } else if text.starts_with('[') {
                section = text.trim_matches(['[', ']']).trim();
                manifest.sections.push((line, section));
            } else if let Some((key, value)) = text.split_once('=') {
                open = bracket_balance(value);
                let value = value.split_whitespace().collect();
                let key = key.trim();
                manifest.entries.push(Entry { line, section, key, value });
            }
        }
        manifest
    }

    /// The manifests of our crates. A folder with its own workspace is another project.
    pub(super) fn members(tree: &'a Tree) -> Vec<Self> {
        tree.files()
            .iter()
            .filter(|file| is_member(&file.path))
            .map(Self::parse)
            .filter(|manifest| manifest.sections.iter().all(|(_, name)| *name != "workspace"))
            .collect()
    }

    pub(super) fn name(&self) -> &str {
        self.value("package", "name").map_or("", |name| name.trim_matches('"'))
    }

    pub(super) fn value(&self, section: &str, key: &str) -> Option<&str> {
        let entry = self.entries.iter().find(|e| e.section == section && e.key == key)?;
        Some(&entry.value)
    }

    pub(super) fn dependencies(&self) -> Vec<Dependency<'a>> {
        let of_entry = |entry: &Entry<'a>| {
            let (name, rest) = entry.key.split_once('.').unwrap_or((entry.key, ""));
            let by_key = rest == "workspace" && entry.value == "true";
            Dependency {
                line: entry.line,
                name,
                kind: dependency_kind(entry.section),
                inherits: by_key || entry.value.contains("workspace=true"),
            }
        };
        self.entries.iter().filter(|entry| entry.section.ends_with("dependencies")).map(of_entry).collect()
    }
}

/// `crates/x`, `examples/x`, `xtask` and `xtask/x`; a template deeper inside a crate is not a member.
fn is_member(path: &str) -> bool {
    let folders: Vec<&str> = path.split('/').collect();
    matches!(
        folders[..],
        ["crates" | "examples", _, "Cargo.toml"] | ["xtask", "Cargo.toml"] | ["xtask", _, "Cargo.toml"]
    )
}

fn dependency_kind(section: &str) -> DependencyKind {
    if section.ends_with("dev-dependencies") {
        DependencyKind::Dev
    } else if section.ends_with("build-dependencies") {
        DependencyKind::Build
    } else {
        DependencyKind::Normal
    }
}

fn without_comment(line: &str) -> &str {
    let mut quoted = false;
    for (at, c) in line.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '#' if !quoted => return &line[..at],
            _ => {}
        }
    }
    line
}

fn bracket_balance(text: &str) -> i32 {
    text.chars()
        .map(|c| match c {
            '[' | '{' => 1,
            ']' | '}' => -1,
            _ => 0,
        })
        .sum()
}
