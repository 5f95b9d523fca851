//! Texts that are templates.
//!
//! A strict file uses the template language itself. In other files only `{{ … }}` has a meaning: its content
//! is translated, and all other text stays unchanged.

mod js_expression;
#[cfg(test)]
mod tests;

use super::file_value::FileValue;
use crate::template::find_template_error;

/// What begins a tag of the template language.
const OPENINGS: [&str; 3] = ["{{", "{%", "{#"];

/// Names that WorkRail replaces itself; a context cannot contain them.
const RESERVED: &str = "wr.";

/// A template that renders to exactly this text.
pub(super) fn escape_as_template(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    push_escaped_literal(&mut out, text);
    out
}

/// The template of a text in the file.
pub(super) fn to_checked_template(file_value: &FileValue<'_>, text: &str) -> String {
    if file_value.sink.is_strict {
        if let Some(flaw) = find_template_error(text) {
            file_value.report_with_suggestion(flaw.reason, flaw.suggestion.as_deref());
        }
        return text.to_owned();
    }
    translate_template_placeholders(text, &|source| {
        file_value.note_ignored_construct(format!(
            "`{{{{{source}}}}}` is no expression that can be filled in; it is shown as it stands"
        ));
    })
}

/// Only `{{ … }}` has a meaning. What cannot be translated is reported and kept.
fn translate_template_placeholders(text: &str, kept: &dyn Fn(&str)) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("{{") {
        let Some(length) = rest[start + 2..].find("}}") else { break };
        let source = &rest[start + 2..start + 2 + length];
        // The innermost pair counts: `{{ {{x}}` is text and then an expression.
        if let Some(inner) = source.rfind("{{") {
            push_escaped_literal(&mut out, &rest[..start + 2 + inner]);
            rest = &rest[start + 2 + inner..];
            continue;
        }
        push_escaped_literal(&mut out, &rest[..start]);
        let reserved = source.trim_start().starts_with(RESERVED);
        match (!reserved).then(|| js_expression::translate_js_expression(source)).flatten() {
            Some(expression) => {
                out.push_str("{{ ");
                out.push_str(&expression);
                out.push_str(" }}");
            }
            None => {
                kept(source);
                push_escaped_literal(&mut out, &rest[start..start + 4 + length]);
            }
        }
        rest = &rest[start + 4 + length..];
    }
    push_escaped_literal(&mut out, rest);
    out
}

/// Adds text that contains no tag: the beginning of a tag is written as an expression of a text.
fn push_escaped_literal(out: &mut String, text: &str) {
    let mut rest = text;
    loop {
        // A brace at the end of the output could form a tag together with this text.
        let next = OPENINGS.iter().filter_map(|opening| rest.find(opening)).min();
        let Some(start) = next else { break };
        push_with_final_brace_escaped(out, &rest[..start]);
        out.push_str("{{ '");
        out.push_str(&rest[start..start + 2]);
        out.push_str("' }}");
        rest = &rest[start + 2..];
    }
    push_with_final_brace_escaped(out, rest);
}

/// Adds text so that a single brace at its end does not form a tag with what follows.
fn push_with_final_brace_escaped(out: &mut String, text: &str) {
    match text.strip_suffix('{') {
        Some(text) => {
            out.push_str(text);
            out.push_str("{{ '{' }}");
        }
        None => out.push_str(text),
    }
}
