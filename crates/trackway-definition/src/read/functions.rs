//! Functions: pieces of instruction that several steps refer to by name.

use serde_json::Value;

use super::cursor::{At, Fields};
use super::file::{File, Functions};
use super::template::literal;
use crate::suggest::nearest;

/// The functions of an object together with those around it; the nearest of a name counts.
pub(super) fn declared(fields: &Fields<'_>, around: &Functions, file: &File<'_, '_>) -> Functions {
    let mut functions = around.clone();
    let list = fields.get("functionDefinitions").map(|at| at.list()).unwrap_or_default();
    functions.extend(list.iter().filter_map(|at| function(at, file)));
    functions
}

/// Name and text of a function, as a template.
fn function(at: &At<'_>, file: &File<'_, '_>) -> Option<(String, String)> {
    let fields = at.object()?;
    fields.informs(&["scope"]);
    let name = fields.need("name").and_then(|at| at.name());
    let definition = fields.need("definition").and_then(|at| file.filled(&at));
    let parameters = fields.get("parameters").map(|at| at.list()).unwrap_or_default();
    let parameters: Vec<String> = parameters.iter().filter_map(parameter).collect();
    fields.finish();
    let mut text = definition?;
    if !parameters.is_empty() {
        text.push_str("\nParameters:\n");
        text.push_str(&parameters.join("\n"));
    }
    Some((name?.to_owned(), text))
}

fn parameter(at: &At<'_>) -> Option<String> {
    let fields = at.object()?;
    let name = fields.need("name").and_then(|at| at.name());
    let kind = fields.get("type").and_then(|at| at.text()).unwrap_or("any");
    let required = fields.get("required").and_then(|at| at.flag()).unwrap_or(false);
    let description = fields.get("description").and_then(|at| at.text()).unwrap_or_default();
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
    fields.finish();
    Some(literal(&line))
}

/// What the functions that a step names add to its prompt.
pub(super) fn used(fields: &Fields<'_>, functions: &Functions) -> Vec<String> {
    let mut names = Vec::new();
    let refs = fields.get("functionReferences").map(|at| at.texts()).unwrap_or_default();
    names.extend(refs.into_iter().map(|(at, text)| (at, text.trim_end_matches("()"))));
    let mut calls = Vec::new();
    for at in fields.get("functionCalls").map(|at| at.list()).unwrap_or_default() {
        let Some(call) = at.object() else { continue };
        let args = call.get("args").map_or(Value::Null, |at| at.value.clone());
        if let Some(at) = call.need("name")
            && let Some(name) = at.name()
        {
            calls.push(literal(&format!("Apply `{name}` with {args}.")));
            names.push((at, name));
        }
        call.finish();
    }
    let (mut parts, mut seen) = (Vec::new(), Vec::new());
    for (at, name) in names {
        if seen.contains(&name) {
            continue;
        }
        seen.push(name);
        match functions.get(name) {
            Some(text) => parts.push(format!("**Function `{name}`**\n\n{text}")),
            None if at.sink.strict => {
                let known = functions.keys().map(String::as_str);
                at.suggest(format!("there is no function `{name}`"), nearest(name, known));
            }
            None => at.aside(format!("there is no function `{name}`; nothing is shown for it")),
        }
    }
    parts.extend(calls);
    parts
}
