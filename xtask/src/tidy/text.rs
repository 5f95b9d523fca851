//! Rules for text of any kind.

use super::Finding;
use super::tree::Tree;

/// Text that people write. Snapshots and wire goldens keep every byte.
const PROSE_AND_CODE: &[&str] = &["rs", "md", "toml", "sh", "yml", "yaml", "py", "ts", "tsx"];
const CODE: &[&str] = &["rs", "toml", "sh", "yml", "yaml", "py", "ts", "tsx"];

/// In two halves, so that the rule does not find this file.
const MACROS: &[&str] = &[concat!("to", "do!"), concat!("unimple", "mented!")];
const WORDS: &[&str] = &[concat!("FIX", "ME"), concat!("XX", "X")];

pub(super) fn no_trailing_whitespace(tree: &Tree) -> Vec<Finding> {
    let bad = |line: &str| line.ends_with([' ', '\t']);
    find_lines(tree, PROSE_AND_CODE, bad, "whitespace at the end of the line")
}

pub(super) fn no_tabs(tree: &Tree) -> Vec<Finding> {
    find_lines(tree, &["rs"], |line| line.contains('\t'), "a tab; use spaces, or `\\t` in a string")
}

/// Unfinished work belongs in an issue, not in a comment.
pub(super) fn no_marks(tree: &Tree) -> Vec<Finding> {
    let bad = |line: &str| {
        let is_macro = MACROS.iter().any(|mark| has_mark(line, mark, WordBoundary::Before));
        is_macro || WORDS.iter().any(|mark| has_mark(line, mark, WordBoundary::Both))
    };
    find_lines(tree, CODE, bad, "an unfinished mark; finish it or open an issue")
}

/// On which sides a letter would make a mark part of another word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WordBoundary {
    Before,
    Both,
}

fn has_mark(line: &str, mark: &str, side: WordBoundary) -> bool {
    line.match_indices(mark).any(|(at, _)| {
        let before = line[..at].ends_with(is_word_char);
        let after = line[at + mark.len()..].starts_with(is_word_char);
        let part_of_a_word = before || (after && side == WordBoundary::Both);
        !part_of_a_word
    })
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn find_lines(tree: &Tree, extensions: &[&str], bad: impl Fn(&str) -> bool, message: &str) -> Vec<Finding> {
    tree.files()
        .iter()
        .filter(|file| extensions.contains(&file.extension()))
        .flat_map(|file| file.find(&bad, message))
        .collect()
}
