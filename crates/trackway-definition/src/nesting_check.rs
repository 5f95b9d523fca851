//! Whether a text is shallow enough for a parser that goes down the stack with every level of it.

#[cfg(test)]
mod tests;

/// Levels of brackets, choices and negations that a template may have inside its braces. The parser of
/// templates takes tens of KiB for each in a debug build.
/// Limit (Definitions): levels inside the braces of a template.
const DEEPEST: usize = 8;

/// Whether brackets, choices and negations are few enough inside each other. It is estimated from above:
/// what stands in quotes is counted too.
pub(crate) fn is_shallow(text: &str) -> bool {
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
