//! The file of signing keys in a data folder. Only its owner can read it, the first process creates it, and
//! it is always replaced as a whole.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use trackway_domain::Timestamp;
use trackway_runtime::{FileStamp, LockedFile};

use super::codec::{KEY_ID_BYTES, KeyId, SigningSecret, mask_key_id};

/// The file of a data folder that contains the keys.
pub const TOKEN_KEYS_FILE: &str = "token-keys.json";
const FORMAT: u32 = 1;
/// Largest file that is read: thousands of rotations.
/// Limit (MCP): file of token keys.
const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;

#[derive(Debug, thiserror::Error)]
pub enum KeyRingError {
    #[error("the keys for tokens in {path} cannot be read")]
    Read { path: String, source: io::Error },
    #[error("the keys for tokens in {path} cannot be read: {reason}")]
    Damaged { path: String, reason: String },
    #[error("the keys for tokens in {path} cannot be written")]
    Write { path: String, source: io::Error },
    #[error("the operating system gives no random numbers")]
    Random(#[source] io::Error),
}

/// Where the keys are.
#[derive(Debug, Clone)]
pub(super) struct TokenKeyFile(LockedFile);

/// Where the keys of a folder come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeysOrigin {
    Found,
    Created,
    /// The folder had keys before, but their file is missing.
    Recreated,
}

/// The content of the file. Oldest key first; the last one signs.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct TokenKeys {
    pub(super) keys: Vec<TokenKey>,
    /// Seed of the key that signs session bundles. It is not rotated, because it identifies the folder that
    /// a bundle is from.
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

/// A file of keys that other users than its owner can access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ExposedKeyFile {
    pub(super) path: PathBuf,
    pub(super) mode: u32,
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

impl TokenKeyFile {
    pub(super) fn in_folder(data: &Path) -> Self {
        Self(LockedFile::new(data, TOKEN_KEYS_FILE, FILE_BYTES_MAX))
    }

    /// The keys, created if there are none, and whether they were created. Two processes that start at once
    /// wait for each other, and the second finds the keys of the first.
    pub(super) fn read_or_create(
        &self,
        now: Timestamp,
    ) -> Result<(FileStamp, TokenKeys, KeysOrigin), KeyRingError> {
        if let Some((stamp, contents)) = self.read()? {
            return Ok((stamp, contents, KeysOrigin::Found));
        }
        // A process that creates keys locks the file first.
        let had_keys = self.0.was_locked();
        let _lock = self.0.lock().map_err(|source| self.write_error(source))?;
        if let Some((stamp, contents)) = self.read()? {
            return Ok((stamp, contents, KeysOrigin::Found));
        }
        self.replace(&TokenKeys { keys: vec![TokenKey::generate(now)?], bundle: random_bytes()? })?;
        let origin = if had_keys { KeysOrigin::Recreated } else { KeysOrigin::Created };
        self.read_existing().map(|(stamp, contents)| (stamp, contents, origin))
    }

    /// Writes the keys again if the file is missing. If another process was faster, its keys count.
    pub(super) fn rewrite_if_missing(
        &self,
        contents: &TokenKeys,
    ) -> Result<(FileStamp, TokenKeys), KeyRingError> {
        let _lock = self.0.lock().map_err(|source| self.write_error(source))?;
        if let Some(found) = self.read()? {
            return Ok(found);
        }
        self.replace(contents)?;
        self.read_existing()
    }

    /// Other users than the owner can read or write the file, or could until now.
    #[cfg(unix)]
    pub(super) fn find_exposed_mode(&self) -> Option<ExposedKeyFile> {
        let metadata = fs::metadata(self.0.path()).ok()?;
        let mode = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o777;
        (mode & 0o077 != 0).then(|| ExposedKeyFile { path: self.0.path().to_owned(), mode })
    }

    /// Checked only on systems where permissions are numbers.
    #[cfg(not(unix))]
    pub(super) fn find_exposed_mode(&self) -> Option<ExposedKeyFile> {
        None
    }

    /// Changes the keys under a lock.
    pub(super) fn update_locked<T>(
        &self,
        now: Timestamp,
        change: impl FnOnce(&mut TokenKeys) -> Result<T, KeyRingError>,
    ) -> Result<T, KeyRingError> {
        self.read_or_create(now)?;
        let _lock = self.0.lock().map_err(|source| self.write_error(source))?;
        let (_, mut contents) = self.read_existing()?;
        let changed = change(&mut contents)?;
        self.replace(&contents)?;
        Ok(changed)
    }

    pub(super) fn stamp(&self) -> io::Result<FileStamp> {
        self.0.stamp()
    }

    pub(super) fn read(&self) -> Result<Option<(FileStamp, TokenKeys)>, KeyRingError> {
        let (stamp, text) = self.0.read().map_err(|source| self.read_error(source))?;
        let Some(text) = text else { return Ok(None) };
        let contents = parse_token_keys(&text)
            .map_err(|reason| KeyRingError::Damaged { path: self.display_path(), reason })?;
        Ok(Some((stamp, contents)))
    }

    fn read_existing(&self) -> Result<(FileStamp, TokenKeys), KeyRingError> {
        self.read()?.ok_or_else(|| self.read_error(io::ErrorKind::NotFound.into()))
    }

    fn replace(&self, contents: &TokenKeys) -> Result<(), KeyRingError> {
        self.0.replace(&StoredTokenKeys::from(contents)).map_err(|source| self.write_error(source))
    }

    fn display_path(&self) -> String {
        self.0.path().display().to_string()
    }

    fn read_error(&self, source: io::Error) -> KeyRingError {
        KeyRingError::Read { path: self.display_path(), source }
    }

    fn write_error(&self, source: io::Error) -> KeyRingError {
        KeyRingError::Write { path: self.display_path(), source }
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
