//! Rules for names: a reader who has not opened the file knows what a name means.

use std::collections::BTreeSet;

use super::Finding;
use super::tree::{File, Tree};

/// Names that say nothing alone: each could mean many different things.
const VAGUE: &[&str] = &[
    "alone", "anew", "aside", "asked", "beside", "beyond", "came_as", "each", "flaw", "given", "gone_on",
    "heard", "held", "known", "lack", "made", "made_as", "mend", "mended", "misfit", "place", "placed",
    "places", "said", "say", "says", "seen", "shown", "shows", "standing", "taken", "tell", "tells", "told",
    "whole", "whose", "within", "written",
];

/// The keywords before a name that is defined.
const DEFINES: [&str; 6] = ["enum", "fn", "mod", "struct", "trait", "type"];

/// The ordinary words in names of public types, one per line. Other words are in the glossary.
const VOCABULARY: &str = include_str!("vocabulary.txt");

const GLOSSARY: &str = "ARCHITECTURE.md";

/// Functions, types and modules are not named by a word of [`VAGUE`].
pub(super) fn names_are_not_vague(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust_files().filter(|file| !is_generated(file)) {
        for (number, line) in file.lines() {
            let Some((_, name)) = definition(line) else { continue };
            if VAGUE.contains(&snake_case(name).as_str()) {
                let message = format!("`{name}` says nothing alone: say what it is or does");
                findings.push(Finding::new(&file.path, number, message));
            }
        }
    }
    findings
}

/// Public types are named by words of the field, or by words that the glossary explains.
pub(super) fn public_types_use_the_vocabulary(tree: &Tree) -> Vec<Finding> {
    let known: BTreeSet<String> = VOCABULARY.lines().map(str::to_owned).chain(glossary(tree)).collect();
    let is_product =
        |file: &&File| file.path.starts_with("crates/") && file.path.contains("/src/") && !file.is_test();
    let mut findings = Vec::new();
    for file in tree.rust_files().filter(is_product).filter(|file| !is_generated(file)) {
        for (number, line) in file.lines() {
            let Some((kind, name)) = definition(line) else { continue };
            if !line.starts_with("pub ") || matches!(kind, "fn" | "mod") {
                continue;
            }
            let snake = snake_case(name);
            if let Some(word) = snake.split('_').find(|word| !known.contains(*word)) {
                let message = format!(
                    "`{word}` in `{name}` is neither in the glossary of {GLOSSARY} nor in \
                     xtask/src/tidy/vocabulary.txt: use a word of the field, or explain it there"
                );
                findings.push(Finding::new(&file.path, number, message));
            }
        }
    }
    findings
}

/// The words of the first column of the glossary.
fn glossary(tree: &Tree) -> Vec<String> {
    let Some(page) = tree.files().iter().find(|file| file.path == GLOSSARY) else {
        return Vec::new();
    };
    let rows = page.text.lines().skip_while(|line| *line != "## Words");
    let rows = rows.skip(1).take_while(|line| !line.starts_with("## "));
    rows.filter_map(|line| line.strip_prefix("| ")?.split(" | ").next())
        .flat_map(|cell| cell.split(|letter: char| !letter.is_alphanumeric()))
        .map(str::to_lowercase)
        .collect()
}

/// The kind and name that a line defines.
fn definition(line: &str) -> Option<(&str, &str)> {
    let mut words = line
        .split_whitespace()
        .skip_while(|word| word.starts_with("pub") || ["async", "const", "unsafe", "extern"].contains(word));
    let kind = words.next().filter(|word| DEFINES.contains(word))?;
    let rest = words.next()?;
    let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
    let name = &rest[..end.unwrap_or(rest.len())];
    (!name.is_empty()).then_some((kind, name))
}

fn snake_case(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    for letter in name.chars() {
        if letter.is_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}

/// Code of the `.proto` files has the names of the protocol.
fn is_generated(file: &File) -> bool {
    file.path.contains("/generated/")
}
