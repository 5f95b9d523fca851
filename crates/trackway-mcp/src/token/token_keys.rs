//! The document of signing keys in a store: created by whoever comes first, replaced as a whole.

use std::{io, sync::Arc};

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use trackway_domain::Timestamp;
use trackway_ports::{KeyDocumentName, KeyInspection, KeyRevision, KeyStore, KeyStoreError};

use super::token_codec::{KEY_ID_BYTES, KeyId, SigningSecret, mask_key_id};

const DOCUMENT: KeyDocumentName = KeyDocumentName::TokenKeys;
const FORMAT: u32 = 1;

#[derive(Debug, thiserror::Error)]
pub enum KeyRingError {
    #[error("the keys for tokens in {path} cannot be read")]
    Read { path: String, source: KeyStoreError },
    #[error("the keys for tokens in {path} cannot be read: {reason}")]
    Damaged { path: String, reason: String },
    #[error("the keys for tokens in {path} cannot be written")]
    Write { path: String, source: KeyStoreError },
    #[error("the operating system gives no random numbers")]
    Random(#[source] io::Error),
}

/// The keys for tokens in a store.
#[derive(Debug, Clone)]
pub(super) struct TokenKeyDocument(Arc<dyn KeyStore>);

/// Where the keys of a store come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeysOrigin {
    Found,
    Created,
    /// The store had keys before, and they are gone.
    Recreated,
}

/// What the document holds. Oldest key first; the last one signs.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct TokenKeys {
    pub(super) keys: Vec<TokenKey>,
    /// Seed of the key that signs session bundles. It is not rotated: it says which store a bundle is
    /// from.
    pub(super) bundle: SigningSecret,
}

