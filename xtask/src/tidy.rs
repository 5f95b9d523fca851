//! The repository's own rules, which neither rustc nor clippy can check.
//!
//! A rule is a pure function from the tree of files to findings, so that its test is a few lines of
//! text. This file reads the tree, runs every rule and prints the findings.

mod crates;
mod dependencies;
mod edges;
mod limits;
mod links;
mod manifest;
mod names;
mod pages;
mod paths;
mod rust;
mod text;
mod tree;

use std::fmt;

use anyhow::{Result, bail};

use crate::repo;
use tree::Tree;

type Rule = fn(&Tree) -> Vec<Finding>;

const RULES: &[Rule] = &[
    rust::opens_with_module_doc,
    rust::no_mod_rs,
    rust::files_are_short,
    rust::no_ignored_tests,
    rust::no_unexplained_sleep,
    rust::one_file_appends,
    text::no_trailing_whitespace,
    text::no_tabs,
    text::no_marks,
    paths::no_machine_paths,
    paths::nothing_reads_outside,
    edges::edges_run_downward,
    edges::core_stays_light,
    crates::crates_have_readme,
    crates::crates_inherit_lints,
    crates::crates_have_no_features,
    crates::crates_inherit_versions,
    crates::strict_files_repeat_the_root,
    limits::bounds_are_marked,
    links::named_paths_exist,
    names::names_are_not_vague,
    names::public_types_use_the_vocabulary,
    pages::every_code_has_a_page,
    pages::decisions_are_numbered,
    pages::starts_in_two_commands,
    pages::tests_name_requirements,
    dependencies::denied_stay_out,
    dependencies::duplicates_have_a_reason,
    dependencies::sources_are_crates_io,
];

/// Something to fix, at a position that an editor can open.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    path: String,
    line: usize,
    message: String,
}

impl Finding {
    fn new(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

pub(crate) fn run() -> Result<()> {
    let tree = Tree::read(&repo::files()?)?;
    let mut findings: Vec<Finding> = RULES.iter().flat_map(|rule| rule(&tree)).collect();
    findings.sort();
    for finding in &findings {
        println!("{finding}");
    }
    if !findings.is_empty() {
        bail!("tidy found {} things to put right", findings.len());
    }
    eprintln!("tidy: {} rules, {} files, nothing found.", RULES.len(), tree.files().len());
    Ok(())
}

#[cfg(test)]
mod tests;
