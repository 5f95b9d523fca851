//! Functions: parts of instructions that several steps refer to by name.

use serde_json::Value;

use super::file_reader::{FileReader, Functions};
use super::file_value::{FileValue, ObjectFields};
use super::template_text::literal_template;
use crate::suggestion::nearest;

/// The functions of an object together with the enclosing ones; the nearest definition of a name counts.
pub(super) fn parse_functions(
    fields: &ObjectFields<'_>,
    outer: &Functions,
    file: &FileReader<'_, '_>,
) -> Functions {
    let mut functions = outer.clone();
    let list = fields.get("functionDefinitions").map(|at| at.expect_list()).unwrap_or_default();
    functions.extend(list.iter().filter_map(|at| parse_function(at, file)));
    functions
}

/// Name and text of a function, as a template.
fn parse_function(at: &FileValue<'_>, file: &FileReader<'_, '_>) -> Option<(String, String)> {
    let fields = at.expect_object()?;
    fields.note_informational(&["scope"]);
    let name = fields.require_key("name").and_then(|at| at.expect_name());
    let definition = fields.require_key("definition").and_then(|at| file.required_template(&at));
    let parameters = fields.get("parameters").map(|at| at.expect_list()).unwrap_or_default();
    let parameters: Vec<String> = parameters.iter().filter_map(parse_parameter).collect();
    fields.report_unknown_keys();
    let mut text = definition?;
    if !parameters.is_empty() {
        text.push_str("\nParameters:\n");
        text.push_str(&parameters.join("\n"));
    }
    Some((name?.to_owned(), text))
}

fn parse_parameter(at: &FileValue<'_>) -> Option<String> {
    let fields = at.expect_object()?;
    let name = fields.require_key("name").and_then(|at| at.expect_name());
    let kind = fields.get("type").and_then(|at| at.expect_text()).unwrap_or("any");
    let required = fields.get("required").and_then(|at| at.expect_bool()).unwrap_or(false);
    let description = fields.get("description").and_then(|at| at.expect_text()).unwrap_or_default();
    let mut line = format!("- `{}` ({kind}", name?);
    line.push_str(if required { ", required)" } else { ")" });
    if !description.is_empty() {
        line.push_str(": ");
        line.push_str(description);
    }
    for (key, says) in [("enum", "one of"), ("default", "otherwise")] {
        if let Some(at) = fields.get(key) {
            line.push_str(&format!("; {says} {}", at.value));
        }
    }
    fields.report_unknown_keys();
    Some(literal_template(&line))
}

/// What the functions that a step names add to its prompt.
pub(super) fn render_used_functions(fields: &ObjectFields<'_>, functions: &Functions) -> Vec<String> {
    let mut names = Vec::new();
    let refs = fields.get("functionReferences").map(|at| at.expect_text_list()).unwrap_or_default();
    names.extend(refs.into_iter().map(|(at, text)| (at, text.trim_end_matches("()"))));
    let mut calls = Vec::new();
    for at in fields.get("functionCalls").map(|at| at.expect_list()).unwrap_or_default() {
        let Some(call) = at.expect_object() else { continue };
        let args = call.get("args").map_or(Value::Null, |at| at.value.clone());
        if let Some(at) = call.require_key("name")
            && let Some(name) = at.expect_name()
        {
            calls.push(literal_template(&format!("Apply `{name}` with {args}.")));
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
                at.report_with_suggestion(format!("there is no function `{name}`"), nearest(name, known));
            }
            None => at.note_ignored(format!("there is no function `{name}`; nothing is shown for it")),
        }
    }
    parts.extend(calls);
    parts
}
