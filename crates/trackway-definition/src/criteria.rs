//! What notes have to be like.

use regex::RegexBuilder;
use serde_json::Value;
use trackway_domain::{Block, Need, Object};

use crate::condition::holds;
use crate::lack::Lack;
use crate::model::{Criteria, TextTest};
use crate::schema;

/// The place of the notes in a call's arguments.
const NOTES: &str = "/notesMarkdown";

/// Patterns come from files: a compiled one takes no more memory than this.
const PATTERN_BYTES_MAX: usize = 256 * 1024;

/// An example that is longer says no more.
const EXAMPLE_CHARS_MAX: usize = 16 * 1024;

/// Whether notes are as they have to be. No notes are judged like empty ones.
pub(crate) fn check(
    criteria: &Criteria,
    notes: Option<&str>,
    context: &Object,
) -> Result<(), Block> {
    let text = notes.unwrap_or_default();
    let mut reasons = Vec::new();
    if judge(criteria, text, context, &mut reasons)? {
        return Ok(());
    }
    let message = reasons.join("; ");
    let need = Need {
        pointer: NOTES.to_owned(),
        message: message.clone(),
        schema: Some(serde_json::json!({ "type": "string" })),
        example: example(criteria, text, context).map(Value::from),
        got: notes.map(|notes| schema::cut(&Value::from(notes))),
    };
    Err(Block { code: "notes-invalid".to_owned(), message, needs: vec![need] })
}

/// Why a pattern of the criteria cannot be used, for whoever reads a definition.
pub(crate) fn text_pattern_fault(pattern: &str) -> Option<String> {
    compile(pattern).err().map(|error| format!("The pattern `{pattern}` cannot be used: {error}"))
}

fn judge(
    criteria: &Criteria,
    text: &str,
    context: &Object,
    reasons: &mut Vec<String>,
) -> Result<bool, Lack> {
    match criteria {
        Criteria::All(all) => {
            let mut fits = true;
            for one in all {
                fits &= judge(one, text, context, reasons)?;
            }
            Ok(fits)
        }
        Criteria::Any(any) => {
            let mut said = Vec::new();
            for one in any {
                if judge(one, text, context, &mut said)? {
                    return Ok(true);
                }
            }
            if !any.is_empty() {
                reasons.push(said.join(", or: "));
            }
            Ok(any.is_empty())
        }
        Criteria::Not(inner) => {
            let fits = !judge(inner, text, context, &mut Vec::new())?;
            if !fits {
                reasons.push(format!("The notes are not to be like this: {}", opposite(inner)));
            }
            Ok(fits)
        }
        Criteria::Rule { when, test, message } => {
            if let Some(when) = when
                && !holds(when, context)?
            {
                return Ok(true);
            }
            let fits = passes(test, text);
            if !fits {
                reasons.push(if message.is_empty() { said(test) } else { message.clone() });
            }
            Ok(fits)
        }
    }
}

fn passes(test: &TextTest, text: &str) -> bool {
    match test {
        TextTest::Contains(part) => text.contains(part.as_str()),
        // Whoever reads definitions refuses a pattern that cannot be used; nothing matches it.
        TextTest::Matches(pattern) => compile(pattern).is_ok_and(|pattern| pattern.is_match(text)),
        TextTest::Length { min, max } => {
            let length = text.chars().count() as u64;
            min.is_none_or(|min| length >= min) && max.is_none_or(|max| length <= max)
        }
        TextTest::Schema(schema) => serde_json::from_str::<Value>(text)
            .is_ok_and(|value| schema::needs(schema, &value, "", None).is_empty()),
    }
}

fn said(test: &TextTest) -> String {
    match test {
        TextTest::Contains(part) => format!("The notes have to contain \"{part}\""),
        TextTest::Matches(pattern) => format!("The notes have to match `{pattern}`"),
        TextTest::Length { min: Some(min), max: Some(max) } => {
            format!("The notes have to have {min} to {max} characters")
        }
        TextTest::Length { min: Some(min), .. } => {
            format!("The notes have to have at least {min} characters")
        }
        TextTest::Length { max: Some(max), .. } => {
            format!("The notes have to have at most {max} characters")
        }
        TextTest::Length { .. } => "The notes may have any length".to_owned(),
        TextTest::Schema(schema) => format!("The notes have to be JSON that fits {schema}"),
    }
}

fn opposite(criteria: &Criteria) -> String {
    match criteria {
        Criteria::All(all) | Criteria::Any(all) => {
            all.iter().map(opposite).collect::<Vec<_>>().join(", ")
        }
        Criteria::Not(inner) => opposite(inner),
        Criteria::Rule { test, .. } => said(test),
    }
}

fn compile(pattern: &str) -> Result<regex::Regex, regex::Error> {
    RegexBuilder::new(pattern).size_limit(PATTERN_BYTES_MAX).build()
}

/// Notes that would do: those given with what they lack, or new ones; tried before they are offered.
fn example(criteria: &Criteria, text: &str, context: &Object) -> Option<String> {
    let mut draft = Draft::default();
    draft.gather(criteria, context);
    let drafts = [draft.json.clone(), Some(draft.written(text)), Some(draft.written(""))];
    drafts.into_iter().flatten().find(|draft| {
        draft.len() <= EXAMPLE_CHARS_MAX
            && judge(criteria, draft, context, &mut Vec::new()).unwrap_or(false)
    })
}

/// What notes have to have, gathered from every rule that can be met by writing.
#[derive(Default)]
struct Draft {
    parts: Vec<String>,
    least: u64,
    json: Option<String>,
}

impl Draft {
    fn gather(&mut self, criteria: &Criteria, context: &Object) {
        match criteria {
            Criteria::All(all) => all.iter().for_each(|one| self.gather(one, context)),
            Criteria::Any(any) => any.iter().take(1).for_each(|one| self.gather(one, context)),
            Criteria::Not(_) => {}
            Criteria::Rule { when, test, .. } => {
                let counts = when.as_ref().is_none_or(|when| holds(when, context).unwrap_or(false));
                match test {
                    _ if !counts => {}
                    TextTest::Contains(part) => self.parts.push(part.clone()),
                    // A pattern of plain letters is met by itself.
                    TextTest::Matches(pattern) => {
                        let plain = pattern.trim_start_matches("(?i)").trim_matches(['^', '$']);
                        self.parts.push(plain.to_owned());
                    }
                    TextTest::Length { min, .. } => self.least = self.least.max(min.unwrap_or(0)),
                    TextTest::Schema(schema) => {
                        self.json = Some(schema::made(schema, schema).to_string());
                    }
                }
            }
        }
    }

    fn written(&self, start: &str) -> String {
        let mut text = start.to_owned();
        for part in &self.parts {
            if !text.contains(part.as_str()) {
                if !text.is_empty() {
                    text.push('\n');
                }
                text.push_str(part);
            }
        }
        let least = self.least.min(EXAMPLE_CHARS_MAX as u64) as usize;
        let short = least.saturating_sub(text.chars().count());
        text.extend(std::iter::repeat_n('…', short));
        text
    }
}

#[cfg(test)]
mod tests;
