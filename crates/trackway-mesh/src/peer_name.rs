//! Names of peers: what a person or a card calls them.

use std::{fmt, sync::Arc};

use sha2::{Digest as _, Sha256};
use trackway_runtime::ProgramInfo;

/// Longest name that is taken from a card or an address; with a suffix it still fits into the name of a tool.
/// Limit (Mesh): name of a peer that its card or address gives, in bytes.
const SLUG_BYTES_MAX: usize = 40;
/// Hexadecimal digits of the suffix of a name that is taken.
const SUFFIX_DIGITS: usize = 8;
/// The name of a peer whose card and address have no letters.
const NAMELESS: &str = "peer";

/// The name of a peer, in the form of names of workflows: letters, digits, `-`, `_` and single dots inside.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PeerName(Arc<str>);

/// A text that cannot name a peer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name:?} cannot name a peer: use letters, digits, `-`, `_` and single dots inside, at most 64")]
pub struct InvalidPeerName {
    pub name: String,
}

impl PeerName {
    pub fn new(name: &str) -> Result<Self, InvalidPeerName> {
        if ProgramInfo::is_valid_program_name(name) {
            Ok(Self(name.into()))
        } else {
            Err(InvalidPeerName { name: name.chars().take(100).collect() })
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A name in small letters from any text: everything but letters and digits separates words.
    pub(crate) fn slug_of(text: &str) -> Self {
        let mut slug = String::new();
        for c in text.chars() {
            let c = if c.is_ascii_alphanumeric() || c == '_' { c.to_ascii_lowercase() } else { '-' };
            if c != '-' || !(slug.is_empty() || slug.ends_with('-')) {
                slug.push(c);
            }
            if slug.len() >= SLUG_BYTES_MAX {
                break;
            }
        }
        let slug = slug.trim_matches('-');
        Self(if slug.is_empty() { NAMELESS } else { slug }.into())
    }

    /// This name for a second peer that wants it. The suffix depends on the peer's address only, so it is the
    /// same after every restart.
    pub(crate) fn with_suffix_of(&self, url: &str) -> Self {
        let hash = Sha256::digest(url.as_bytes());
        let digits: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        let stem: String = self.0.chars().take(SLUG_BYTES_MAX).collect();
        Self(format!("{}-{}", stem.trim_end_matches(['-', '.']), &digits[..SUFFIX_DIGITS]).into())
    }
}

impl fmt::Display for PeerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for PeerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl AsRef<str> for PeerName {
    fn as_ref(&self) -> &str {
        &self.0
    }
}
