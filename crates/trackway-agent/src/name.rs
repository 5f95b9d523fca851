//! Names of tools as every provider takes them: at most 64 of `[A-Za-z0-9_-]`.

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

/// The longest name that every provider takes.
/// Limit (Agents): name of a tool that a model is given.
pub(crate) const NAME_CHARS_MAX: usize = 64;

/// Hex digits that tell apart names which would be the same once they are cut or cleaned.
const DIGEST_DIGITS: usize = 8;

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

/// The name, cut to its longest, with digits behind it that are made from `key`: names that were cut or cleaned
/// are told apart by them, and are the same every time. The name is ASCII.
pub(crate) fn with_digest(name: &str, key: impl AsRef<[u8]>) -> String {
    let digits = &HEXLOWER.encode(&Sha256::digest(key))[..DIGEST_DIGITS];
    format!("{}_{digits}", &name[..name.len().min(NAME_CHARS_MAX - DIGEST_DIGITS - 1)])
}
