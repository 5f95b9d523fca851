//! The file of signing keys in a data folder: readable by its owner alone, made by whoever comes
//! first, replaced as a whole.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    time::SystemTime,
};

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use trackway_domain::Timestamp;

use super::codec::{KEY_ID_BYTES, Key, KeyId};

/// The file of a data folder that has the keys.
pub const FILE: &str = "token-keys.json";
const LOCK: &str = "token-keys.lock";
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
pub(super) struct KeyFile {
    folder: PathBuf,
}

/// What the file holds. Oldest key first; the last one signs.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Contents {
    pub(super) keys: Vec<Row>,
    /// Seed of the key that signs session bundles. It is not rotated: it says which folder a bundle is
    /// from.
    pub(super) bundle: Key,
}

#[derive(Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) id: KeyId,
    /// Gone once the key is retired; the id stays, so that its tokens are known to be expired.
    pub(super) secret: Option<Key>,
    pub(super) created_at: Timestamp,
    /// When another key began to sign instead.
    pub(super) replaced_at: Option<Timestamp>,
}

/// A file of keys that others than its owner can get at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Exposed {
    pub(super) path: PathBuf,
    pub(super) mode: u32,
}

/// By what a changed file is told from the one before. Replacing it makes another inode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    modified: Option<SystemTime>,
    bytes: u64,
    inode: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Written {
    format: u32,
    keys: Vec<WrittenRow>,
    bundle_key: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WrittenRow {
    id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    secret: Option<String>,
    created_at: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    replaced_at: Option<String>,
}

impl Row {
    pub(super) fn fresh(now: Timestamp) -> Result<Self, KeyRingError> {
        Ok(Self { id: random()?, secret: Some(random()?), created_at: now, replaced_at: None })
    }
}

impl KeyFile {
    pub(super) fn in_folder(data: &Path) -> Self {
        Self { folder: data.to_owned() }
    }

    fn path(&self) -> PathBuf {
        self.folder.join(FILE)
    }

    /// The keys, made where there are none. Two processes that come at once wait for each other, and
    /// the second finds what the first made.
    pub(super) fn read_or_make(&self, now: Timestamp) -> Result<(Stamp, Contents), KeyRingError> {
        if let Some(found) = self.read()? {
            return Ok(found);
        }
        let _lock = self.lock()?;
        if let Some(found) = self.read()? {
            return Ok(found);
        }
        self.replace(&Contents { keys: vec![Row::fresh(now)?], bundle: random()? })?;
        self.read()?.ok_or_else(|| self.unreadable(io::ErrorKind::NotFound.into()))
    }

    /// Others than the owner may read or write the file, or could until now.
    #[cfg(unix)]
    pub(super) fn exposed(&self) -> Option<Exposed> {
        let metadata = fs::metadata(self.path()).ok()?;
        let mode = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o777;
        (mode & 0o077 != 0).then(|| Exposed { path: self.path(), mode })
    }

    /// Permissions are asked for where they are numbers.
    #[cfg(not(unix))]
    pub(super) fn exposed(&self) -> Option<Exposed> {
        None
    }

    /// Changes the keys while nobody else does.
    pub(super) fn change<T>(
        &self,
        now: Timestamp,
        change: impl FnOnce(&mut Contents) -> Result<T, KeyRingError>,
    ) -> Result<T, KeyRingError> {
        self.read_or_make(now)?;
        let _lock = self.lock()?;
        let (_, mut contents) =
            self.read()?.ok_or_else(|| self.unreadable(io::ErrorKind::NotFound.into()))?;
        let changed = change(&mut contents)?;
        self.replace(&contents)?;
        Ok(changed)
    }

    pub(super) fn stamp(&self) -> io::Result<Stamp> {
        let metadata = fs::metadata(self.path())?;
        #[cfg(unix)]
        let inode = std::os::unix::fs::MetadataExt::ino(&metadata);
        #[cfg(not(unix))]
        let inode = 0;
        Ok(Stamp { modified: metadata.modified().ok(), bytes: metadata.len(), inode })
    }

    /// The stamp is taken first: a change while the file is read is seen at the next look.
    pub(super) fn read(&self) -> Result<Option<(Stamp, Contents)>, KeyRingError> {
        let mut text = Vec::new();
        let read = self.stamp().and_then(|stamp| {
            File::open(self.path())?.take(FILE_BYTES_MAX + 1).read_to_end(&mut text)?;
            Ok(stamp)
        });
        let stamp = match read {
            Ok(stamp) => stamp,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.unreadable(error)),
        };
        let contents = parse(&text).map_err(|reason| KeyRingError::Damaged {
            path: self.path().display().to_string(),
            reason,
        })?;
        Ok(Some((stamp, contents)))
    }

    /// Held until it is dropped, or the process ends.
    fn lock(&self) -> Result<File, KeyRingError> {
        let locked = fs::create_dir_all(&self.folder).and_then(|()| {
            let mut options = OpenOptions::new();
            let lock = options.create(true).truncate(false).write(true);
            let lock = lock.open(self.folder.join(LOCK))?;
            lock.lock()?;
            Ok(lock)
        });
        locked.map_err(|source| self.unwritable(source))
    }

    /// Written beside, made durable, and renamed into place: a crash leaves the old or the new file.
    fn replace(&self, contents: &Contents) -> Result<(), KeyRingError> {
        let written = Written::from(contents);
        let text = serde_json::to_vec_pretty(&written).map_err(io::Error::from);
        let replaced = text.and_then(|text| {
            let fresh = self.folder.join("token-keys.json.new");
            match fs::remove_file(&fresh) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            let mut options = OpenOptions::new();
            options.write(true).create_new(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            let mut file = options.open(&fresh)?;
            file.write_all(&text)?;
            file.sync_all()?;
            fs::rename(&fresh, self.path())?;
            File::open(&self.folder)?.sync_all()
        });
        replaced.map_err(|source| self.unwritable(source))
    }

    fn unreadable(&self, source: io::Error) -> KeyRingError {
        KeyRingError::Read { path: self.path().display().to_string(), source }
    }

    fn unwritable(&self, source: io::Error) -> KeyRingError {
        KeyRingError::Write { path: self.path().display().to_string(), source }
    }
}

fn parse(text: &[u8]) -> Result<Contents, String> {
    if text.len() as u64 > FILE_BYTES_MAX {
        return Err("it is too large".to_owned());
    }
    // What the parser would say may repeat a secret.
    let written: Written = serde_json::from_slice(text).map_err(|error| {
        format!("it is not of its form at line {}, column {}", error.line(), error.column())
    })?;
    if written.format != FORMAT {
        return Err(format!("it has the format {}, not {FORMAT}", written.format));
    }
    let keys: Vec<Row> = written.keys.iter().map(row).collect::<Result<_, _>>()?;
    match keys.last() {
        Some(Row { secret: Some(_), .. }) => {}
        Some(_) | None => return Err("there is no key to sign with".to_owned()),
    }
    Ok(Contents { keys, bundle: bytes(&written.bundle_key)? })
}

fn row(written: &WrittenRow) -> Result<Row, String> {
    let moment = |text: &String| text.parse::<Timestamp>();
    Ok(Row {
        id: bytes::<KEY_ID_BYTES>(&written.id)?,
        secret: written.secret.as_deref().map(bytes).transpose()?,
        created_at: moment(&written.created_at)?,
        replaced_at: written.replaced_at.as_ref().map(moment).transpose()?,
    })
}

fn bytes<const N: usize>(hex: &str) -> Result<[u8; N], String> {
    let decoded = HEXLOWER.decode(hex.as_bytes()).ok();
    decoded
        .and_then(|bytes| bytes.try_into().ok())
        .ok_or_else(|| format!("a key or its id has not {} hex digits", N * 2))
}

fn random<const N: usize>() -> Result<[u8; N], KeyRingError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| KeyRingError::Random(io::Error::other(error)))?;
    Ok(bytes)
}

impl From<&Contents> for Written {
    fn from(contents: &Contents) -> Self {
        let keys = contents.keys.iter().map(|key| WrittenRow {
            id: HEXLOWER.encode(&key.id),
            secret: key.secret.map(|secret| HEXLOWER.encode(&secret)),
            created_at: key.created_at.to_string(),
            replaced_at: key.replaced_at.map(|moment| moment.to_string()),
        });
        Self { format: FORMAT, keys: keys.collect(), bundle_key: HEXLOWER.encode(&contents.bundle) }
    }
}
