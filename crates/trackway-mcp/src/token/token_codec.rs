//! The text of a token: `st.v1.` or `ack.v1.`, then key id, ids and signature in base32.
//!
//! A state token has the short form of run and node. An ack token has a tag of the run and the short form
//! of the node and of the ack. An id without a short form is written in full, which makes a longer token.
//!
//! The alphabet has no letters that look like digits, and nothing that Markdown, JSON or a shell would
//! change. Characters that a chat puts around a token are removed; inside it every character counts.

use std::sync::LazyLock;

use data_encoding::{Encoding, Specification};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use trackway_domain::{ACK_BYTES, AckId, NODE_BYTES, NodeId, RUN_BYTES, RunId};
use uuid::Uuid;

use super::token_error::{TokenErrorKind, TokenParameter};

/// Bytes of a key's id. It uses 15 bits: enough to tell the keys of one folder from those of any other.
/// They are exactly three characters, so that a changed character is either in the id or after it, never in
/// both.
pub(super) const KEY_ID_BYTES: usize = 2;
const KEY_ID_CHARS: usize = 3;
const KEY_ID_MASK: u16 = 0x7fff;
/// Bytes of an id that is written in full.
const ID_BYTES: usize = 16;
/// Bytes that tell an ack's run from another one. The state token that comes with it names the run itself.
const TAG_BYTES: usize = 3;
/// Bytes of the signature: 72 bits. Only the server can check a signature, so a forger has to send every
/// guess as a call. A million calls a second for a year find a signature with a chance of one in 10^8, and
/// it would still have to name a run of that forger. A longer signature makes the token longer, and agents
/// have to copy it.
const MAC_BYTES: usize = 9;

const ALPHABET: &str = "0123456789abcdefghjkmnpqrstvwxyz";

/// Crockford's alphabet: without `i`, `l`, `o` and `u`.
static CROCKFORD_BASE32: LazyLock<Encoding> = LazyLock::new(|| {
    let mut specification = Specification::new();
    specification.symbols.push_str(ALPHABET);
    specification.encoding().expect("32 symbols, none twice")
});

pub(super) type KeyId = [u8; KEY_ID_BYTES];
pub(super) type SigningSecret = [u8; 32];

/// What a state token names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeRef {
    pub run: RunId,
    pub node: NodeId,
}

/// What an ack token names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttemptRef {
    pub node_ref: NodeRef,
    pub ack: AckId,
}

/// The parsed bytes of a token whose signature is not verified yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UnverifiedToken {
    param: TokenParameter,
    pub(super) key: KeyId,
    ids: Vec<u8>,
    mac: [u8; MAC_BYTES],
}

impl TokenParameter {
    /// Bytes of the ids in the short form, and in the full form.
    const fn ids_bytes(self) -> [usize; 2] {
        match self {
            Self::State => [RUN_BYTES + NODE_BYTES, 2 * ID_BYTES],
            Self::Ack => [TAG_BYTES + NODE_BYTES + ACK_BYTES, 3 * ID_BYTES],
        }
    }

    /// Characters after the prefix in the short form, and in the full form.
    fn token_body_lengths(self) -> [usize; 2] {
        self.ids_bytes().map(|ids| KEY_ID_CHARS + ((ids + MAC_BYTES) * 8).div_ceil(5))
    }
}

/// A key's id, of which only 15 bits are used.
pub(super) fn mask_key_id(bytes: [u8; KEY_ID_BYTES]) -> KeyId {
    (u16::from_be_bytes(bytes) & KEY_ID_MASK).to_be_bytes()
}

pub(super) fn encode_state_token(id: KeyId, key: &SigningSecret, node_ref: NodeRef) -> String {
    let NodeRef { run, node } = node_ref;
    let ids = match (run.to_short_bytes(), node.to_short_bytes(run)) {
        (Some(run), Some(node)) => [&run[..], &node[..]].concat(),
        _ => [run.uuid(), node.uuid()].map(Uuid::into_bytes).concat(),
    };
    encode_signed_token(TokenParameter::State, id, key, &ids)
}

