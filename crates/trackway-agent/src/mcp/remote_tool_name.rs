//! Names for the tools of a server: `server__tool`, in characters that every model accepts.

use std::collections::BTreeSet;

use crate::tool_naming::{NAME_CHARS_MAX, SERVER_SEPARATOR, append_name_digest, sanitize_tool_name};

/// Longest name of a tool that the protocol allows.
/// Limit (Tools): name that a server gives a tool.
const TOOL_NAME_CHARS_MAX: usize = 128;

/// Whether the protocol allows this name for a tool ("Tool Names", since revision 2025-11-25).
pub(super) fn is_valid_tool_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    (1..=TOOL_NAME_CHARS_MAX).contains(&name.len()) && name.bytes().all(is_plain)
}

/// A unique name for a server's tool, not in `used_names`. The same tools in the same order always get the
/// same names, so that an agent's permissions stay valid.
pub(super) fn unique_prefixed_tool_name(server: &str, tool: &str, used_names: &BTreeSet<String>) -> String {
    let plain = format!("{}{SERVER_SEPARATOR}{}", sanitize_tool_name(server), sanitize_tool_name(tool));
    // Everything is ASCII at this point.
    if plain.len() <= NAME_CHARS_MAX && !used_names.contains(&plain) {
        return plain;
    }
    // The length keeps ("ab", "c") and ("a", "bc") apart.
    let length = server.len().to_be_bytes();
    append_name_digest(&plain, [&length, server.as_bytes(), tool.as_bytes()].concat())
}

#[cfg(test)]
mod tests;
