//! What the tools of a server are called here: `server__tool`, in letters that every model takes.

use std::collections::BTreeSet;

use sha2::{Digest as _, Sha256};

/// Longest name of a tool that providers of models take.
const NAME_BYTES_MAX: usize = 64;

/// Digits of the digest that tells apart names which would be the same once they are cut or cleaned.
const MARK_DIGITS: usize = 8;

/// The name of a server's tool, unlike any of `taken`. The same tools in the same order have the same
/// names each time, so that what an agent is allowed stays what it was.
pub(super) fn tool_name(server: &str, tool: &str, taken: &BTreeSet<String>) -> String {
    let plain = format!("{}__{}", clean(server), clean(tool));
    if plain.len() <= NAME_BYTES_MAX && !taken.contains(&plain) {
        return plain;
    }
    // The length keeps ("ab", "c") and ("a", "bc") apart.
    let mut digest = Sha256::new();
    digest.update(server.len().to_be_bytes());
    digest.update(server);
    digest.update(tool);
    let digest = digest.finalize();
    let mark: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    // All of it is ASCII by now.
    let kept: String = plain.chars().take(NAME_BYTES_MAX - MARK_DIGITS - 1).collect();
    format!("{kept}_{}", &mark[..MARK_DIGITS])
}

fn clean(name: &str) -> String {
    let clean = |letter: char| match letter {
        'A'..='Z' | 'a'..='z' | '0'..='9' | '_' | '-' => letter,
        _ => '_',
    };
    name.chars().map(clean).collect()
}

#[cfg(test)]
mod tests;
