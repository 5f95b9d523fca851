//! Arguments out of words: only what the user wrote, and only where it is clear which field it is for.

use serde_json::{Map, Value};

use super::{
    assignments::{self, Assignments},
    fields::{self, Field},
    instance, score, toolbox,
};
use crate::conversation::ToolSpec;

/// Longest text that is searched for values: what is longer is a document, not a wish.
/// Limit (Agents): bytes of a message that the offline model searches for values.
const SEARCHED_MAX: usize = 8_000;

/// Words that may stand between a field and its value.
const BETWEEN: &[&str] = &["is", "of", "to", "as", "=", ":", "be", "equals"];

/// Fields for words that are said as they are: what follows a tool's name belongs there.
const SAID: &[&str] =
    &["text", "message", "prompt", "query", "question", "content", "input", "subject", "topic"];

/// What the text says about the tool's fields.
pub(super) fn fill(tool: &ToolSpec, text: &str) -> Map<String, Value> {
    let fields = fields::fields(&tool.schema);
    let mut found = Map::new();
    if text.len() > SEARCHED_MAX {
        found.extend(after_name(tool, &fields, text));
        return found;
    }
    for object in instance::objects(text) {
        for (key, value) in object {
            if fields.iter().any(|field| field.name == key) {
                found.insert(key, value);
            }
        }
    }
    for (key, written) in Assignments::read(text).pairs {
        let field = fields::find(&fields, &key);
        if let Some((field, value)) =
            field.and_then(|field| Some((field, written.value(&field.shape)?)))
        {
            found.insert(field.name.to_owned(), value);
        }
    }
    if found.is_empty()
        && let Some((name, rest)) = after_name(tool, &fields, text)
    {
        found.insert(name, rest);
        return found;
    }
    quoted_texts(&fields, text, &mut found);
    let words: Vec<&str> = text.split_whitespace().map(bare).collect();
    for field in &fields {
        if !found.contains_key(field.name)
            && let Some(value) = mentioned(field, &words).or_else(|| recognised(field, &words))
        {
            found.insert(field.name.to_owned(), value);
        }
    }
    only_number(&fields, &words, &mut found);
    found
}

/// `echo hello world`: a tool whose one required field is for words takes what follows its name.
fn after_name(tool: &ToolSpec, fields: &[Field<'_>], text: &str) -> Option<(String, Value)> {
    let mut required = fields.iter().filter(|field| field.required);
    let is_said = |field: &&Field<'_>| field.shape.is_free_text() && SAID.contains(&field.name);
    let field = required.next().filter(is_said)?;
    if required.next().is_some() {
        return None;
    }
    let (first, rest) = text.trim().split_once(char::is_whitespace)?;
    let name = toolbox::spoken(&tool.name);
    let is_named = first.trim_end_matches([':', ',']).eq_ignore_ascii_case(name);
    let rest = match assignments::quoted(rest.trim()) {
        Some((inside, "")) => inside,
        _ => rest.trim().to_owned(),
    };
    (is_named && !rest.is_empty()).then(|| (field.name.to_owned(), Value::String(rest)))
}

/// Quoted texts go to the text fields that are still missing, where there are as many of both.
fn quoted_texts(fields: &[Field<'_>], text: &str, found: &mut Map<String, Value>) {
    let open: Vec<&Field<'_>> = fields
        .iter()
        .filter(|field| field.required && field.shape.is_free_text())
        .filter(|field| !found.contains_key(field.name))
        .collect();
    let quotes = quotes(text);
    if quotes.len() == open.len() {
        for (field, quote) in open.into_iter().zip(quotes) {
            found.insert(field.name.to_owned(), Value::String(quote));
        }
    }
}

fn quotes(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    let mut at_word = true;
    while let Some(c) = rest.chars().next() {
        match assignments::quoted(rest).filter(|_| at_word) {
            Some((inside, after)) => {
                found.push(inside);
                rest = after;
            }
            None => rest = &rest[c.len_utf8()..],
        }
        at_word = c.is_whitespace();
    }
    found
}

/// `wallet 0x123`, `amount is 100`: the value behind the words of a field's name.
fn mentioned(field: &Field<'_>, words: &[&str]) -> Option<Value> {
    let name = score::pieces(field.name);
    let starts = 0..words.len();
    let behind = starts.filter_map(|start| {
        let said = words[start..]
            .iter()
            .zip(&name)
            .take_while(|(said, word)| said.to_lowercase() == **word);
        let length = said.count();
        (length > 0).then(|| &words[start + length..])
    });
    for rest in behind {
        let is_between = |word: &&&str| BETWEEN.contains(&word.to_lowercase().as_str());
        let skipped = rest.iter().take_while(is_between).count();
        let Some(word) = rest.get(skipped) else { continue };
        // A plain word may be anything; an address, a number or a code is meant as a value.
        let is_telling = word.contains(|c: char| c.is_ascii_digit() || "@/:#_".contains(c));
        let wants_more = field.shape.is_free_text() && !is_telling;
        if !wants_more && let Some(value) = field.shape.read(word) {
            return Some(value);
        }
    }
    None
}

/// A value that shows by itself which required field it is for: one of its choices, or its format.
fn recognised(field: &Field<'_>, words: &[&str]) -> Option<Value> {
    if !field.required {
        return None;
    }
    let fits = |word: &&&str| match field.shape.format {
        Some("uri" | "url") => word.contains("://"),
        Some("email") => word.contains('@'),
        Some("date") => word.len() == 10 && word.bytes().filter(|b| *b == b'-').count() == 2,
        _ => !field.shape.choices.is_empty(),
    };
    let mut values = words.iter().filter(fits).filter_map(|word| field.shape.read(word));
    let value = values.next()?;
    values.all(|other| other == value).then_some(value)
}

/// The only number in the text is for the only required number that is missing.
fn only_number(fields: &[Field<'_>], words: &[&str], found: &mut Map<String, Value>) {
    let missing = |field: &&Field<'_>| {
        field.required && field.shape.is_number() && !found.contains_key(field.name)
    };
    let open: Vec<&Field<'_>> = fields.iter().filter(missing).collect();
    let numbers: Vec<&&str> = words.iter().filter(|word| word.parse::<f64>().is_ok()).collect();
    if let ([field], [number]) = (open.as_slice(), numbers.as_slice())
        && let Some(value) = field.shape.read(number)
    {
        found.insert(field.name.to_owned(), value);
    }
}

/// A word without the marks of the sentence around it.
fn bare(word: &str) -> &str {
    word.trim_end_matches(['.', ',', ';', '!', '?', ')', ':']).trim_start_matches('(')
}
