//! Which `{% … %}` tags a template may have, and how much may be inside one.
//!
//! `set` and similar tags can double a value again and again in a few bytes of template. Neither fuel nor a
//! limit on the output stops that in time, so templates do not have them.

use crate::nesting_check::has_shallow_nesting;

const KNOWN: [&str; 7] = ["if", "elif", "else", "endif", "for", "endfor", "raw"];

/// The text between braces is compiled on the thread's stack, with a level for each `+` or dot: a longer text
/// could overflow it.
/// Limit (Definitions): text between the braces of a template.
const INSIDE_BYTES_MAX: usize = 1024;

/// Tags can be nested, and each is a level of the stack as well.
/// Limit (Definitions): tags of one template.
const TAGS_MAX: usize = 512;

/// Refuses tags that are not allowed, before the template is compiled.
pub(super) fn check_template_tags(source: &str) -> Result<(), String> {
    let mut rest = source;
    let mut tags = 0;
    while let Some(start) = rest.find('{') {
        rest = &rest[start + 1..];
        if let Some(comment) = rest.strip_prefix('#') {
            rest = comment.find("#}").map_or("", |end| &comment[end + 2..]);
        } else if rest.starts_with(['{', '%']) {
            let (inside, after) = split_at_closing_braces(&rest[1..]);
            if inside.len() > INSIDE_BYTES_MAX {
                return Err(format!("`{{{{ … }}}}` holds at most {INSIDE_BYTES_MAX} bytes."));
            }
            if !has_shallow_nesting(inside) {
                return Err("The text between braces is nested too deep.".to_owned());
            }
            if rest.starts_with('%') {
                tags += 1;
                if check_template_tag(inside)? == "raw" {
                    // What follows is text. If the end is missing, compiling reports it.
                    rest = after.find("endraw").map_or("", |end| &after[end..]);
                    continue;
                }
            }
            rest = after;
        }
    }
    if tags > TAGS_MAX {
        return Err(format!("A template has at most {TAGS_MAX} tags."));
    }
    Ok(())
}

fn check_template_tag(inside: &str) -> Result<&str, String> {
    let inside = inside.trim_start_matches(['-', '+']).trim_start();
    let word = &inside[..inside.find(|c: char| !c.is_alphanumeric()).unwrap_or(inside.len())];
    if KNOWN.contains(&word) {
        return Ok(word);
    }
    Err(format!(
        "`{{% {word} %}}` is not known here; there are `if`, `for` and `raw`. Set values with the \
         step's `set`."
    ))
}

/// The text up to the closing braces that are not in quotes, and what comes after them.
fn split_at_closing_braces(text: &str) -> (&str, &str) {
    let mut quote = None;
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match (quote, character) {
            (Some(_), '\\') => {
                characters.next();
            }
            (Some(open), _) if open == character => quote = None,
            (None, '\'' | '"') => quote = Some(character),
            (None, '}' | '%') if text[at + 1..].starts_with('}') => {
                return (&text[..at], &text[at + 2..]);
            }
            _ => {}
        }
    }
    (text, "")
}
