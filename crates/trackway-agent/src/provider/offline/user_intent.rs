//! The user's intent: a tool call, or an answer in words.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{schema_answer, tool_menu};
use crate::{
    conversation::{ContentPiece, ToolSpec},
    schema_form::{self, AssignmentLine, FieldValueShape, FormField},
    toolset::{REPLY_TOOL, STATUS_TOOL},
};

/// Longest message that is searched for values. A longer one is a document, not a command.
/// Limit (Agents): bytes of a message that the offline model searches for values.
const SEARCHED_MAX: usize = 8_000;

/// The action to take.
#[derive(Debug)]
pub(super) enum UserIntent {
    Call {
        tool: String,
        arguments: Map<String, Value>,
    },
    Say(String),
    /// Nothing matches.
    Lost,
}

/// The intent of a message.
pub(super) fn parse_user_intent(tools: &[Arc<ToolSpec>], pieces: &[ContentPiece]) -> UserIntent {
    let text = ContentPiece::join_texts(pieces, "\n");
    let text = text.trim();
    // Attachments of a command are not part of it.
    let alone: Vec<&str> = pieces.iter().filter_map(ContentPiece::as_text).collect();
    let line = alone.iter().map(|piece| piece.trim()).find(|piece| piece.starts_with('/'));
    parse_command_intent(tools, line.unwrap_or(text))
        .or_else(|| intent_from_json(tools, text, &alone))
        .unwrap_or_else(|| intent_from_words(tools, &without_file_contents(text)))
}

/// `/run` and `/help`.
fn parse_command_intent(tools: &[Arc<ToolSpec>], text: &str) -> Option<UserIntent> {
    if matches!(text.to_lowercase().as_str(), "help" | "?") {
        return Some(UserIntent::Say(tool_menu::render_tool_list(tools)));
    }
    let line = text.strip_prefix('/')?;
    let (word, rest) = split_first_word(line);
    let (name, rest) = split_first_word(rest);
    let unknown = |what: &str| UserIntent::Say(format!("{what}\n{}", tool_menu::render_greeting(tools)));
    Some(match (word, name) {
        ("help", "") => UserIntent::Say(tool_menu::render_tool_list(tools)),
        ("run", "") => unknown("What is to be run?"),
        ("help" | "run", name) => match tool_menu::find_tool(tools, name) {
            Some(tool) if word == "help" => UserIntent::Say(tool_menu::render_tool_help(tool)),
            Some(tool) => intent_from_assignments(tool, AssignmentLine::parse_assignment_line(rest)),
            None => unknown(&format!("There is nothing named {name}.")),
        },
        _ => unknown(&format!("I do not know /{word}.")),
    })
}

/// A JSON object that names a workflow or tool: alone in the message, or in one of its pieces.
fn intent_from_json(tools: &[Arc<ToolSpec>], text: &str, separate_pieces: &[&str]) -> Option<UserIntent> {
    let texts = std::iter::once(&text).chain(separate_pieces);
    let mut objects = texts.filter_map(|text| {
        let text = text.trim().trim_start_matches("```json").trim_matches('`');
        match serde_json::from_str(text) {
            Ok(Value::Object(object)) => Some(object),
            _ => None,
        }
    });
    objects.find_map(|object| intent_from_object(tools, object))
}

fn intent_from_object(tools: &[Arc<ToolSpec>], mut object: Map<String, Value>) -> Option<UserIntent> {
    let key = ["workflow", "tool", "name"].into_iter().find(|key| object.contains_key(*key))?;
    let name = object.get(key)?.as_str()?.to_owned();
    let Some(tool) = tool_menu::find_tool(tools, &name) else {
        let listed = tool_menu::render_greeting(tools);
        return (key != "name").then(|| UserIntent::Say(format!("There is nothing named {name}.\n{listed}")));
    };
    object.remove(key);
    let is_inner = |key: &&str| object.len() == 1 && object.get(*key).is_some_and(Value::is_object);
    let inner = ["input", "arguments", "args", "parameters"].into_iter().find(is_inner);
    let arguments = match inner.and_then(|key| object.remove(key)) {
        Some(Value::Object(arguments)) => arguments,
        _ => object,
    };
    Some(call_tool_or_list_missing_fields(tool, arguments))
}

