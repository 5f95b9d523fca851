//! The key ring of a data folder: signs tokens, proves them, and signs session bundles.

use std::{
    fmt,
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use data_encoding::HEXLOWER;
use ed25519_dalek::{Signer as _, SigningKey};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};
use trackway_domain::Timestamp;
use trackway_runtime::FileStamp;

use super::{
    codec::{self, Ack, Key, KeyId, Place, Unproved},
    error::{Fault, Param, TokenError},
    file::{Contents, Exposed, KeyFile, KeyRingError, Origin, Row},
};

/// The keys of a data folder. Other processes may rotate them at any time: whoever serves a call has the
/// file looked at once, at its beginning ([`Self::renew`]), which costs one call to the system, and it is
/// read when it has changed. A key that is not known is looked for in the file in any case.
pub struct KeyRing {
    file: KeyFile,
    /// A `std` lock: it is held while a small file is read, and then only when that has changed.
    seen: Mutex<Seen>,
    origin: Origin,
}

struct Seen {
    stamp: FileStamp,
    contents: Contents,
}

/// What a rotation did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rotated {
    /// The key that signs from here on.
    pub active: String,
    /// Keys whose tokens are still taken, oldest first.
    pub valid: Vec<String>,
    /// Keys whose tokens are taken no more since this rotation.
    pub retired: Vec<String>,
}

/// Signs session bundles, so that an import can tell that nobody altered one.
pub struct BundleSigner(SigningKey);

impl KeyRing {
    /// The keys of this data folder, made where there are none.
    pub fn open(data: &Path, now: Timestamp) -> Result<Self, KeyRingError> {
        let file = KeyFile::in_folder(data);
        let (stamp, contents, origin) = file.read_or_make(now)?;
        if origin == Origin::MadeAgain {
            tracing::warn!(
                "this folder had keys for tokens, and they are gone: new ones are made, and earlier tokens \
                 are foreign; workflow_resume and `trackway runs fork RUN` give new ones"
            );
        }
        // Said and not mended: somebody may have meant it so, and whoever has read the keys has them.
        if let Some(Exposed { path, mode }) = file.exposed() {
            tracing::warn!(
                path = %path.display(),
                mode = %format_args!("{mode:03o}"),
                "others can get at the keys for tokens: let only their owner read them (chmod 600), \
                 and sign with a new one (trackway keys rotate)"
            );
        }
        Ok(Self { file, seen: Mutex::new(Seen { stamp, contents }), origin })
    }

    /// The keys of this data folder, if it has any. Nothing is made.
    pub fn existing(data: &Path) -> Result<Option<Self>, KeyRingError> {
        let file = KeyFile::in_folder(data);
        let found = file.read()?;
        Ok(found.map(|(stamp, contents)| Self {
            file,
            seen: Mutex::new(Seen { stamp, contents }),
            origin: Origin::Found,
        }))
    }

    /// A new key signs from here on. Tokens of the earlier keys stay good, except of those that have
    /// not signed for so long: these lose their secret and keep their name.
    pub fn rotate(
        data: &Path,
        now: Timestamp,
        retire_older_than: Option<Duration>,
    ) -> Result<Rotated, KeyRingError> {
        KeyFile::in_folder(data).change(now, |contents| {
            if let Some(last) = contents.keys.last_mut() {
                last.replaced_at = Some(now);
            }
            let mut retired = Vec::new();
            for key in &mut contents.keys {
                let idle = now.since(key.replaced_at.unwrap_or(now));
                if key.secret.is_some() && retire_older_than.is_some_and(|most| idle >= most) {
                    key.secret = None;
                    retired.push(name(key.id));
                }
            }
            let valid = contents.keys.iter().filter(|key| key.secret.is_some());
            let valid = valid.map(|key| name(key.id)).collect();
            let mut fresh = Row::fresh(now)?;
            // Ids are short, and a token names its key by its id alone.
            while contents.keys.iter().any(|key| key.id == fresh.id) {
                fresh = Row::fresh(now)?;
            }
            let active = name(fresh.id);
            contents.keys.push(fresh);
            Ok(Rotated { active, valid, retired })
        })
    }

