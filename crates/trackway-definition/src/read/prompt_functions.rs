//! Functions: parts of instructions that several steps refer to by name.

use serde_json::Value;

use super::file_reader::{DefinitionFileReader, Functions};
use super::file_value::{FileValue, ObjectFields};
use super::template_text::escape_as_template;
use crate::spelling_suggestion::nearest_known_word;

/// The functions of an object together with the enclosing ones; the nearest definition of a name counts.
pub(super) fn parse_prompt_functions(
    fields: &ObjectFields<'_>,
    outer: &Functions,
    file: &DefinitionFileReader<'_, '_>,
) -> Functions {
    let mut functions = outer.clone();
    let list =
        fields.get_and_mark_known("functionDefinitions").map(|at| at.expect_list()).unwrap_or_default();
    functions.extend(list.iter().filter_map(|at| parse_prompt_function(at, file)));
    functions
}

/// Name and text of a function, as a template.
fn parse_prompt_function(
    file_value: &FileValue<'_>,
    file: &DefinitionFileReader<'_, '_>,
) -> Option<(String, String)> {
    let fields = file_value.expect_object()?;
    fields.note_informational_keys(&["scope"]);
    let name = fields.require_key("name").and_then(|at| at.expect_identifier());
    let definition = fields.require_key("definition").and_then(|at| file.expect_template(&at));
    let parameters = fields.get_and_mark_known("parameters").map(|at| at.expect_list()).unwrap_or_default();
    let parameters: Vec<String> = parameters.iter().filter_map(parse_function_parameter).collect();
    fields.report_unknown_keys();
    let mut text = definition?;
    if !parameters.is_empty() {
        text.push_str("\nParameters:\n");
        text.push_str(&parameters.join("\n"));
    }
    Some((name?.to_owned(), text))
}

fn parse_function_parameter(file_value: &FileValue<'_>) -> Option<String> {
    let fields = file_value.expect_object()?;
    let name = fields.require_key("name").and_then(|at| at.expect_identifier());
    let kind = fields.get_and_mark_known("type").and_then(|at| at.expect_text()).unwrap_or("any");
    let required = fields.get_and_mark_known("required").and_then(|at| at.expect_bool()).unwrap_or(false);
    let description =
        fields.get_and_mark_known("description").and_then(|at| at.expect_text()).unwrap_or_default();
    let mut line = format!("- `{}` ({kind}", name?);
    line.push_str(if required { ", required)" } else { ")" });
    if !description.is_empty() {
        line.push_str(": ");
        line.push_str(description);
    }
    for (key, says) in [("enum", "one of"), ("default", "otherwise")] {
        if let Some(at) = fields.get_and_mark_known(key) {
            line.push_str(&format!("; {says} {}", at.value));
        }
    }
    fields.report_unknown_keys();
    Some(escape_as_template(&line))
}

/// What the functions that a step names add to its prompt.
pub(super) fn render_used_functions(fields: &ObjectFields<'_>, functions: &Functions) -> Vec<String> {
    let mut names = Vec::new();
    let refs =
        fields.get_and_mark_known("functionReferences").map(|at| at.expect_text_list()).unwrap_or_default();
    names.extend(refs.into_iter().map(|(at, text)| (at, text.trim_end_matches("()"))));
    let mut calls = Vec::new();
    for at in fields.get_and_mark_known("functionCalls").map(|at| at.expect_list()).unwrap_or_default() {
        let Some(call) = at.expect_object() else { continue };
        let args = call.get_and_mark_known("args").map_or(Value::Null, |at| at.value.clone());
        if let Some(at) = call.require_key("name")
            && let Some(name) = at.expect_identifier()
        {
            calls.push(escape_as_template(&format!("Apply `{name}` with {args}.")));
            names.push((at, name));
        }
        call.report_unknown_keys();
    }
    let (mut parts, mut seen) = (Vec::new(), Vec::new());
    for (at, name) in names {
        if seen.contains(&name) {
            continue;
        }
        seen.push(name);
        match functions.get(name) {
            Some(text) => parts.push(format!("**Function `{name}`**\n\n{text}")),
            None if at.sink.is_strict => {
                let known = functions.keys().map(String::as_str);
                at.report_with_suggestion(
                    format!("there is no function `{name}`"),
                    nearest_known_word(name, known),
                );
            }
            None => {
                at.note_ignored_construct(format!("there is no function `{name}`; nothing is shown for it"))
            }
        }
    }
    parts.extend(calls);
    parts
}