#[derive(Clone, PartialEq, Eq)]
pub(super) struct TokenKey {
    pub(super) id: KeyId,
    /// Removed when the key is retired; the id stays, so that its tokens are recognised as expired.
    pub(super) secret: Option<SigningSecret>,
    pub(super) created_at: Timestamp,
    /// When another key began to sign instead.
    pub(super) replaced_at: Option<Timestamp>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct StoredTokenKeys {
    format: u32,
    keys: Vec<StoredTokenKey>,
    bundle_key: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct StoredTokenKey {
    id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    secret: Option<String>,
    created_at: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    replaced_at: Option<String>,
}

impl TokenKey {
    pub(super) fn generate(now: Timestamp) -> Result<Self, KeyRingError> {
        let (id, secret) = (mask_key_id(random_bytes()?), Some(random_bytes()?));
        Ok(Self { id, secret, created_at: now, replaced_at: None })
    }
}

impl TokenKeyDocument {
    pub(super) fn in_store(store: Arc<dyn KeyStore>) -> Self {
        Self(store)
    }

    /// The keys, created if there are none. Of two processes that come at once, the second finds what the
    /// first created.
    pub(super) async fn load_or_create(
        &self,
        now: Timestamp,
    ) -> Result<(KeyRevision, TokenKeys, KeysOrigin), KeyRingError> {
        loop {
            if let Some((revision, keys)) = self.load().await? {
                return Ok((revision, keys, KeysOrigin::Found));
            }
            let had_keys = self.inspect().await?.was_removed;
            let keys = TokenKeys { keys: vec![TokenKey::generate(now)?], bundle: random_bytes()? };
            if let Some(revision) = self.replace(None, &keys).await? {
                let origin = if had_keys { KeysOrigin::Recreated } else { KeysOrigin::Created };
                return Ok((revision, keys, origin));
            }
        }
    }

    /// Writes the keys again if the document is gone. If another process was faster, its keys count.
    pub(super) async fn rewrite_if_missing(
        &self,
        keys: &TokenKeys,
    ) -> Result<(KeyRevision, TokenKeys), KeyRingError> {
        loop {
            if let Some(revision) = self.replace(None, keys).await? {
                return Ok((revision, keys.clone()));
            }
            if let Some(found) = self.load().await? {
                return Ok(found);
            }
        }
    }

    /// Changes the keys. The change is made again if another process was faster.
    pub(super) async fn update<T>(
        &self,
        now: Timestamp,
        change: impl Fn(&mut TokenKeys) -> Result<T, KeyRingError>,
    ) -> Result<T, KeyRingError> {
        loop {
            let (revision, mut keys, _) = self.load_or_create(now).await?;
            let changed = change(&mut keys)?;
            if self.replace(Some(revision), &keys).await?.is_some() {
                return Ok(changed);
            }
        }
    }

    pub(super) async fn inspect(&self) -> Result<KeyInspection, KeyRingError> {
        self.0.inspect(DOCUMENT).await.map_err(|source| self.read_error(source))
    }

    pub(super) async fn revision(&self) -> Result<Option<KeyRevision>, KeyRingError> {
        self.0.revision(DOCUMENT).await.map_err(|source| self.read_error(source))
    }

    pub(super) async fn load(&self) -> Result<Option<(KeyRevision, TokenKeys)>, KeyRingError> {
        let document = self.0.load(DOCUMENT).await.map_err(|source| self.read_error(source))?;
        let Some(document) = document else { return Ok(None) };
        let keys = parse_token_keys(&document.bytes)
            .map_err(|reason| KeyRingError::Damaged { path: self.location(), reason })?;
        Ok(Some((document.revision, keys)))
    }

    pub(super) fn location(&self) -> String {
        self.0.location(DOCUMENT)
    }

    /// `None` if somebody else was faster.
    async fn replace(
        &self,
        expected: Option<KeyRevision>,
        keys: &TokenKeys,
    ) -> Result<Option<KeyRevision>, KeyRingError> {
        let bytes = serde_json::to_vec_pretty(&StoredTokenKeys::from(keys))
            .map_err(|error| self.write_error(KeyStoreError::Broken { reason: error.to_string() }))?;
        match self.0.replace(DOCUMENT, expected, bytes).await {
            Ok(revision) => Ok(Some(revision)),
            Err(KeyStoreError::Conflict) => Ok(None),
            Err(source) => Err(self.write_error(source)),
        }
    }

    fn read_error(&self, source: KeyStoreError) -> KeyRingError {
        KeyRingError::Read { path: self.location(), source }
    }

    fn write_error(&self, source: KeyStoreError) -> KeyRingError {
        KeyRingError::Write { path: self.location(), source }
    }
}

fn parse_token_keys(text: &[u8]) -> Result<TokenKeys, String> {
    // The parser's message is dropped: it may repeat a secret.
    let written: StoredTokenKeys = serde_json::from_slice(text).map_err(|error| {
        format!("it is not of its form at line {}, column {}", error.line(), error.column())
    })?;
    if written.format != FORMAT {
        return Err(format!("it has the format {}, not {FORMAT}", written.format));
    }
    let keys: Vec<TokenKey> = written.keys.iter().map(parse_token_key).collect::<Result<_, _>>()?;
    match keys.last() {
        Some(TokenKey { secret: Some(_), .. }) => {}
        Some(_) | None => return Err("there is no key to sign with".to_owned()),
    }
    Ok(TokenKeys { keys, bundle: decode_hex(&written.bundle_key)? })
}

fn parse_token_key(stored: &StoredTokenKey) -> Result<TokenKey, String> {
    let moment = |text: &String| text.parse::<Timestamp>();
    let id = decode_hex::<KEY_ID_BYTES>(&stored.id)?;
    if mask_key_id(id) != id {
        return Err(format!("{:?} is no id of a key", stored.id));
    }
    Ok(TokenKey {
        id,
        secret: stored.secret.as_deref().map(decode_hex).transpose()?,
        created_at: moment(&stored.created_at)?,
        replaced_at: stored.replaced_at.as_ref().map(moment).transpose()?,
    })
}

fn decode_hex<const N: usize>(hex: &str) -> Result<[u8; N], String> {
    let decoded = HEXLOWER.decode(hex.as_bytes()).ok();
    decoded
        .and_then(|bytes| bytes.try_into().ok())
        .ok_or_else(|| format!("a key or its id has not {} hex digits", N * 2))
}

fn random_bytes<const N: usize>() -> Result<[u8; N], KeyRingError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| KeyRingError::Random(io::Error::other(error)))?;
    Ok(bytes)
}

impl From<&TokenKeys> for StoredTokenKeys {
    fn from(contents: &TokenKeys) -> Self {
        let keys = contents.keys.iter().map(|key| StoredTokenKey {
            id: HEXLOWER.encode(&key.id),
            secret: key.secret.map(|secret| HEXLOWER.encode(&secret)),
            created_at: key.created_at.to_string(),
            replaced_at: key.replaced_at.map(|moment| moment.to_string()),
        });
        Self { format: FORMAT, keys: keys.collect(), bundle_key: HEXLOWER.encode(&contents.bundle) }
    }
}

#[cfg(test)]
mod tests;
