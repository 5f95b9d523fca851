//! The workflow of a broken file: the id that its text still contains, if it can be found without parsing.

use trackway_definition::FileFormat;

/// The id as its author wrote it on the outermost level; none if it cannot be found.
pub(super) fn find_workflow_id_in_text(text: &str, format: FileFormat) -> Option<String> {
    let id = match format {
        FileFormat::Yaml => find_yaml_workflow_id(text).or_else(|| find_json_workflow_id(text)),
        FileFormat::Json => find_json_workflow_id(text),
    }?;
    (!id.is_empty()).then_some(id)
}

/// A line that begins with `id:`.
fn find_yaml_workflow_id(text: &str) -> Option<String> {
    let said = text.lines().find_map(|line| line.strip_prefix("id:"))?.trim();
    let id = match said.chars().next()? {
        quote @ ('"' | '\'') => said[1..].split(quote).next()?,
        _ => said.split_once(" #").map_or(said, |(id, _comment)| id.trim_end()),
    };
    Some(id.to_owned())
}

/// The key `"id"` of the outermost object, before the broken part.
fn find_json_workflow_id(text: &str) -> Option<String> {
    let mut depth = 0_usize;
    let mut rest = text;
    loop {
        let at = rest.find(['{', '[', '}', ']', '"'])?;
        let found = rest.as_bytes()[at];
        rest = &rest[at + 1..];
        match found {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1)?,
            _ => {
                let (word, after) = split_at_closing_quote(rest)?;
                rest = after;
                let value = after.trim_start().strip_prefix(':');
                if let (1, "id", Some(value)) = (depth, word, value) {
                    return split_at_closing_quote(value.trim_start().strip_prefix('"')?)
                        .map(|(id, _)| id.to_owned());
                }
            }
        }
    }
}

/// A quoted text up to its closing quote, unchanged, and what follows.
fn split_at_closing_quote(text: &str) -> Option<(&str, &str)> {
    let mut escaped = false;
    let end = text.find(|c| {
        let closes = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        closes
    })?;
    Some((&text[..end], &text[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id_is_read_from_the_outermost_level() {
        for (text, id) in [
            ("id: b\nname: [broken", Some("b")),
            ("name: [broken\nid: 'b c' # mine", Some("b c")),
            ("id: \"b\" # mine", Some("b")),
            ("id: b # mine", Some("b")),
            ("steps:\n  - id: inner\n    oops: [", None),
            ("id:\n", None),
            ("id: ''", None),
            ("{\"id\": \"b\", oops", Some("b")),
        ] {
            assert_eq!(find_workflow_id_in_text(text, FileFormat::Yaml).as_deref(), id, "{text}");
        }
        for (text, id) in [
            (r#"{"id": "b", "name": oops"#, Some("b")),
            (r#"{"name": "\"id\": \"x\"", "steps": [{"id": "inner"}], "id" : "b" oops"#, Some("b")),
            (r#"{"steps": [{"id": "inner"}"#, None),
            (r#"{"id":"#, None),
            (r#"{"id": "b"#, None),
            (r#"{"id": 5, "x": "id", "y": "#, None),
            (r#"}{"id": "b""#, None),
            ("", None),
        ] {
            assert_eq!(find_workflow_id_in_text(text, FileFormat::Json).as_deref(), id, "{text}");
        }
    }
}
