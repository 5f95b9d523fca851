//! The compact form of a signed token: header, payload and signature in base64url, with dots.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{MalformedCallToken, NodePublicKey, node_key::NodeKey};

/// Longest token that is read: the longest chain of addresses that a node sends, and room.
/// Limit (Mesh): signed call token.
pub(super) const TOKEN_BYTES_MAX: usize = 16 * 1024;

/// The only algorithm.
const ALGORITHM: &str = "EdDSA";
/// What the token is, so that no other signature of the same key can be taken for one.
const TOKEN_TYPE: &str = "trackway-call";

/// A field that we do not know could change what the signature means, so there is none.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct JwsHeader {
    alg: String,
    kid: String,
    typ: String,
}

/// A token whose signature has not been checked.
#[derive(Debug)]
pub(super) struct CompactJws<'a> {
    pub(super) signer: NodePublicKey,
    pub(super) payload: Value,
    signed: &'a str,
    signature: [u8; 64],
}

/// Signs a payload.
pub(super) fn sign_payload(key: &NodeKey, payload: &Value) -> String {
    let header = JwsHeader {
        alg: ALGORITHM.to_owned(),
        kid: key.public_key().to_string(),
        typ: TOKEN_TYPE.to_owned(),
    };
    let encode_json = |json: String| URL_SAFE_NO_PAD.encode(json);
    // Three texts always have JSON.
    let header = encode_json(serde_json::to_string(&header).unwrap_or_default());
    let signed = format!("{header}.{}", encode_json(payload.to_string()));
    let signature = URL_SAFE_NO_PAD.encode(key.sign(signed.as_bytes()));
    format!("{signed}.{signature}")
}

impl<'a> CompactJws<'a> {
    pub(super) fn parse(token: &'a str) -> Result<Self, MalformedCallToken> {
        let malformed = MalformedCallToken;
        if token.len() > TOKEN_BYTES_MAX {
            return Err(malformed("it is longer than 16 KiB"));
        }
        let parts = token.rsplit_once('.').and_then(|(signed, signature)| {
            let (header, payload) = signed.split_once('.')?;
            Some((signed, header, payload, signature))
        });
        let (signed, header, payload, signature) = parts.ok_or(malformed("it does not have three parts"))?;
        let decode = |part: &str| URL_SAFE_NO_PAD.decode(part).map_err(|_| malformed("it is not base64url"));
        let header: JwsHeader =
            serde_json::from_slice(&decode(header)?).map_err(|_| malformed("its header is not ours"))?;
        if header.alg != ALGORITHM || header.typ != TOKEN_TYPE {
            return Err(malformed("its algorithm or type is not ours"));
        }
        let signer = header.kid.parse().map_err(|_| malformed("its key is not one of a node"))?;
        let payload =
            serde_json::from_slice(&decode(payload)?).map_err(|_| malformed("its claims are not JSON"))?;
        let signature =
            decode(signature)?.try_into().map_err(|_| malformed("its signature has another length"))?;
        Ok(Self { signer, payload, signed, signature })
    }

    /// Whether the key that the token names made its signature.
    pub(super) fn has_valid_signature(&self) -> bool {
        self.signer.is_signature_of(self.signed.as_bytes(), &self.signature)
    }
}
