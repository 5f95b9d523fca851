//! Replaces names in braces with the arguments of a routine.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::file_value::is_identifier;

/// The same value with arguments instead of their names in braces. Only steps have any.
pub(super) fn fill_routine_arguments(root: &Value, args: &Map<String, Value>) -> Value {
    let mut root = root.clone();
    if let Some(steps) = root.get_mut("steps") {
        fill_arguments_in_value(steps, args);
    }
    root
}

fn fill_arguments_in_value(value: &mut Value, args: &Map<String, Value>) {
    match value {
        Value::String(text) if text.contains('{') => *text = fill_arguments_in_text(text, args),
        Value::Array(items) => items.iter_mut().for_each(|item| fill_arguments_in_value(item, args)),
        Value::Object(map) => map.values_mut().for_each(|value| fill_arguments_in_value(value, args)),
        _ => {}
    }
}

/// `{name}` and `{{name}}` of an argument become its value; everything else in braces stays.
fn fill_arguments_in_text(text: &str, args: &Map<String, Value>) -> String {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(start) = rest.find('{') {
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        let double = rest.starts_with("{{");
        let (open, close) = if double { ("{{", "}}") } else { ("{", "}") };
        let inner = &rest[open.len()..];
        let end = inner.find(close);
        let found = end.and_then(|end| args.get(inner[..end].trim()).map(|value| (end, value)));
        match found {
            Some((end, value)) => {
                match value {
                    Value::String(text) => out.push_str(text),
                    other => out.push_str(&other.to_string()),
                }
                rest = &inner[end + close.len()..];
            }
            None => {
                out.push_str(open);
                rest = inner;
            }
        }
    }
    out.push_str(rest);
    out
}

/// The names in single braces in the steps of a routine. Other text that looks the same is rare.
pub(super) fn routine_argument_names(root: &Value) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    if let Some(steps) = root.get("steps") {
        collect_argument_names(steps, &mut names);
    }
    names
}

fn collect_argument_names<'v>(value: &'v Value, names: &mut BTreeSet<&'v str>) {
    match value {
        Value::String(text) => collect_argument_names_in_text(text, names),
        Value::Array(items) => items.iter().for_each(|item| collect_argument_names(item, names)),
        Value::Object(map) => map.values().for_each(|value| collect_argument_names(value, names)),
        _ => {}
    }
}

fn collect_argument_names_in_text<'v>(text: &'v str, names: &mut BTreeSet<&'v str>) {
    for (start, _) in text.match_indices('{') {
        let (before, inside) = (&text[..start], &text[start + 1..]);
        let Some(end) = inside.find('}') else { return };
        let name = &inside[..end];
        // `{{name}}` belongs to a template, and `${name}` to a shell.
        let is_other = before.ends_with(['{', '$']) || inside[end + 1..].starts_with('}');
        if is_identifier(name) && !is_other {
            names.insert(name);
        }
    }
}
