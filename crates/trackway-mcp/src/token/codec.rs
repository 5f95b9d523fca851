//! The text of a token: `st.v1.` or `ack.v1.`, then key id, ids and signature in base32.
//!
//! The alphabet has no letters that are mistaken for digits, and nothing that Markdown, JSON or a
//! shell would touch. What a chat puts around a token is taken off; within it every character counts.

use std::sync::LazyLock;

use data_encoding::{Encoding, Specification};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use subtle::ConstantTimeEq as _;
use trackway_domain::{AckId, NodeId, RunId};
use uuid::Uuid;

use super::error::{Fault, Param};

/// Bytes of a key's id: enough to tell a folder's keys apart from those of any other. Five bytes are
/// eight whole characters, so that an altered character is in the id or behind it and never in both.
pub(super) const KEY_ID_BYTES: usize = 5;
/// Bytes of an id in a token.
const ID_BYTES: usize = 16;
/// Bytes of the signature: 128 bits, which nobody guesses.
const MAC_BYTES: usize = 16;

/// Crockford's alphabet: without `i`, `l`, `o` and `u`.
static BASE32: LazyLock<Encoding> = LazyLock::new(|| {
    let mut specification = Specification::new();
    specification.symbols.push_str("0123456789abcdefghjkmnpqrstvwxyz");
    specification.encoding().expect("32 symbols, none twice")
});

pub(super) type KeyId = [u8; KEY_ID_BYTES];
pub(super) type Key = [u8; 32];

/// What a state token names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub run: RunId,
    pub node: NodeId,
}

/// What an ack token names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ack {
    pub place: Place,
    pub ack: AckId,
}

/// A token's bytes, taken apart and not yet believed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unproved {
    param: Param,
    pub(super) key: KeyId,
    ids: Vec<u8>,
    mac: [u8; MAC_BYTES],
}

impl Param {
    const fn ids(self) -> usize {
        match self {
            Self::State => 2,
            Self::Ack => 3,
        }
    }

    /// Characters after the prefix.
    const fn body_chars(self) -> usize {
        ((KEY_ID_BYTES + self.ids() * ID_BYTES + MAC_BYTES) * 8).div_ceil(5)
    }
}

/// Signs and writes a token.
pub(super) fn write(param: Param, id: KeyId, key: &Key, ids: &[Uuid]) -> String {
    let mut body = id.to_vec();
    for id in ids {
        body.extend_from_slice(id.as_bytes());
    }
    let mac = sign(param, key, &body);
    body.extend_from_slice(&mac);
    format!("{}{}", param.prefix(), BASE32.encode(&body))
}

/// Takes a token's text apart.
pub(super) fn read(param: Param, text: &str) -> Result<Unproved, Fault> {
    let token = bare(text);
    let Some(body) = token.strip_prefix(param.prefix()) else {
        return Err(malformed(param, &token));
    };
    let plain = body.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if !plain || body.len() != param.body_chars() {
        return Err(malformed(param, &token));
    }
    // Of a token's form, but with a letter that none has, or bits beyond the end: somebody altered it.
    let bytes = BASE32.decode(body.as_bytes()).map_err(|_| Fault::Changed)?;
    let (key, rest) = bytes.split_first_chunk::<KEY_ID_BYTES>().ok_or(Fault::Changed)?;
    let (ids, mac) = rest.split_last_chunk::<MAC_BYTES>().ok_or(Fault::Changed)?;
    Ok(Unproved { param, key: *key, ids: ids.to_vec(), mac: *mac })
}

impl Unproved {
    /// Whether this key signed it, under the name that the token gives or under another.
    pub(super) fn is_signed_by(&self, id: KeyId, key: &Key) -> bool {
        let mut body = id.to_vec();
        body.extend_from_slice(&self.ids);
        sign(self.param, key, &body).ct_eq(&self.mac).into()
    }

    fn id(&self, at: usize) -> Uuid {
        let bytes = self.ids.get(at * ID_BYTES..).and_then(|ids| ids.first_chunk());
        Uuid::from_bytes(bytes.copied().unwrap_or_default())
    }

    pub(super) fn place(&self) -> Place {
        Place { run: RunId::new(self.id(0)), node: NodeId::new(self.id(1)) }
    }

    pub(super) fn ack(&self) -> Ack {
        Ack { place: self.place(), ack: AckId::new(self.id(2)) }
    }
}

/// Whether an agent that looks for a token would take this line for one.
pub(crate) fn looks_like_one(line: &str) -> bool {
    let line = bare(line);
    [Param::State, Param::Ack].iter().any(|param| {
        let body = line.strip_prefix(param.prefix());
        body.is_some_and(|body| {
            !body.is_empty() && body.bytes().all(|byte| byte.is_ascii_alphanumeric())
        })
    })
}

fn sign(param: Param, key: &Key, body: &[u8]) -> [u8; MAC_BYTES] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("any length is taken");
    mac.update(param.prefix().as_bytes());
    mac.update(body);
    let whole: [u8; 32] = mac.finalize().into_bytes().into();
    whole.first_chunk().copied().expect("32 bytes have 16 first ones")
}

/// The token without what a chat or a quoting agent puts around it. All in capitals is the same token;
/// capitals here and there are not.
fn bare(text: &str) -> String {
    let around = |c: char| {
        c.is_whitespace()
            || c.is_control()
            || c == '\u{200b}'
            || c == '\u{feff}'
            || !c.is_alphanumeric()
    };
    let token = text.trim_matches(around);
    if token.bytes().any(|byte| byte.is_ascii_lowercase()) {
        token.to_owned()
    } else {
        token.to_ascii_lowercase()
    }
}

/// Why a text is no token, in words that help to mend it. The text itself is not repeated: it may be
/// long, and it may be a secret that was pasted into the wrong place.
fn malformed(param: Param, token: &str) -> Fault {
    let (prefix, chars) = (param.prefix(), param.prefix().len() + param.body_chars());
    let hint = if token.is_empty() {
        format!("it is empty; a {param} begins with {prefix}")
    } else if token.contains(char::is_whitespace) {
        format!(
            "there are blanks or line breaks in it; a {param} is one word of {chars} characters"
        )
    } else if token.starts_with(prefix) {
        let have = token.chars().count();
        if have == chars {
            format!("a {param} has only letters and digits after {prefix}")
        } else {
            format!(
                "it has {have} characters, a {param} has {chars}: something is missing or was glued to it"
            )
        }
    } else if token.contains(prefix) {
        format!(
            "other text is glued to it; send only the {chars} characters that begin with {prefix}"
        )
    } else {
        format!("a {param} begins with {prefix} and has {chars} characters")
    };
    Fault::Malformed { hint }
}

#[cfg(test)]
mod tests;
