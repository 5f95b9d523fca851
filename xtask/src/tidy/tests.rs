//! Every rule, shown failing and shown content, on trees of a few lines.

mod documents;
mod manifests;
mod sources;

use super::Rule;
use super::tree::{File, Tree};

/// Runs one rule over a tree given as `(path, text)` and compares the places (`path:line`) found.
fn check(rule: Rule, files: &[(&str, &str)], expected: &[&str]) {
    let file =
        |(path, text): &(&str, &str)| File { path: (*path).to_owned(), text: (*text).to_owned() };
    let tree = Tree::new(files.iter().map(file).collect());
    let found: Vec<String> =
        rule(&tree).iter().map(|finding| format!("{}:{}", finding.path, finding.line)).collect();
    assert_eq!(found, expected);
}
