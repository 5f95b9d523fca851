//! Where a place in JSON text lies, for errors that name it. Nothing is read into values.

use std::fmt::Write;

/// JSON pointer of the value at a line and column as serde_json counts them: the value that ends
/// there, or the innermost one that is being read. Only used on the way to an error.
pub(super) fn pointer(text: &str, line: usize, column: usize) -> String {
    let before: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let end = (before + column).min(text.len());
    let bytes = text.as_bytes();
    let mut open: Vec<Level> = Vec::new();
    let mut at = 0;
    while at < end {
        match bytes[at] {
            b'{' => open.push(Level::Object { key: None, named: false }),
            b'[' => open.push(Level::Array { index: 0 }),
            b'}' | b']' => {
                open.pop();
            }
            b',' => match open.last_mut() {
                Some(Level::Array { index }) => *index += 1,
                Some(Level::Object { key, named }) => (*key, *named) = (None, false),
                None => {}
            },
            b':' => {
                if let Some(Level::Object { named, .. }) = open.last_mut() {
                    *named = true;
                }
            }
            b'"' => {
                let token = string(text, at);
                if let Some(Level::Object { key, named: false }) = open.last_mut() {
                    *key = serde_json::from_str(token).ok();
                }
                at += token.len() - 1;
            }
            _ => {}
        }
        at += 1;
    }
    printed(&open)
}

enum Level {
    /// `named`: the key was read and its value follows.
    Object {
        key: Option<String>,
        named: bool,
    },
    Array {
        index: usize,
    },
}

/// The string that begins at `start`, with its quotes, up to the end of the text at the most.
fn string(text: &str, start: usize) -> &str {
    let rest = &text[start..];
    let mut bytes = rest.bytes();
    bytes.next();
    let length = rest.len();
    skip_string(&mut bytes);
    &rest[..length - bytes.len()]
}

fn skip_string(bytes: &mut impl Iterator<Item = u8>) {
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => return,
            b'\\' => {
                bytes.next();
            }
            _ => {}
        }
    }
}

fn printed(open: &[Level]) -> String {
    let mut pointer = String::new();
    for level in open {
        match level {
            Level::Object { key: Some(key), .. } => {
                pointer.push('/');
                pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
            }
            Level::Object { key: None, .. } => {}
            Level::Array { index } => {
                // Writing to a string cannot fail.
                let _ = write!(pointer, "/{index}");
            }
        }
    }
    pointer
}

#[cfg(test)]
mod tests;
