//! Every rule, with trees of a few lines that it rejects and accepts.

mod documents;
mod manifests;
mod names;
mod paths;
mod sources;

use super::Rule;
use super::tree::{File, Tree};

/// A tree given as `(path, text)`.
fn tree(files: &[(&str, &str)]) -> Tree {
    let file = |(path, text): &(&str, &str)| File { path: (*path).to_owned(), text: (*text).to_owned() };
    Tree::new(files.iter().map(file).collect())
}

/// Runs one rule over a tree and compares the positions (`path:line`) of its findings.
fn check(rule: Rule, files: &[(&str, &str)], expected: &[&str]) {
    let found: Vec<String> =
        rule(&tree(files)).iter().map(|finding| format!("{}:{}", finding.path, finding.line)).collect();
    assert_eq!(found, expected);
}