/// A message that contains the name of a workflow, or else of another tool: `invest from wallet 0x123`.
fn intent_from_words(tools: &[Arc<ToolSpec>], text: &str) -> UserIntent {
    if text.len() > SEARCHED_MAX {
        return UserIntent::Lost;
    }
    let is_mark = |c: char| !c.is_alphanumeric();
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split(is_mark).collect();
    let is_named = |tool: &&ToolSpec| {
        let name = tool_menu::tool_display_name(&tool.name).to_lowercase();
        name.split(is_mark).all(|word| is_word_said(&words, word))
    };
    // People answer tasks with a plain message. They do not know the ids that these two tools need.
    let for_words = |tool: &&ToolSpec| tool.name != REPLY_TOOL && tool.name != STATUS_TOOL;
    let tools = tools.iter().map(AsRef::as_ref).filter(for_words).filter(is_named);
    let (workflows, others): (Vec<_>, Vec<_>) = tools.partition(|tool| tool_menu::is_workflow_tool(tool));
    match if workflows.is_empty() { others } else { workflows }.as_slice() {
        [] => UserIntent::Lost,
        [tool] => call_tool_or_list_missing_fields(tool, extract_field_values(tool, text)),
        several => {
            let lines: Vec<String> =
                several.iter().map(|tool| tool_menu::render_example_command(tool)).collect();
            UserIntent::Say(format!("Several things fit. Which one is it?\n{}", lines.join("\n")))
        }
    }
}

/// The message without the contents of attached files, which are data; the lines that name the files stay.
fn without_file_contents(text: &str) -> String {
    let mut spoken: Vec<&str> = Vec::new();
    // The fence that ends the content.
    let mut fence: Option<String> = None;
    let mut after_heading = false;
    for line in text.lines() {
        match &fence {
            Some(end) => {
                if line.trim_end() == *end {
                    fence = None;
                }
                continue;
            }
            None if after_heading && line.starts_with("```") => {
                fence = Some("`".repeat(line.len() - line.trim_start_matches('`').len()));
            }
            None => spoken.push(line),
        }
        after_heading = line.starts_with("File ") && line.ends_with(':');
    }
    spoken.join("\n")
}

/// Whether a word of a tool's name is in the message: `onboarding` is also meant by `onboard`.
fn is_word_said(words: &[&str], name_word: &str) -> bool {
    let verb = name_word.strip_suffix("ing").filter(|verb| verb.len() >= VERB_BYTES_MIN);
    words.iter().any(|word| *word == name_word || verb == Some(word))
}

/// Shorter words would be found by accident.
const VERB_BYTES_MIN: usize = 4;

/// The parameter of a peer's workflow that names a file.
const FILE_FIELD: &str = "input_artifact";

/// The file that a message names, such as `data.csv`.
fn find_filename(text: &str) -> Option<&str> {
    let words = text.split_whitespace();
    let words = words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric() && c != '_'));
    words.into_iter().find(|word| {
        word.rsplit_once('.').is_some_and(|(stem, extension)| {
            let is_extension = (2..=5).contains(&extension.len())
                && extension.chars().all(|c| c.is_ascii_alphanumeric())
                && extension.starts_with(|c: char| c.is_ascii_alphabetic());
            !stem.is_empty() && is_extension && !word.contains(['/', ':', '@'])
        })
    })
}

/// A name in a message: words with a capital letter, such as `John Doe`, but not the first word.
fn find_proper_name(text: &str) -> Option<String> {
    let mut name: Vec<&str> = Vec::new();
    for word in text.split_whitespace().skip(1) {
        let plain = word.trim_end_matches(['.', ',', ';', '!', '?']);
        let mut letters = plain.chars();
        let is_capitalised = letters.next().is_some_and(char::is_uppercase)
            && letters.clone().next().is_some()
            && letters.all(|c| c.is_lowercase() || c == '-' || c == '\'');
        match (is_capitalised, name.is_empty()) {
            (true, _) => name.push(plain),
            (false, true) => continue,
            (false, false) => break,
        }
        if plain != word {
            break;
        }
    }
    (!name.is_empty()).then(|| name.join(" "))
}