pub(super) fn encode_ack_token(id: KeyId, key: &SigningSecret, ack: AttemptRef) -> String {
    let AttemptRef { node_ref: NodeRef { run, node }, ack } = ack;
    let ids = match (node.to_short_bytes(run), ack.to_short_bytes()) {
        (Some(node), Some(ack)) => [&run_id_tag(run)[..], &node[..], &ack[..]].concat(),
        _ => [run.uuid(), node.uuid(), ack.uuid()].map(Uuid::into_bytes).concat(),
    };
    encode_signed_token(TokenParameter::Ack, id, key, &ids)
}

/// Signs and encodes a token.
fn encode_signed_token(param: TokenParameter, id: KeyId, key: &SigningSecret, ids: &[u8]) -> String {
    let mac = token_mac(param, key, id, ids);
    let body = CROCKFORD_BASE32.encode(&[ids, &mac].concat());
    format!("{}{}{body}", param.prefix(), encode_key_id(id))
}

/// The tag that tells the run from others.
fn run_id_tag(run: RunId) -> [u8; TAG_BYTES] {
    let hash: [u8; 32] = Sha256::digest(run.uuid().as_bytes()).into();
    [hash[0], hash[1], hash[2]]
}

fn encode_key_id(id: KeyId) -> String {
    let number = u16::from_be_bytes(id);
    let symbol = |shift: u16| char::from(ALPHABET.as_bytes()[usize::from(number >> shift & 31)]);
    [10, 5, 0].map(symbol).iter().collect()
}

fn decode_key_id(text: &str) -> Option<KeyId> {
    let symbols = text.chars().map(|c| ALPHABET.find(c).and_then(|at| u16::try_from(at).ok()));
    let number = symbols.reduce(|number, symbol| Some(number? << 5 | symbol?))??;
    Some(number.to_be_bytes())
}

/// Parses the text of a token.
pub(super) fn decode_token(param: TokenParameter, text: &str) -> Result<UnverifiedToken, TokenErrorKind> {
    let token = strip_token_decoration(text);
    let Some(body) = token.strip_prefix(param.prefix()) else {
        return Err(malformed_token_error(param, &token));
    };
    let plain = body.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if !plain || !param.token_body_lengths().contains(&body.len()) {
        return Err(malformed_token_error(param, &token));
    }
    // It has the form of a token, but with a letter outside the alphabet or with extra bits at the end: it
    // was altered.
    let (key, body) = body.split_at(KEY_ID_CHARS);
    let key = decode_key_id(key).ok_or(TokenErrorKind::Altered)?;
    let bytes = CROCKFORD_BASE32.decode(body.as_bytes()).map_err(|_| TokenErrorKind::Altered)?;
    let (ids, mac) = bytes.split_last_chunk::<MAC_BYTES>().ok_or(TokenErrorKind::Altered)?;
    Ok(UnverifiedToken { param, key, ids: ids.to_vec(), mac: *mac })
}

impl UnverifiedToken {
    /// Whether this key signed it, under the key name in the token or under another.
    pub(super) fn is_signed_by(&self, id: KeyId, key: &SigningSecret) -> bool {
        token_mac(self.param, key, id, &self.ids).ct_eq(&self.mac).into()
    }

    /// The id at this offset of a token with full ids.
    fn full_uuid_at_index(&self, at: usize) -> Uuid {
        let bytes = self.ids.get(at * ID_BYTES..).and_then(|ids| ids.first_chunk());
        Uuid::from_bytes(bytes.copied().unwrap_or_default())
    }

    /// What a state token names.
    pub(super) fn decode_node_ref(&self) -> NodeRef {
        let short = self.ids.split_first_chunk::<RUN_BYTES>();
        match short.and_then(|(run, node)| Some((*run, <[u8; NODE_BYTES]>::try_from(node).ok()?))) {
            Some((run, node)) => {
                let run = RunId::from_short_bytes(run);
                NodeRef { run, node: NodeId::from_short_bytes(run, node) }
            }
            None => NodeRef {
                run: RunId::new(self.full_uuid_at_index(0)),
                node: NodeId::new(self.full_uuid_at_index(1)),
            },
        }
    }

