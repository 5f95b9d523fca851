//! What a user wants: a tool called, or an answer in words.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{
    assignments::{self, Assignments},
    fields::{self, Field},
    fill, menu, score, text_of, toolbox,
};
use crate::conversation::{Entry, Request, ToolSpec};

/// Questions of ours in a row that are looked back on. Each was answered by the user, so more than a
/// tool has fields is more than is needed.
/// Limit (Agents): earlier questions that the offline model looks back on.
const ASKED_MAX: usize = 32;

/// What is to be done.
#[derive(Debug)]
pub(super) enum Intent<'a> {
    Call {
        tool: String,
        arguments: Map<String, Value>,
    },
    Ask(Ask<'a>),
    Say(String),
    /// Nothing fits.
    Lost,
}

/// A tool that lacks one field.
#[derive(Debug, Clone)]
pub(super) struct Ask<'a> {
    tool: &'a ToolSpec,
    arguments: Map<String, Value>,
    field: Field<'a>,
    /// What was wrong with the value that was given.
    note: Option<String>,
}

impl Ask<'_> {
    pub(super) fn text(&self) -> String {
        let name = toolbox::spoken(&self.tool.name);
        let Field { name: field, description, shape, .. } = &self.field;
        let note = self.note.as_ref().map(|note| format!("{note}\n")).unwrap_or_default();
        let about = description.map(|about| format!(": {about}")).unwrap_or_default();
        let example = menu::example(self.tool);
        format!(
            "{note}To run {name} I need {field} ({}){about}\nWrite it, or everything at once: {example}",
            shape.in_words()
        )
    }
}

/// What the newest entry, which is the user's, asks for. A reply to a question of ours is understood
/// from what the question was about; that is found by understanding the messages before it again.
pub(super) fn understand(request: &Request) -> Intent<'_> {
    let entries = &request.entries;
    let mut asked: Option<Ask<'_>> = None;
    let mut first = entries.len().saturating_sub(1);
    for _ in 0..ASKED_MAX {
        match first.checked_sub(2).map(|before| &entries[before..first]) {
            Some([Entry::User { .. }, Entry::Model { calls, .. }]) if calls.is_empty() => {
                first -= 2
            }
            _ => break,
        }
    }
    while first + 2 < entries.len() {
        let said = match &entries[first + 1] {
            Entry::Model { text, .. } => text.as_str(),
            Entry::User { .. } | Entry::Result { .. } => "",
        };
        asked = match message(&request.tools, asked, &entries[first]) {
            Intent::Ask(ask) if ask.text() == said => Some(ask),
            _ => None,
        };
        first += 2;
    }
    match entries.last() {
        Some(last) => message(&request.tools, asked, last),
        None => Intent::Lost,
    }
}

fn message<'a>(tools: &'a [Arc<ToolSpec>], asked: Option<Ask<'a>>, entry: &Entry) -> Intent<'a> {
    let pieces = match entry {
        Entry::User { pieces } => pieces.as_slice(),
        Entry::Model { .. } | Entry::Result { .. } => &[],
    };
    let text = text_of(pieces);
    let text = text.trim();
    // What is attached to a command is no part of it.
    let alone: Vec<String> =
        pieces.iter().map(|piece| text_of(std::slice::from_ref(piece))).collect();
    let line = alone.iter().map(|piece| piece.trim()).find(|piece| piece.starts_with('/'));
    if let Some(intent) = command(tools, line.unwrap_or(text)) {
        return intent;
    }
    if let Some(intent) = named_in_json(tools, text, &alone) {
        return intent;
    }
    match asked {
        Some(ask) => reply(ask, text),
        None => free(tools, text),
    }
}

/// `/run` and `/help`.
fn command<'a>(tools: &'a [Arc<ToolSpec>], text: &str) -> Option<Intent<'a>> {
    if matches!(text.to_lowercase().as_str(), "help" | "?") {
        return Some(Intent::Say(menu::everything(tools)));
    }
    let line = text.strip_prefix('/')?;
    let (word, rest) = split(line);
    let (name, rest) = split(rest);
    let unknown = |what: &str| Intent::Say(format!("{what}\n{}", menu::greeting(tools)));
    Some(match (word, name) {
        ("help", "") => Intent::Say(menu::everything(tools)),
        ("run", "") => unknown("What is to be run?"),
        ("help" | "run", name) => match toolbox::find(tools, name) {
            Some(tool) if word == "help" => Intent::Say(menu::one(tool)),
            Some(tool) => place(tool, Map::new(), Assignments::read(rest)),
            None => unknown(&format!("There is nothing named {name}.")),
        },
        _ => unknown(&format!("I do not know /{word}.")),
    })
}

/// A JSON object that names what is to be run: alone in the message, or in one of its pieces.
fn named_in_json<'a>(
    tools: &'a [Arc<ToolSpec>],
    text: &str,
    alone: &[String],
) -> Option<Intent<'a>> {
    let texts = std::iter::once(text).chain(alone.iter().map(String::as_str));
    let mut objects = texts.filter_map(|text| {
        let text = text.trim().trim_start_matches("```json").trim_matches('`');
        match serde_json::from_str(text) {
            Ok(Value::Object(object)) => Some(object),
            _ => None,
        }
    });
    objects.find_map(|object| named(tools, object))
}