/// Values for a tool's fields in a text: in JSON, as `key=value`, or after the first word of a field's
/// name. A plain word may mean anything; an address, a number or a code is a value. A file that is named
/// is the input of a tool that takes one, and a proper name is a name.
fn extract_field_values(tool: &ToolSpec, text: &str) -> Map<String, Value> {
    let fields = schema_form::form_fields(&tool.schema);
    let mut found = Map::new();
    let words: Vec<&str> = text.split_whitespace().collect();
    for pair in words.windows(2) {
        let value = pair[1].trim_end_matches(['.', ',', ';', '!', '?']);
        let is_meant = value.contains(|c: char| c.is_ascii_digit() || "@/:#_".contains(c));
        let of_first = |field: &&FormField<'_>| {
            let first = field.name.split(|c: char| !c.is_lowercase()).next();
            first.is_some_and(|first| pair[0].eq_ignore_ascii_case(first))
        };
        if let Some(field) = fields.iter().filter(|_| is_meant).find(of_first)
            && let Some(value) = field.shape.parse_text_to_value(value)
        {
            found.insert(field.name.to_owned(), value);
        }
    }
    for (key, raw) in AssignmentLine::parse_assignment_line(text).pairs {
        if let Some(field) = schema_form::find_form_field(&fields, &key)
            && let Some(value) = raw.coerce_to_shape(&field.shape)
        {
            found.insert(field.name.to_owned(), value);
        }
    }
    let given = schema_answer::find_json_objects(text).into_iter().flatten();
    found.extend(given.filter(|(key, _)| fields.iter().any(|field| field.name == key)));
    let has_field = |name: &str| fields.iter().any(|field| field.name == name && field.shape.is_free_text());
    if found.is_empty() && has_field(FILE_FIELD) {
        // A file is the whole input.
        found.extend(find_filename(text).map(|name| (FILE_FIELD.to_owned(), name.into())));
    }
    if !found.contains_key(FILE_FIELD) && !found.contains_key(NAME_FIELD) && has_field(NAME_FIELD) {
        found.extend(find_proper_name(text).map(|name| (NAME_FIELD.to_owned(), name.into())));
    }
    found
}

/// The field that a name in a message fills.
const NAME_FIELD: &str = "name";

/// `/run` with the user's values for the tool's fields.
fn intent_from_assignments(tool: &ToolSpec, assignments: AssignmentLine) -> UserIntent {
    let fields = schema_form::form_fields(&tool.schema);
    let name = tool_menu::tool_display_name(&tool.name);
    let mut arguments = Map::new();
    for (key, raw) in assignments.pairs {
        let field = schema_form::find_form_field(&fields, &key);
        let key = field.map_or(key, |field| field.name.to_owned());
        let shape = match field {
            Some(field) => &field.shape,
            None if schema_form::allows_extra_fields(&tool.schema) => {
                &FieldValueShape::shape_from_schema(&Value::Null, &Value::Null)
            }
            None => return explain_tool_error(tool, &format!("{name} has no field {key}.")),
        };
        if arguments.contains_key(&key) {
            return explain_tool_error(tool, &format!("{key} is given twice."));
        }
        let Some(value) = raw.coerce_to_shape(shape) else {
            let (wanted, text) = (shape.describe_type(), raw.text);
            return explain_tool_error(tool, &format!("{key} is {wanted}, which {text:?} is not."));
        };
        arguments.insert(key, value);
    }
    let bare = assignments.before;
    if bare.is_empty() {
        return call_tool_or_list_missing_fields(tool, arguments);
    }
    if let Ok(Value::Object(object)) = serde_json::from_str(&bare) {
        arguments.extend(object);
        return call_tool_or_list_missing_fields(tool, arguments);
    }
    match missing_fields(&fields, &arguments).as_slice() {
        [only] if only.shape.is_free_text() => {
            arguments.insert(only.name.to_owned(), Value::String(bare));
            call_tool_or_list_missing_fields(tool, arguments)
        }
        _ => explain_tool_error(tool, &format!("I cannot tell which field of {name} this is: {bare}")),
    }
}

/// Calls the tool, or lists the missing fields.
fn call_tool_or_list_missing_fields(tool: &ToolSpec, arguments: Map<String, Value>) -> UserIntent {
    let fields = schema_form::form_fields(&tool.schema);
    let missing: Vec<&str> = missing_fields(&fields, &arguments).iter().map(|field| field.name).collect();
    if missing.is_empty() {
        return UserIntent::Call { tool: tool.name.clone(), arguments };
    }
    let name = tool_menu::tool_display_name(&tool.name);
    explain_tool_error(tool, &format!("To run {name} I need {}.", missing.join(", ")))
}

fn missing_fields<'a, 'b>(
    fields: &'b [FormField<'a>],
    arguments: &Map<String, Value>,
) -> Vec<&'b FormField<'a>> {
    fields.iter().filter(|field| field.required && !arguments.contains_key(field.name)).collect()
}

/// The error, and how to run the tool.
fn explain_tool_error(tool: &ToolSpec, problems_text: &str) -> UserIntent {
    UserIntent::Say(format!("{problems_text}\n{}", tool_menu::render_tool_help(tool)))
}

fn split_first_word(line: &str) -> (&str, &str) {
    let line = line.trim_start();
    line.split_once(char::is_whitespace).unwrap_or((line, ""))
}
