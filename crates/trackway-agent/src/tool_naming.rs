//! Names of tools that every provider accepts: at most 64 of `[A-Za-z0-9_-]`.

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

/// The longest name that every provider accepts.
/// Limit (Agents): name of a tool that a model is given.
pub(crate) const NAME_CHARS_MAX: usize = 64;

/// Hex digits that distinguish names which are equal after they are cut or cleaned.
const DIGEST_DIGITS: usize = 8;

/// The separator between the name of an MCP server and the name of its tool.
pub const SERVER_SEPARATOR: &str = "__";

/// The name in characters that every provider accepts; every other character becomes `_`.
pub fn sanitize_tool_name(name: &str) -> String {
    let plain = |letter: char| match letter {
        'A'..='Z' | 'a'..='z' | '0'..='9' | '_' | '-' => letter,
        _ => '_',
    };
    name.chars().map(plain).collect()
}

/// The name, cut to the maximum length, with a suffix of digits derived from `key`. The suffix
/// distinguishes names that were cut or cleaned, and is always the same. The name is ASCII.
pub(crate) fn append_name_digest(name: &str, key: impl AsRef<[u8]>) -> String {
    let digits = &HEXLOWER.encode(&Sha256::digest(key))[..DIGEST_DIGITS];
    format!("{}_{digits}", &name[..name.len().min(NAME_CHARS_MAX - DIGEST_DIGITS - 1)])
}
