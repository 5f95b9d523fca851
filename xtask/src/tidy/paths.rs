//! Paths that lead out of the repository. A clone does not have the files there.

use super::Finding;
use super::tree::{File, Tree};

/// The one script that may use files next to the checkout.
const EXEMPT: &str = ".ci/run";
/// Tests of these rules, which contain bad lines.
const EXAMPLES: &str = "xtask/src/tidy/tests/";

/// Parent folders of home folders, on any system.
const HOMES: &[&str] = &[concat!("/ho", "me/"), concat!("/Us", "ers/"), concat!(":\\Us", "ers\\")];
/// The home of the administrator.
const ROOT_HOME: &str = concat!("/ro", "ot/");

/// Folders that exist on every Linux and hold no personal data.
const SYSTEM: &[&str] = &["/bin/", "/dev/", "/proc/", "/usr/bin/"];

/// How a manifest names a folder. In Rust this is a variable.
const IN_MANIFEST: &str = "path = ";
/// What opens the file whose path follows, in Rust and Python.
const OPENERS: &[&str] = &[
    "File::open(",
    "fs::copy(",
    "fs::read(",
    "include!(",
    "include_bytes!(",
    "include_str!(",
    " open(",
    "read_dir(",
    "read_to_string(",
];

/// Absolute paths that exist only on one machine: a home folder, and the folders of this checkout and
/// of the tools that build it.
pub(super) fn no_machine_paths(tree: &Tree) -> Vec<Finding> {
    let message = "a path of one machine; make it relative or a setting";
    let own: Vec<String> = tree.machine_folders().iter().map(|path| format!("{path}/")).collect();
    let bad = |line: &str| {
        let homes = HOMES.iter().any(|home| has_home_path(line, home));
        let own = own.iter().map(String::as_str).chain([ROOT_HOME]);
        homes || own.into_iter().any(|folder| has_path_starting_with(line, folder))
    };
    tree.files().iter().flat_map(|file| file.find(bad, message)).collect()
}

/// A home folder with the name of a user.
fn has_home_path(line: &str, home: &str) -> bool {
    line.match_indices(home).any(|(at, _)| {
        let begins = !line[..at].ends_with(|c: char| is_name_char(c) && !home.starts_with(':'));
        begins && line[at + home.len()..].starts_with(char::is_alphanumeric)
    })
}

/// Whether a path starts with this folder: no other name or folder comes before it.
fn has_path_starting_with(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| !line[..at].ends_with(is_name_char))
}

/// No source, test, script or manifest reads files outside the repository.
pub(super) fn nothing_reads_outside(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files().iter().filter(|file| is_source(file) && !is_exempt(&file.path)) {
        let package = package_depth(tree, file);
        for (number, line) in file.lines() {
            let code = without_comment(line);
            // Inclusions are relative to the folder of the file, tests run in the folder of the
            // package.
            let of_file = !file.is_rust() || code.contains("include") || code.contains("#[path");
            let depth = if of_file { depth(&file.path) } else { package };
            let climbs = relative_paths(code).any(|word| climbs_out(word, depth));
            let openers = OPENERS.iter().chain((file.extension() == "toml").then_some(&IN_MANIFEST));
            if climbs || openers.into_iter().any(|opener| opens_absolute(code, opener)) {
                let message = "it reads outside the repository; put what it needs into it";
                findings.push(Finding::new(&file.path, number, message));
            }
        }
    }
    findings
}

fn is_exempt(path: &str) -> bool {
    path == EXEMPT || path.starts_with(EXAMPLES)
}

fn is_source(file: &File) -> bool {
    let known = ["rs", "toml", "sh", "py", "js", "cjs", "mjs", "ts", "tsx", "yml", "yaml"];
    known.contains(&file.extension()) || file.text.starts_with("#!")
}

/// The depth of a file in folders.
fn depth(path: &str) -> usize {
    path.matches('/').count()
}

/// The depth of the folder of the file's package.
fn package_depth(tree: &Tree, file: &File) -> usize {
    let mut folder = file.path.as_str();
    while let Some((above, _)) = folder.rsplit_once('/') {
        if tree.exists(&format!("{above}/Cargo.toml")) {
            return depth(above) + 1;
        }
        folder = above;
    }
    0
}

fn without_comment(line: &str) -> &str {
    let line = line.trim_start();
    if line.starts_with("//") || line.starts_with('#') && !line.starts_with("#[") { "" } else { line }
}

/// Everything in a line that could be a path.
fn relative_paths(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !(is_name_char(c) || c == '/'))
        .filter(|word| word.contains("../") || word.ends_with("/.."))
}

/// Whether a path leads above the root, from a folder of this depth.
fn climbs_out(path: &str, depth: usize) -> bool {
    let mut left = Some(depth);
    for part in path.split('/') {
        left = match (part, left) {
            (_, None) => return true,
            ("" | ".", left) => left,
            ("..", Some(left)) => left.checked_sub(1),
            (_, Some(left)) => Some(left + 1),
        };
    }
    left.is_none()
}

/// Whether a line opens an absolute path with this opener.
fn opens_absolute(line: &str, opener: &str) -> bool {
    line.match_indices(opener).any(|(at, _)| {
        let argument = line[at + opener.len()..].trim_start_matches("format!(");
        let path = argument.strip_prefix(['"', '\'']).unwrap_or_default();
        path.starts_with('/') && !SYSTEM.iter().any(|system| path.starts_with(system))
    })
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.')
}
