//! What the tools of a server are called here: `server__tool`, in letters that every model takes.

use std::collections::BTreeSet;

use sha2::{Digest as _, Sha256};

use crate::name::{NAME_CHARS_MAX, SERVER_MARK, in_plain_letters};

/// Digits of the digest that tells apart names which would be the same once they are cut or cleaned.
const MARK_DIGITS: usize = 8;

/// Longest name of a tool that the protocol has.
/// Limit (Tools): name that a server gives a tool.
const TOOL_NAME_CHARS_MAX: usize = 128;

/// Whether the protocol allows this name for a tool ("Tool Names", since revision 2025-11-25).
pub(super) fn is_tool_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    (1..=TOOL_NAME_CHARS_MAX).contains(&name.len()) && name.bytes().all(is_plain)
}

/// The name of a server's tool, unlike any of `taken`. The same tools in the same order have the same
/// names each time, so that what an agent is allowed stays what it was.
pub(super) fn tool_name(server: &str, tool: &str, taken: &BTreeSet<String>) -> String {
    let plain = format!("{}{SERVER_MARK}{}", in_plain_letters(server), in_plain_letters(tool));
    // All of it is ASCII by now.
    if plain.len() <= NAME_CHARS_MAX && !taken.contains(&plain) {
        return plain;
    }
    // The length keeps ("ab", "c") and ("a", "bc") apart.
    let mut digest = Sha256::new();
    digest.update(server.len().to_be_bytes());
    digest.update(server);
    digest.update(tool);
    let digest = digest.finalize();
    let mark: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    let kept = &plain[..plain.len().min(NAME_CHARS_MAX - MARK_DIGITS - 1)];
    format!("{kept}_{}", &mark[..MARK_DIGITS])
}

#[cfg(test)]
mod tests;