    /// Takes in what another process may have changed since.
    ///
    /// A file that is gone is written again: without it, every token of these keys would end with this
    /// process.
    pub fn renew(&self) {
        let mut seen = self.seen();
        match self.file.stamp() {
            Ok(stamp) if stamp == seen.stamp => {}
            Ok(FileStamp::Absent) => self.restore(&mut seen),
            Ok(_) | Err(_) => self.read_into(&mut seen),
        }
    }

    /// Whether this opening made new keys in a folder that had some before: tokens of those are foreign.
    pub fn replaces_lost_keys(&self) -> bool {
        self.origin == Origin::MadeAgain
    }

    /// Name of the key that signs now.
    pub fn active(&self) -> String {
        name(newest(&self.seen().contents).0)
    }

    /// The token of a node, signed with the key of this name, or with the newest where that is gone.
    pub fn state_token(&self, place: Place, key: &str) -> String {
        let (id, key) = self.signing(key);
        codec::write_state(id, &key, place)
    }

    /// The token of an attempt, signed likewise.
    pub fn ack_token(&self, ack: Ack, key: &str) -> String {
        let (id, key) = self.signing(key);
        codec::write_ack(id, &key, ack)
    }

    pub fn read_state(&self, text: &str) -> Result<Place, TokenError> {
        self.prove(Param::State, text).map(|token| token.place())
    }

    /// Reads an ack token that was sent with the state token of this place.
    pub fn read_ack(&self, text: &str, at: Place) -> Result<Ack, TokenError> {
        let proved = self.prove(Param::Ack, text)?;
        proved.ack(at).map_err(|fault| TokenError { param: Param::Ack, fault })
    }

    /// Hashes of the tokens of a node, one for each key that is taken, the newest key first. Whoever has a
    /// token from a chat finds the node by it.
    pub fn state_token_hashes(&self, place: Place) -> Vec<String> {
        let seen = self.seen();
        let tokens = usable(&seen.contents).map(|(id, key)| codec::write_state(id, &key, place));
        tokens.map(|token| hash(&token)).collect()
    }

    /// The same for an ack.
    pub fn ack_token_hashes(&self, ack: Ack) -> Vec<String> {
        let seen = self.seen();
        let tokens = usable(&seen.contents).map(|(id, key)| codec::write_ack(id, &key, ack));
        tokens.map(|token| hash(&token)).collect()
    }

    pub fn bundle_signer(&self) -> BundleSigner {
        BundleSigner(SigningKey::from_bytes(&self.seen().contents.bundle))
    }

    /// A key for a purpose of its own, the same in every process on this folder and after a rotation.
    pub(crate) fn derived(&self, purpose: &[u8]) -> [u8; 32] {
        let bundle = self.seen().contents.bundle;
        let mut mac = Hmac::<Sha256>::new_from_slice(&bundle).expect("any length is taken");
        mac.update(purpose);
        mac.finalize().into_bytes().into()
    }

    fn prove(&self, param: Param, text: &str) -> Result<Unproved, TokenError> {
        let proved = codec::read(param, text).and_then(|token| self.check(token));
        proved.map_err(|fault| {
            // A good token in the wrong place is no damage, and is told as what it is.
            let other = codec::read(param.other(), text).and_then(|token| self.check(token));
            let fault = match other {
                Ok(_) => Fault::Swapped { is: param.other() },
                Err(Fault::Malformed { .. }) => fault,
                Err(other) => other,
            };
            TokenError { param, fault }
        })
    }

