//! Patterns in definition files.

use regex_syntax::hir::{Class, Hir, HirKind};

/// Patterns come from files: a compiled one takes no more memory than this.
/// Limit (Definitions): memory of one compiled pattern.
const PATTERN_BYTES_MAX: usize = 256 * 1024;

/// Steps of a pattern with lookaround, which may backtrack; a fraction of a second.
/// Limit (Definitions): backtracking steps of one pattern.
const STEPS_MAX: usize = 200_000;

/// A longer text does not explain a pattern better.
/// Limit (Definitions): text made as an example for a pattern.
const SAMPLE_BYTES_MAX: usize = 4 * 1024;

/// A pattern that is ready to be used.
#[derive(Debug)]
pub(crate) enum CompiledPattern {
    /// It matches in linear time.
    Linear(regex::Regex),
    /// It has lookaround, as in JavaScript: `(?!…)`. If matching takes too long, it does not match.
    Backtracking(Box<fancy_regex::Regex>),
}

/// Whether case matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CaseSensitivity {
    Sensitive,
    Insensitive,
}

impl CompiledPattern {
    pub(crate) fn new(pattern: &str, case: CaseSensitivity) -> Result<Self, String> {
        let any_case = case == CaseSensitivity::Insensitive;
        let plain = regex::RegexBuilder::new(pattern)
            .case_insensitive(any_case)
            .size_limit(PATTERN_BYTES_MAX)
            .build();
        let error = match plain {
            Ok(plain) => return Ok(Self::Linear(plain)),
            Err(error) => error,
        };
        let looking = fancy_regex::RegexBuilder::new(pattern)
            .case_insensitive(any_case)
            .backtrack_limit(STEPS_MAX)
            .delegate_size_limit(PATTERN_BYTES_MAX)
            .build();
        match (&error, looking) {
            (regex::Error::Syntax(_), Ok(looking)) => Ok(Self::Backtracking(Box::new(looking))),
            _ => Err(format!("The pattern `{pattern}` cannot be used: {error}")),
        }
    }

    pub(crate) fn is_match(&self, text: &str) -> bool {
        match self {
            Self::Linear(pattern) => pattern.is_match(text),
            Self::Backtracking(pattern) => pattern.is_match(text).unwrap_or(false),
        }
    }
}

/// A short text that a pattern is likely to match; none if it has lookaround or is too long.
pub(crate) fn sample_text_matching(pattern: &str) -> Option<String> {
    let mut text = String::new();
    write_sample_match(&regex_syntax::parse(pattern).ok()?, &mut text)?;
    Some(text)
}

fn write_sample_match(hir: &Hir, text: &mut String) -> Option<()> {
    if text.len() > SAMPLE_BYTES_MAX {
        return None;
    }
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => text.push_str(std::str::from_utf8(&literal.0).ok()?),
        HirKind::Class(class) => text.push(sample_char_of_class(class)?),
        HirKind::Repetition(repetition) => {
            for _ in 0..repetition.min {
                write_sample_match(&repetition.sub, text)?;
            }
        }
        HirKind::Capture(capture) => write_sample_match(&capture.sub, text)?,
        HirKind::Concat(parts) => parts.iter().try_for_each(|part| write_sample_match(part, text))?,
        HirKind::Alternation(choices) => write_sample_match(choices.first()?, text)?,
    }
    Some(())
}

/// A character of a class, preferably a readable one.
fn sample_char_of_class(class: &Class) -> Option<char> {
    let Class::Unicode(class) = class else { return None };
    let holds = |wanted: &char| class.iter().any(|range| (range.start()..=range.end()).contains(wanted));
    let readable = ('a'..='z').chain('A'..='Z').chain('1'..='9').chain(['0', ' ', '-', '…']);
    readable.into_iter().find(holds).or_else(|| class.iter().next().map(|range| range.start()))
}

#[cfg(test)]
mod tests;
