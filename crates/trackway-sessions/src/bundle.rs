//! A session in a file: every record as it is stored, the definitions that its runs are pinned to, a digest
//! over all of it and a signature over the digest. It contains no tokens and no keys to make any.
//!
//! The file is JSON. It is accepted only if it is byte for byte as it was exported: a reformatted file
//! could hide a change.

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use trackway_domain::{RunId, Seq, SessionId, Timestamp};

use super::{ExpectedSigner, signing_key};

/// The version that is written. There has been no other.
const VERSION: u32 = 1;
const ALGORITHM: &str = "ed25519";

/// Why a bundle is refused. Nothing was imported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BundleError {
    #[error("this is not a session bundle: {why}")]
    NotABundle { why: String },
    #[error("the bundle has version {found}; this program reads version {VERSION}")]
    Version { found: u64 },
    #[error("the bundle was rewritten: it is not byte for byte as it was exported")]
    Rewritten,
    #[error("the bundle was changed: its content does not have the digest that it names")]
    DigestMismatch,
    #[error("the bundle was changed: its signature is not the one of the key that it names")]
    Signature,
    #[error("the bundle was signed by {found}, not by {expected}")]
    WrongSigner { found: String, expected: String },
    #[error("event {seq} of {run} cannot be taken: {why}")]
    Event { run: RunId, seq: Seq, why: String },
    #[error("{run} cannot be taken: {why}")]
    Run { run: RunId, why: String },
    #[error("definition {hash} cannot be taken: {why}")]
    Definition { hash: String, why: &'static str },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct SessionBundle {
    #[serde(rename = "trackway-session")]
    version: u32,
    pub(super) session_id: SessionId,
    pub(super) runs: Vec<BundledRun>,
    pub(super) definitions: Vec<BundledDefinition>,
    digest: String,
    pub(super) signature: BundledSignature,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct BundledRun {
    pub(super) run_id: RunId,
    pub(super) events: Vec<BundledEvent>,
}

/// A record as it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BundledEvent {
    pub(super) format: u32,
    pub(super) seq: Seq,
    pub(super) at: Timestamp,
    pub(super) body: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BundledDefinition {
    pub(super) hash: String,
    pub(super) body: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct BundledSignature {
    algorithm: String,
    public_key: String,
    value: String,
}

/// The content that the digest covers.
#[derive(Serialize)]
struct DigestedContent<'a>(u32, &'a SessionId, &'a [BundledRun], &'a [BundledDefinition]);

impl SessionBundle {
    pub(super) fn new_signed_bundle(
        session_id: SessionId,
        runs: Vec<BundledRun>,
        definitions: Vec<BundledDefinition>,
        public_key: [u8; 32],
        sign: impl FnOnce(&[u8]) -> [u8; 64],
    ) -> Self {
        let digest = bundle_content_digest(&DigestedContent(VERSION, &session_id, &runs, &definitions));
        let signature = BundledSignature {
            algorithm: ALGORITHM.to_owned(),
            public_key: HEXLOWER.encode(&public_key),
            value: signing_key::sign_bundle_digest(sign, &digest),
        };
        Self { version: VERSION, session_id, runs, definitions, digest, signature }
    }

    pub(super) fn to_bundle_text(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("a bundle has no map keys but strings");
        text.push('\n');
        text
    }

    /// The bundle in this file, complete and signed. If a signer is named, it must be signed by that one.
    pub(super) fn parse_and_verify_bundle(
        file: &[u8],
        signer: Option<&ExpectedSigner>,
    ) -> Result<Self, BundleError> {
        let not_one = |why: String| BundleError::NotABundle { why };
        let text = std::str::from_utf8(file).map_err(|error| not_one(error.to_string()))?;
        check_bundle_version(text)?;
        let bundle: Self = serde_json::from_str(text).map_err(|error| not_one(error.to_string()))?;
        if bundle.to_bundle_text() != text {
            return Err(BundleError::Rewritten);
        }
        let content = DigestedContent(bundle.version, &bundle.session_id, &bundle.runs, &bundle.definitions);
        if bundle_content_digest(&content) != bundle.digest {
            return Err(BundleError::DigestMismatch);
        }
        let public = bundle.signer_public_key().ok_or(BundleError::Signature)?;
        let value = decode_hex(&bundle.signature.value).ok_or(BundleError::Signature)?;
        if bundle.signature.algorithm != ALGORITHM
            || !signing_key::is_digest_signature_valid(&public, &bundle.digest, &value)
        {
            return Err(BundleError::Signature);
        }
        match signer {
            Some(expected) if !expected.matches_public_key(&public) => Err(BundleError::WrongSigner {
                found: signing_key::public_key_fingerprint(&public),
                expected: expected.to_string(),
            }),
            _ => Ok(bundle),
        }
    }

    /// The public key that it says it was signed with.
    fn signer_public_key(&self) -> Option<[u8; 32]> {
        decode_hex(&self.signature.public_key)
    }

    pub(super) fn signer_fingerprint(&self) -> String {
        self.signer_public_key()
            .map(|public| signing_key::public_key_fingerprint(&public))
            .unwrap_or_default()
    }
}

/// For a file that is not one of our bundles, says what it is instead, before the form is checked.
fn check_bundle_version(text: &str) -> Result<(), BundleError> {
    #[derive(Deserialize)]
    struct BundleVersion {
        #[serde(rename = "trackway-session")]
        version: Option<u64>,
    }
    match serde_json::from_str::<BundleVersion>(text) {
        Ok(BundleVersion { version: Some(found) }) if found == u64::from(VERSION) => Ok(()),
        Ok(BundleVersion { version: Some(found) }) => Err(BundleError::Version { found }),
        Ok(BundleVersion { version: None }) => {
            Err(BundleError::NotABundle { why: "it has no \"trackway-session\"".to_owned() })
        }
        Err(error) => Err(BundleError::NotABundle { why: error.to_string() }),
    }
}

fn bundle_content_digest(content: &DigestedContent<'_>) -> String {
    let text = serde_json::to_vec(content).expect("a bundle has no map keys but strings");
    sha256_hash_name(&text)
}

/// The hash of a text, in the same form as the hashes of definitions.
pub(super) fn sha256_hash_name(text: &[u8]) -> String {
    format!("sha256-{}", HEXLOWER.encode(&Sha256::digest(text)))
}

fn decode_hex<const N: usize>(hex: &str) -> Option<[u8; N]> {
    HEXLOWER.decode(hex.as_bytes()).ok()?.try_into().ok()
}
