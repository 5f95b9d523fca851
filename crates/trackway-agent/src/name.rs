//! Names of tools as every provider takes them: at most 64 of `[A-Za-z0-9_-]`.

/// The longest name that every provider takes.
/// Limit (Agents): name of a tool that a model is given.
pub(crate) const NAME_CHARS_MAX: usize = 64;

/// Stands between the name of an MCP server and that of its tool.
pub const SERVER_MARK: &str = "__";

/// The name in letters that every provider takes; each other one becomes `_`.
pub fn in_plain_letters(name: &str) -> String {
    let plain = |letter: char| match letter {
        'A'..='Z' | 'a'..='z' | '0'..='9' | '_' | '-' => letter,
        _ => '_',
    };
    name.chars().map(plain).collect()
}