    fn check(&self, token: Unproved) -> Result<Unproved, Fault> {
        let verdict = |ring: &Self| verdict(&ring.seen().contents, &token);
        match verdict(self) {
            // A key that was made a moment ago by another process, in a file whose stamp is the same.
            Err(Fault::Foreign) if self.reread() => verdict(self)?,
            proved => proved?,
        }
        Ok(token)
    }

    /// The key of this name. One that another process made a moment ago signed an answer that is now told
    /// again; one that is gone signs no more, and the newest does.
    fn signing(&self, wanted: &str) -> (KeyId, Key) {
        if let Some(found) = named(&self.seen().contents, wanted) {
            return found;
        }
        self.reread();
        let seen = self.seen();
        named(&seen.contents, wanted).unwrap_or_else(|| newest(&seen.contents))
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the file whatever its stamp; whether anything was different.
    fn reread(&self) -> bool {
        let mut seen = self.seen();
        let before = seen.contents.clone();
        self.read_into(&mut seen);
        before != seen.contents
    }

    fn restore(&self, seen: &mut Seen) {
        match self.file.restore(&seen.contents) {
            Ok((stamp, contents)) => {
                if contents == seen.contents {
                    tracing::warn!("the file of keys for tokens was gone; it is written again");
                } else {
                    tracing::error!(
                        "the file of keys for tokens was replaced by another process: tokens of the \
                         earlier keys are foreign here from now on"
                    );
                }
                *seen = Seen { stamp, contents };
            }
            Err(error) => {
                tracing::error!(%error, "the file of keys for tokens is gone; the ones read stay")
            }
        }
    }

    /// A file that is gone or damaged changes nothing here: the keys that were read still are the keys.
    fn read_into(&self, seen: &mut Seen) {
        match self.file.read() {
            Ok(Some((stamp, contents))) => *seen = Seen { stamp, contents },
            Ok(None) => tracing::error!("the file of keys for tokens is gone; the ones read stay"),
            Err(error) => tracing::error!(%error, "the keys for tokens that were read stay"),
        }
    }
}

impl fmt::Debug for KeyRing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyRing").field("file", &self.file).finish_non_exhaustive()
    }
}

impl BundleSigner {
    pub fn sign(&self, bytes: &[u8]) -> [u8; 64] {
        self.0.sign(bytes).to_bytes()
    }

    pub fn public_key(&self) -> [u8; 32] {
        self.0.verifying_key().to_bytes()
    }
}

impl fmt::Debug for BundleSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BundleSigner({})", HEXLOWER.encode(&self.public_key()))
    }
}

fn verdict(contents: &Contents, token: &Unproved) -> Result<(), Fault> {
    match contents.keys.iter().find(|key| key.id == token.key) {
        Some(Row { secret: None, .. }) => Err(Fault::Expired),
        Some(Row { id, secret: Some(key), .. }) => {
            if token.is_signed_by(*id, key) {
                Ok(())
            } else {
                Err(Fault::Changed)
            }
        }
        None => {
            // Signed here, but the name of the key in it was altered.
            let ours = contents.keys.iter().any(|key| {
                key.secret.as_ref().is_some_and(|secret| token.is_signed_by(key.id, secret))
            });
            Err(if ours { Fault::Changed } else { Fault::Foreign })
        }
    }
}

fn usable(contents: &Contents) -> impl Iterator<Item = (KeyId, Key)> {
    contents.keys.iter().rev().filter_map(|key| Some((key.id, key.secret?)))
}

fn named(contents: &Contents, wanted: &str) -> Option<(KeyId, Key)> {
    usable(contents).find(|(id, _)| name(*id) == wanted)
}

fn newest(contents: &Contents) -> (KeyId, Key) {
    usable(contents).next().expect("a ring is read only when its last key can sign")
}

/// The name of a token in views: what it is recognised by without being one.
fn hash(token: &str) -> String {
    format!("sha256-{}", HEXLOWER.encode(&Sha256::digest(token)))
}

fn name(id: KeyId) -> String {
    HEXLOWER.encode(&id)
}

#[cfg(test)]
mod tests;