    /// What an ack token names, if it belongs to this node.
    pub(super) fn decode_attempt_ref(&self, at: NodeRef) -> Result<AttemptRef, TokenErrorKind> {
        let (is_run, node, ack) = match self.split_short_ack_ids() {
            Some((run, node, ack)) => (
                run == run_id_tag(at.run),
                NodeId::from_short_bytes(at.run, node),
                AckId::from_short_bytes(ack),
            ),
            None => {
                let is_run = RunId::new(self.full_uuid_at_index(0)) == at.run;
                (is_run, NodeId::new(self.full_uuid_at_index(1)), AckId::new(self.full_uuid_at_index(2)))
            }
        };
        match (is_run, node == at.node) {
            (false, _) => Err(TokenErrorKind::OtherRun),
            (true, false) => Err(TokenErrorKind::OtherSnapshot),
            (true, true) => Ok(AttemptRef { node_ref: at, ack }),
        }
    }

    fn split_short_ack_ids(&self) -> Option<([u8; TAG_BYTES], [u8; NODE_BYTES], [u8; ACK_BYTES])> {
        let (run, rest) = self.ids.split_first_chunk::<TAG_BYTES>()?;
        let (node, ack) = rest.split_first_chunk::<NODE_BYTES>()?;
        Some((*run, *node, ack.try_into().ok()?))
    }
}

/// Whether an agent that looks for a token would mistake this line for one.
pub(crate) fn looks_like_token(line: &str) -> bool {
    let line = strip_token_decoration(line);
    [TokenParameter::State, TokenParameter::Ack].iter().any(|param| {
        let body = line.strip_prefix(param.prefix());
        body.is_some_and(|body| !body.is_empty() && body.bytes().all(|byte| byte.is_ascii_alphanumeric()))
    })
}

fn token_mac(param: TokenParameter, key: &SigningSecret, id: KeyId, ids: &[u8]) -> [u8; MAC_BYTES] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("a key may have any length");
    mac.update(param.prefix().as_bytes());
    mac.update(&id);
    mac.update(ids);
    let whole: [u8; 32] = mac.finalize().into_bytes().into();
    whole.first_chunk().copied().expect("32 bytes are more than 9")
}

/// The token without the characters that a chat or a quoting agent puts around it. All in capitals is the
/// same token; mixed case is not.
fn strip_token_decoration(text: &str) -> String {
    let around = |c: char| {
        c.is_whitespace() || c.is_control() || c == '\u{200b}' || c == '\u{feff}' || !c.is_alphanumeric()
    };
    let token = text.trim_matches(around);
    if token.bytes().any(|byte| byte.is_ascii_lowercase()) {
        token.to_owned()
    } else {
        token.to_ascii_lowercase()
    }
}

/// Why a text is not a token, in words that help to fix it. The text itself is not repeated: it may be
/// long, and it may be a secret that was pasted into the wrong field.
fn malformed_token_error(param: TokenParameter, token: &str) -> TokenErrorKind {
    let (prefix, [short, _]) = (param.prefix(), param.token_body_lengths());
    let chars = prefix.len() + short;
    let param = param.with_article();
    let hint = if token.is_empty() {
        format!("it is empty; {param} begins with {prefix}")
    } else if token.contains(char::is_whitespace) {
        format!("there are blanks or line breaks in it; {param} is one word of {chars} characters")
    } else if token.starts_with(prefix) {
        let have = token.chars().count();
        if have == chars {
            format!("{param} has only letters and digits after {prefix}")
        } else {
            format!("it has {have} characters, {param} has {chars}: something is missing or was glued to it")
        }
    } else if token.contains(prefix) {
        format!("other text is glued to it; send only the {chars} characters that begin with {prefix}")
    } else {
        format!("{param} begins with {prefix} and has {chars} characters")
    };
    TokenErrorKind::Malformed { hint }
}

#[cfg(test)]
mod tests;