fn named<'a>(tools: &'a [Arc<ToolSpec>], mut object: Map<String, Value>) -> Option<Intent<'a>> {
    let key = ["workflow", "tool", "name"].into_iter().find(|key| object.contains_key(*key))?;
    let name = object.get(key)?.as_str()?.to_owned();
    let Some(tool) = toolbox::find(tools, &name) else {
        let listed = menu::greeting(tools);
        return (key != "name")
            .then(|| Intent::Say(format!("There is nothing named {name}.\n{listed}")));
    };
    object.remove(key);
    let is_inner = |key: &&str| object.len() == 1 && object.get(*key).is_some_and(Value::is_object);
    let inner = ["input", "arguments", "args", "parameters"].into_iter().find(is_inner);
    let arguments = match inner.and_then(|key| object.remove(key)) {
        Some(Value::Object(arguments)) => arguments,
        _ => object,
    };
    Some(complete(tool, arguments))
}

/// What was written for a tool is put into its fields.
fn place<'a>(
    tool: &'a ToolSpec,
    mut arguments: Map<String, Value>,
    given: Assignments,
) -> Intent<'a> {
    let fields = fields::fields(&tool.schema);
    let name = toolbox::spoken(&tool.name);
    let mut seen: Vec<String> = Vec::new();
    let mut refused: Option<(&Field<'_>, Option<String>)> = None;
    for (key, written) in given.pairs {
        let field = fields::find(&fields, &key);
        let key = field.map_or(key, |field| field.name.to_owned());
        if seen.contains(&key) {
            return Intent::Say(format!("{key} is given twice. {}", menu::example(tool)));
        }
        let value = match field {
            Some(field) => written.value(&field.shape),
            None if fields::is_open(&tool.schema) => written.value(&fields::anything()),
            None => {
                let known: Vec<&str> = fields.iter().map(|field| field.name).collect();
                return Intent::Say(format!(
                    "{name} has no field {key}; it has: {}.\n{}",
                    known.join(", "),
                    menu::example(tool)
                ));
            }
        };
        match (value, field) {
            (Some(value), _) => {
                arguments.insert(key.clone(), value);
            }
            (None, Some(field)) => {
                refused = refused.or_else(|| Some((field, misfit(field, written.text()))));
            }
            (None, None) => {}
        }
        seen.push(key);
    }
    if let Some((field, note)) = refused {
        return Intent::Ask(Ask { tool, arguments, field: field.clone(), note });
    }
    let bare = given.before;
    if bare.is_empty() {
        return complete(tool, arguments);
    }
    if let Ok(Value::Object(object)) = serde_json::from_str(&bare) {
        arguments.extend(object);
        return complete(tool, arguments);
    }
    let missing = missing(&fields, &arguments);
    match missing.as_slice() {
        [only] if only.shape.is_free_text() => {
            arguments.insert(only.name.to_owned(), Value::String(unquoted(&bare)));
            complete(tool, arguments)
        }
        _ => Intent::Say(format!(
            "I cannot tell which field of {name} this is: {bare}\nWrite it so: {}",
            menu::example(tool)
        )),
    }
}

/// The answer to a question of ours: fields with their keys, or the value alone.
fn reply<'a>(ask: Ask<'a>, text: &str) -> Intent<'a> {
    let fields = fields::fields(&ask.tool.schema);
    let given = Assignments::read(text);
    let all_known = given.pairs.iter().all(|(key, _)| fields::find(&fields, key).is_some());
    if given.before.is_empty() && !given.pairs.is_empty() && all_known {
        return place(ask.tool, ask.arguments, given);
    }
    let Ask { tool, mut arguments, field, .. } = ask;
    let text = unquoted(text);
    match field.shape.read(&text).filter(|_| !text.is_empty()) {
        Some(value) => {
            arguments.insert(field.name.to_owned(), value);
            complete(tool, arguments)
        }
        None => {
            let note = misfit(&field, &text);
            Intent::Ask(Ask { tool, arguments, field, note })
        }
    }
}

/// Words without a form: the tool that fits them best, with what they say about its fields.
fn free<'a>(tools: &'a [Arc<ToolSpec>], text: &str) -> Intent<'a> {
    let best = score::best(tools, text);
    match best.as_slice() {
        [] => Intent::Lost,
        [tool] => complete(tool, fill::fill(tool, text)),
        several => {
            let lines = several.iter().map(|tool| menu::example(tool));
            let lines: Vec<String> = lines.collect();
            Intent::Say(format!("Several things fit. Which one is it?\n{}", lines.join("\n")))
        }
    }
}

/// Calls the tool, or asks for the first field that it lacks.
fn complete<'a>(tool: &'a ToolSpec, arguments: Map<String, Value>) -> Intent<'a> {
    let fields = fields::fields(&tool.schema);
    match missing(&fields, &arguments).first() {
        Some(field) => Intent::Ask(Ask { tool, arguments, field: (*field).clone(), note: None }),
        None => Intent::Call { tool: tool.name.clone(), arguments },
    }
}

fn missing<'a, 'b>(fields: &'b [Field<'a>], arguments: &Map<String, Value>) -> Vec<&'b Field<'a>> {
    fields.iter().filter(|field| field.required && !arguments.contains_key(field.name)).collect()
}

fn misfit(field: &Field<'_>, text: &str) -> Option<String> {
    Some(format!("{} is {}, which {text:?} is not.", field.name, field.shape.in_words()))
}

/// The text without the quotes around all of it.
fn unquoted(text: &str) -> String {
    match assignments::quoted(text.trim()) {
        Some((inside, "")) => inside,
        _ => text.trim().to_owned(),
    }
}

fn split(line: &str) -> (&str, &str) {
    let line = line.trim_start();
    line.split_once(char::is_whitespace).unwrap_or((line, ""))
}
