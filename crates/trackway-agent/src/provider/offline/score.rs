//! Which tool a user means, from the words of names and descriptions.

use std::sync::Arc;

use super::toolbox;
use crate::conversation::ToolSpec;

/// What a word of a tool's name counts. Names are chosen to be said; descriptions only mention.
const NAME_WEIGHT: usize = 4;
/// What has to come together: one word of a name, or two of a description.
const SCORE_MIN: usize = 2;
/// Words this long may differ in their endings.
const STEM_MIN: usize = 5;

/// Words of a message that are compared: what is wanted stands at its beginning.
/// Limit (Agents): words of a message that the offline model compares.
const SAID_MAX: usize = 200;

/// Words that say nothing about what is meant.
const EMPTY_WORDS: &[&str] = &[
    "a", "all", "an", "and", "any", "are", "as", "asks", "at", "be", "but", "by", "can", "could",
    "do", "does", "for", "from", "get", "gets", "give", "given", "gives", "go", "has", "have",
    "hello", "hi", "how", "i", "if", "in", "is", "it", "its", "let", "like", "make", "me", "my",
    "need", "no", "not", "now", "of", "on", "one", "or", "out", "please", "run", "so", "some",
    "start", "thank", "thanks", "that", "the", "then", "there", "this", "to", "tool", "up", "use",
    "want", "was", "what", "when", "where", "which", "who", "why", "will", "with", "workflow",
    "would", "you", "your",
];

/// The tools that fit best; several where none fits better than the others.
pub(super) fn best<'a>(tools: &'a [Arc<ToolSpec>], text: &str) -> Vec<&'a ToolSpec> {
    let said = words(text);
    let (workflows, others): (Vec<_>, Vec<_>) = tools
        .iter()
        .map(AsRef::as_ref)
        .filter(|tool| toolbox::is_for_words(tool))
        .partition(|tool| toolbox::is_workflow(tool));
    let best = best_of(&workflows, &said);
    if best.is_empty() { best_of(&others, &said) } else { best }
}

fn best_of<'a>(tools: &[&'a ToolSpec], said: &[String]) -> Vec<&'a ToolSpec> {
    let scored = tools.iter().map(|tool| (score(tool, said), *tool));
    let scored: Vec<_> = scored.filter(|(score, _)| *score >= SCORE_MIN).collect();
    let top = scored.iter().map(|(score, _)| *score).max();
    scored.into_iter().filter(|(score, _)| Some(*score) == top).map(|(_, tool)| tool).collect()
}

fn score(tool: &ToolSpec, said: &[String]) -> usize {
    let names = words(toolbox::spoken(&tool.name));
    let described = words(&tool.description);
    let hits =
        |words: &[String]| words.iter().filter(|word| said.iter().any(|s| same(s, word))).count();
    let described: Vec<String> =
        described.into_iter().filter(|word| !names.iter().any(|name| same(name, word))).collect();
    NAME_WEIGHT * hits(&names) + hits(&described)
}

/// The telling words of a text, each once, in lower case; `camelCase` and `snake_case` are taken apart.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for word in pieces(text) {
        if found.len() == SAID_MAX {
            break;
        }
        if !EMPTY_WORDS.contains(&word.as_str()) && !found.contains(&word) {
            found.push(word);
        }
    }
    found
}

/// All words of a text in their order.
pub(super) fn pieces(text: &str) -> Vec<String> {
    let mut spaced = String::with_capacity(text.len());
    let mut was_lower = false;
    for c in text.chars() {
        if c.is_uppercase() && was_lower {
            spaced.push(' ');
        }
        was_lower = c.is_lowercase();
        spaced.push(c);
    }
    spaced
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// Whether two words are forms of one: `say` and `says`, `invest` and `investment`.
fn same(left: &str, right: &str) -> bool {
    if left == right || is_plural(left, right) || is_plural(right, left) {
        return true;
    }
    let common = left.chars().zip(right.chars()).take_while(|(l, r)| l == r).count();
    let endings = [left, right].map(|word| word.chars().count() - common);
    common >= STEM_MIN && endings.into_iter().min().is_some_and(|shorter| shorter <= 1)
}

fn is_plural(one: &str, many: &str) -> bool {
    one.len() >= 3 && (many.strip_suffix('s') == Some(one) || many.strip_suffix("es") == Some(one))
}
