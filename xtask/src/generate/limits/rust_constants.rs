//! A minimal Rust parser that finds constants and the `Limit` lines above them.

/// A constant as it is written, whether it is a limit or not: limits may refer to other constants.
#[derive(Debug)]
pub(crate) struct Constant<'a> {
    pub(crate) path: &'a str,
    pub(crate) line: usize,
    pub(crate) name: &'a str,
    /// Its type.
    pub(crate) kind: String,
    /// The text after `=`.
    pub(crate) value: String,
    /// The text after `/// Limit `, which may have several lines.
    pub(crate) mark: Option<String>,
}

const MARK: &str = "/// Limit (";

pub(crate) fn constants<'a>(path: &'a str, text: &'a str) -> Vec<Constant<'a>> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let mut found = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let Some(name) = constant_name(line) else { continue };
        let whole: String = lines[index..].iter().copied().scan(false, take_until_semicolon).collect();
        let Some((declaration, value)) = whole.split_once(" =") else { continue };
        let kind = declaration.split_once(": ").map_or("", |(_, kind)| kind);
        found.push(Constant {
            path,
            line: index + 1,
            name,
            kind: kind.to_owned(),
            value: value.trim().trim_end_matches(';').to_owned(),
            mark: mark_above(&lines[..index]),
        });
    }
    found
}

/// The numbers of the `Limit` lines that no constant follows.
pub(super) fn orphan_marks(text: &str) -> Vec<usize> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let follows = |index: usize| {
        let next = lines[index..].iter().find(|line| !is_doc_or_attribute(line));
        next.is_some_and(|line| constant_name(line).is_some())
    };
    let marked = lines.iter().enumerate().filter(|(_, line)| line.starts_with(MARK));
    marked.filter(|(index, _)| !follows(*index)).map(|(index, _)| index + 1).collect()
}

fn take_until_semicolon<'a>(ended: &mut bool, line: &'a str) -> Option<&'a str> {
    if *ended {
        return None;
    }
    *ended = line.contains(';');
    Some(line)
}

/// The name of the constant that a line declares.
fn constant_name(line: &str) -> Option<&str> {
    let visible = line.strip_prefix("pub").map_or(line, |rest| {
        let rest = rest.strip_prefix('(').and_then(|r| r.split_once(')')).map_or(rest, |r| r.1);
        rest.trim_start()
    });
    let (name, _) = visible.strip_prefix("const ")?.split_once(':')?;
    let is_name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    name.chars().all(is_name).then_some(name)
}

fn mark_above(above: &[&str]) -> Option<String> {
    let length = above.iter().rev().take_while(|line| is_doc_or_attribute(line)).count();
    let comment = &above[above.len() - length..];
    let start = comment.iter().position(|line| line.starts_with(MARK))?;
    let mut mark = comment[start].trim_start_matches("/// Limit ").to_owned();
    for line in &comment[start + 1..] {
        match line.strip_prefix("/// ") {
            Some(more) if !mark.ends_with('.') => {
                mark.push(' ');
                mark.push_str(more);
            }
            _ => break,
        }
    }
    Some(mark)
}

fn is_doc_or_attribute(line: &str) -> bool {
    line.starts_with("///") || line.starts_with("#[")
}
