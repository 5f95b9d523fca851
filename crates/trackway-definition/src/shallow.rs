//! Whether a text is shallow enough for parsers that go down the stack with every level of it.

#[cfg(test)]
mod tests;

/// Levels of brackets, choices and negations. In a debug build the parser of CEL takes some 150 KiB for
/// each, of a thread's 2 MiB.
const DEEPEST: usize = 8;

/// Operators in a row make a tree of that depth, at a few KiB a level.
const MOST_OPERATORS: usize = 100;

/// Whether brackets, choices and negations are few enough inside each other. It is estimated from above:
/// what stands in quotes is counted too.
pub(crate) fn shallow(text: &str) -> bool {
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

/// Whether operators are few enough to stand in a row; estimated from above as well.
pub(crate) fn short(text: &str) -> bool {
    let marks = text.bytes().filter(|byte| b"+-*/%<>=!.&|?([{".contains(byte)).count();
    let words = text.split_ascii_whitespace().filter(|word| *word == "in").count();
    marks + words <= MOST_OPERATORS
}
