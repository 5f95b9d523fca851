//! Texts that are templates.
//!
//! A strict file writes them in the template language itself. Elsewhere only `{{ … }}` means something:
//! what stands inside is translated, and all other text is kept as it stands, whatever it looks like.

mod expression;
#[cfg(test)]
mod tests;

use minijinja::Environment;

use super::check::shallow;
use super::cursor::At;

/// What begins a tag of the template language.
const OPENINGS: [&str; 3] = ["{{", "{%", "{#"];

/// Names that WorkRail replaces itself; a context cannot hold them.
const RESERVED: &str = "wr.";

/// Blocks inside blocks; the parser goes down the stack for each.
const DEEPEST_BLOCKS: usize = 16;

/// Whether a text can be rendered at all, or why not.
fn parses(text: &str) -> Result<(), String> {
    if !shallow_tags(text) {
        return Err("it is nested too deeply".to_owned());
    }
    match Environment::new().template_from_str(text) {
        Ok(_) => Ok(()),
        Err(error) => Err(error.detail().unwrap_or("it does not parse").to_owned()),
    }
}

/// Whether the parser gets through every tag, and through the blocks that they make.
fn shallow_tags(text: &str) -> bool {
    let (mut open, mut rest) = (0_usize, text);
    while let Some(start) = OPENINGS.iter().filter_map(|opening| rest.find(opening)).min() {
        let inside = &rest[start + 2..];
        // Up to the next tag, which is further than the end of this one, if anything.
        let length = OPENINGS.iter().filter_map(|opening| inside.find(opening)).min();
        let (tag, after) = inside.split_at(length.unwrap_or(inside.len()));
        let closing = ["%}", "}}"].iter().filter_map(|closing| tag.find(closing)).min();
        if !shallow(&tag[..closing.unwrap_or(tag.len())]) {
            return false;
        }
        if rest[start..].starts_with("{%") {
            let word = tag.trim_start_matches(['-', '+', ' ', '\t', '\n', '\r']);
            open = if word.starts_with("end") { open.saturating_sub(1) } else { open + 1 };
            // Some tags have no end, but nobody writes that many.
            if open > DEEPEST_BLOCKS && !word.starts_with("set") && !word.starts_with("el") {
                return false;
            }
            if word.starts_with("set") || word.starts_with("el") {
                open = open.saturating_sub(1);
            }
        }
        rest = after;
    }
    true
}

/// A template that renders to exactly this text.
pub(super) fn literal(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    push_plain(&mut out, text);
    out
}

/// A template of a text at a place in the file.
pub(super) fn template(at: &At<'_>, text: &str) -> String {
    if at.sink.strict {
        if let Err(reason) = parses(text) {
            at.fault(format!("the template cannot be read: {reason}"));
        }
        return text.to_owned();
    }
    translated(text, &|source| {
        at.aside(format!(
            "`{{{{{source}}}}}` is no expression that can be filled in; it is shown as it stands"
        ));
    })
}

/// Only `{{ … }}` means something. What cannot be translated is told and kept.
fn translated(text: &str, kept: &dyn Fn(&str)) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("{{") {
        let Some(length) = rest[start + 2..].find("}}") else { break };
        let source = &rest[start + 2..start + 2 + length];
        // The innermost pair counts: `{{ {{x}}` is text and then an expression.
        if let Some(inner) = source.rfind("{{") {
            push_plain(&mut out, &rest[..start + 2 + inner]);
            rest = &rest[start + 2 + inner..];
            continue;
        }
        push_plain(&mut out, &rest[..start]);
        let reserved = source.trim_start().starts_with(RESERVED);
        match (!reserved).then(|| expression::translate(source)).flatten() {
            Some(expression) => {
                out.push_str("{{ ");
                out.push_str(&expression);
                out.push_str(" }}");
            }
            None => {
                kept(source);
                push_plain(&mut out, &rest[start..start + 4 + length]);
            }
        }
        rest = &rest[start + 4 + length..];
    }
    push_plain(&mut out, rest);
    out
}

/// Text in which nothing is a tag: what would begin one is written as an expression of a text.
fn push_plain(out: &mut String, text: &str) {
    let mut rest = text;
    loop {
        // A brace at the end of what is there already could begin a tag together with this text.
        let next = OPENINGS.iter().filter_map(|opening| rest.find(opening)).min();
        let Some(start) = next else { break };
        push_joined(out, &rest[..start]);
        out.push_str("{{ '");
        out.push_str(&rest[start..start + 2]);
        out.push_str("' }}");
        rest = &rest[start + 2..];
    }
    push_joined(out, rest);
}

/// Adds text so that a single brace at its end does not become a tag with what follows.
fn push_joined(out: &mut String, text: &str) {
    match text.strip_suffix('{') {
        Some(text) => {
            out.push_str(text);
            out.push_str("{{ '{' }}");
        }
        None => out.push_str(text),
    }
}
