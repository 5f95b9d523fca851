//! Whether a text is shallow enough for a recursive parser.

#[cfg(test)]
mod tests;

/// Levels of brackets, choices and negations inside the braces of a template. The template parser takes tens
/// of KiB for each in a debug build.
/// Limit (Definitions): levels inside the braces of a template.
const DEEPEST: usize = 8;

/// Whether the nesting of brackets, choices and negations is low enough. This is an upper bound: quoted text
/// is counted too.
pub(crate) fn has_shallow_nesting(text: &str) -> bool {
    let (mut open, mut deepest, mut row) = (0_usize, 0, 0_usize);
    for byte in text.bytes() {
        match byte {
            b'(' | b'[' | b'{' | b'?' => open += 1,
            b')' | b']' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        row = match byte {
            b'-' | b'!' => row + 1,
            b' ' | b'\t' | b'\n' | b'\r' => row,
            _ => 0,
        };
        deepest = deepest.max(open + row);
    }
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    deepest + words.filter(|word| matches!(*word, "not" | "else")).count() <= DEEPEST
}
