//! A session in a file: every record as it is stored, the definitions that it is pinned to, a digest
//! over all of it and a signature over the digest. It holds no tokens and no keys to make any.
//!
//! The file is JSON, and it is read only when it is byte for byte as it was written: a file that was
//! reformatted could hide that it was changed.

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use trackway_domain::{RunId, Seq, SessionId, Timestamp};

use super::{SignedBy, key};

/// The form that is written, and the only one there has been.
const VERSION: u32 = 1;
const ALGORITHM: &str = "ed25519";

/// Why a bundle is refused. Nothing was imported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadBundle {
    #[error("this is not a session bundle: {why}")]
    NotABundle { why: String },
    #[error("the bundle has version {found}; this program reads version {VERSION}")]
    Version { found: u64 },
    #[error("the bundle was rewritten: it is not byte for byte as it was exported")]
    Rewritten,
    #[error("the bundle was changed: its content does not have the digest that it names")]
    Changed,
    #[error("the bundle was changed: its signature is not the one of the key that it names")]
    Signature,
    #[error("the bundle was signed by {found}, not by {expected}")]
    ForeignSigned { found: String, expected: String },
    #[error("event {seq} of {run} cannot be taken: {why}")]
    Event { run: RunId, seq: Seq, why: String },
    #[error("{run} cannot be taken: {why}")]
    Run { run: RunId, why: String },
    #[error("definition {hash} cannot be taken: {why}")]
    Definition { hash: String, why: &'static str },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Bundle {
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

/// What the digest is over.
#[derive(Serialize)]
struct Content<'a>(u32, &'a SessionId, &'a [BundledRun], &'a [BundledDefinition]);

impl Bundle {
    pub(super) fn sealed(
        session_id: SessionId,
        runs: Vec<BundledRun>,
        definitions: Vec<BundledDefinition>,
        public_key: [u8; 32],
        sign: impl FnOnce(&[u8]) -> [u8; 64],
    ) -> Self {
        let digest = digest(&Content(VERSION, &session_id, &runs, &definitions));
        let signature = BundledSignature {
            algorithm: ALGORITHM.to_owned(),
            public_key: HEXLOWER.encode(&public_key),
            value: key::signature(sign, &digest),
        };
        Self { version: VERSION, session_id, runs, definitions, digest, signature }
    }

    pub(super) fn to_text(&self) -> String {
        let mut text =
            serde_json::to_string_pretty(self).expect("a bundle has no map keys but strings");
        text.push('\n');
        text
    }

    /// The bundle in this file, whole and signed; where a signer is named, by that one.
    pub(super) fn open(file: &[u8], signer: Option<&SignedBy>) -> Result<Self, BadBundle> {
        let not_one = |why: String| BadBundle::NotABundle { why };
        let text = std::str::from_utf8(file).map_err(|error| not_one(error.to_string()))?;
        check_version(text)?;
        let bundle: Self =
            serde_json::from_str(text).map_err(|error| not_one(error.to_string()))?;
        if bundle.to_text() != text {
            return Err(BadBundle::Rewritten);
        }
        let content =
            Content(bundle.version, &bundle.session_id, &bundle.runs, &bundle.definitions);
        if digest(&content) != bundle.digest {
            return Err(BadBundle::Changed);
        }
        let public = bundle.signer().ok_or(BadBundle::Signature)?;
        let value = bytes(&bundle.signature.value).ok_or(BadBundle::Signature)?;
        if bundle.signature.algorithm != ALGORITHM || !key::fits(&public, &bundle.digest, &value) {
            return Err(BadBundle::Signature);
        }
        match signer {
            Some(expected) if !expected.is(&public) => Err(BadBundle::ForeignSigned {
                found: key::fingerprint(&public),
                expected: expected.to_string(),
            }),
            _ => Ok(bundle),
        }
    }

    /// The public key that it says it was signed with.
    fn signer(&self) -> Option<[u8; 32]> {
        bytes(&self.signature.public_key)
    }

    pub(super) fn fingerprint(&self) -> String {
        self.signer().map(|public| key::fingerprint(&public)).unwrap_or_default()
    }
}

/// Says of a file that is no bundle of ours what it is instead, before its form is looked at.
fn check_version(text: &str) -> Result<(), BadBundle> {
    #[derive(Deserialize)]
    struct Version {
        #[serde(rename = "trackway-session")]
        version: Option<u64>,
    }
    match serde_json::from_str::<Version>(text) {
        Ok(Version { version: Some(found) }) if found == u64::from(VERSION) => Ok(()),
        Ok(Version { version: Some(found) }) => Err(BadBundle::Version { found }),
        Ok(Version { version: None }) => {
            Err(BadBundle::NotABundle { why: "it has no \"trackway-session\"".to_owned() })
        }
        Err(error) => Err(BadBundle::NotABundle { why: error.to_string() }),
    }
}

fn digest(content: &Content<'_>) -> String {
    let text = serde_json::to_vec(content).expect("a bundle has no map keys but strings");
    hash(&text)
}

/// The name of a text, as definitions are named too.
pub(super) fn hash(text: &[u8]) -> String {
    format!("sha256-{}", HEXLOWER.encode(&Sha256::digest(text)))
}

fn bytes<const N: usize>(hex: &str) -> Option<[u8; N]> {
    HEXLOWER.decode(hex.as_bytes()).ok()?.try_into().ok()
}
